// Event drafts: admitted, and completed once the core has answered.

import {
  EMPTY,
  admitDelta,
  admitMembers,
  boundSoFar,
  isRecordLike,
  type AdmitOptions,
  type AdmittedDelta,
} from './admit.js';
import { checkMetadata, storedDeletions, withDeletions } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { sameJson } from '../model/json.js';
import { stringBound } from '../model/json-size.js';
import { describe, isObject, isPlain } from '../model/value-types.js';
import { newId } from '../model/ids.js';
import { checkEventNames } from './requests.js';
import { isTemp } from '../model/scope.js';
import { admitString } from '../checks/arguments.js';
import { ADK_EVENT } from '../model/adk-event.js';
import { withOperators, withResults, type KeyedOperators } from '../model/operator-write.js';
import { requestIn, requestMetadata, type EventRequest, type Once } from '../model/once.js';
import type { Event, EventInit, Json } from '../model/types.js';

/** An admitted event. Its values are frozen copies; its top level, its actions and its delta are not frozen yet. */
export interface EventDraft {
  readonly event: Record<string, Json>;
  readonly actions: Record<string, Json>;
  readonly delta: Record<string, Json>;
  /** The keys that it deletes: each of them is in the delta, as `null`. */
  deleted: readonly string[];
  /** Its operators, if it has any: each of their keys is in the delta, as `null` until it is resolved. */
  operators: KeyedOperators | undefined;
  /** The most bytes of the stored event as JSON, without the results of its operators. */
  readonly bound: number;
  /** The most bytes of its delta as JSON. */
  readonly deltaBound: number;
  readonly id: string;
  /** True when the caller chose the id: another call may repeat it. */
  readonly named: boolean;
  readonly timestamp: number;
  /** True when the clock sets the timestamp. */
  readonly timed: boolean;
  /** The request that writes it, where that has an identity: see `Once`. */
  readonly request?: EventRequest | undefined;
}

/** The `temp:` keys of an event: visible to its invocation, never stored. Deletions apply after the values. */
export interface TempDelta {
  readonly set: ReadonlyMap<string, Json>;
  readonly unset: readonly string[];
}

/** The part of an event that the context of an invocation contributes. */
export interface ContextContribution {
  /** The author of events that name none. */
  readonly author: string;
  readonly invocationId: string;
  /** Replaces the event's own delta, which it includes. It becomes part of the draft. */
  readonly writes: AdmittedDelta;
}

/**
 * Checks and copies an event, and fills in missing members. The caller's object is never changed.
 *
 * Throws `VALUE_NOT_JSON` or `INVALID_ARGUMENT`, with the `path` of the fault.
 */
export function admitEvent(
  input: EventInit,
  now: () => number,
  options: AdmitOptions,
  context?: ContextContribution,
): EventDraft {
  checkRecord(input, 'event', options);
  const { actions: givenActions } = input;
  if (givenActions !== undefined) {
    checkRecord(givenActions, 'actions', options);
  }
  const names = Object.keys(input);
  const actionNames = givenActions === undefined ? NO_NAMES : Object.keys(givenActions);
  if (options.anyName !== true) {
    checkEventNames(names, actionNames);
  }
  const before = boundSoFar();
  const event: Record<string, Json> = {};
  admitMembers(input, names, event, 'actions', '', options);
  if (context !== undefined) {
    event['author'] ??= context.author;
    event['invocationId'] = context.invocationId;
  }
  const { id, named, timestamp, timed } = complete(event, now);

  const writes = context?.writes ?? admitDelta(givenActions?.stateDelta, 'actions.stateDelta', options);
  const { delta, deleted, operators } = writes;
  const actions: Record<string, Json> = {
    stateDelta: delta,
    artifactDelta: EMPTY,
    requestedAuthConfigs: EMPTY,
    requestedToolConfirmations: EMPTY,
  };
  if (givenActions !== undefined) {
    admitMembers(givenActions, actionNames, actions, 'stateDelta', 'actions', options);
  }
  event['actions'] = actions;
  if ((input as unknown as Record<symbol, unknown>)[ADK_EVENT] === true) {
    (event as unknown as Record<symbol, unknown>)[ADK_EVENT] = true;
  }
  const stored = deletionsIn(event['customMetadata'], deleted, operators);
  const bound = boundSoFar() - before + REST_BOUND + (context === undefined ? 0 : boundOfContext(context));
  return {
    event,
    actions,
    delta,
    deleted: stored,
    operators,
    bound,
    deltaBound: writes.bound,
    id,
    named,
    timestamp,
    timed,
  };
}

/** The event that a request with an identity writes: the same id and metadata in each of its attempts. */
export function requestEvent(
  input: EventInit,
  now: () => number,
  once: Once | undefined,
  context?: ContextContribution,
  isSingle = true,
): EventDraft {
  if (once === undefined) {
    return admitEvent(input, now, {}, context);
  }
  const { id, digest } = once;
  const draft = admitEvent({ ...input, id, customMetadata: requestMetadata(once) }, now, {}, context);
  return { ...draft, request: { digest, isSingle } };
}

/** The most bytes of the members that every event gets. */
const REST_BOUND = 512;

function boundOfContext({ author, invocationId, writes }: ContextContribution): number {
  return writes.bound + stringBound(author.length) + stringBound(invocationId.length);
}

const NO_NAMES: readonly string[] = [];

/**
 * Refuses getters and entries in the place of members, which would be lost: only ADK's own instances consist of their
 * members.
 */
function checkRecord(input: unknown, path: string, { instances = false }: AdmitOptions): void {
  if (!isPlain(input) && !(instances && isObject(input) && isRecordLike(input))) {
    throw new StatepadError('INVALID_ARGUMENT', `${path} must be a plain object, not ${describe(input)}`, { path });
  }
}

/** All deletions of an event: those in its metadata, and those of its delta. */
function deletionsIn(
  metadata: Json | undefined,
  deleted: readonly string[],
  operators: KeyedOperators | undefined,
): readonly string[] {
  if (metadata === undefined) {
    return deleted;
  }
  if (deleted.length > 0) {
    checkMetadata(metadata);
  }
  if (operators !== undefined) {
    checkMetadata(metadata, 'the operators of the event');
  }
  return storedDeletions(metadata).concat(deleted);
}

/** Fills in and checks the members that the service itself reads. */
function complete(
  event: Record<string, Json>,
  now: () => number,
): Pick<EventDraft, 'id' | 'named' | 'timestamp' | 'timed'> {
  const { id: givenId, invocationId, timestamp: givenTime } = event;
  const named = givenId !== undefined && givenId !== '';
  const id = named ? admitString(givenId, 'id') : newId();
  const timed = givenTime === undefined;
  if (!timed && typeof givenTime !== 'number') {
    throw new StatepadError(
      'INVALID_ARGUMENT',
      `timestamp must be a number of milliseconds, not ${describe(givenTime)}`,
      { path: 'timestamp' },
    );
  }
  const timestamp = timed ? now() : givenTime;
  event['id'] = id;
  event['invocationId'] = invocationId === undefined ? '' : admitString(invocationId, 'invocationId');
  event['timestamp'] = timestamp;
  return { id, named, timestamp, timed };
}

/** Takes the `temp:` keys out of a draft, which can then be prepared once more. */
export function extractTempKeys(draft: EventDraft): TempDelta {
  const { event, delta, deleted, operators } = draft;
  const set = new Map<string, Json>();
  for (const key of Object.keys(delta)) {
    if (isTemp(key)) {
      set.set(key, delta[key] as Json);
      delete delta[key];
    }
  }
  if (operators !== undefined) {
    const stored = Object.entries(operators).filter(([key]) => !isTemp(key));
    draft.operators = stored.length > 0 ? Object.fromEntries(stored) : undefined;
  }
  const unset = deleted.filter(isTemp);
  if (unset.length > 0) {
    draft.deleted = deleted.filter((key) => !isTemp(key));
    const metadata = event['customMetadata'];
    if (storedDeletions(metadata).some(isTemp)) {
      event['customMetadata'] = withDeletions(metadata, draft.deleted) as Json;
    }
  }
  return { set, unset };
}

/** The event in its stored form: frozen, with deletions and operators in its metadata, without `temp:` keys. */
export function freezeEvent({ event, actions, delta, deleted, operators }: EventDraft): Event {
  if (deleted.length > 0) {
    event['customMetadata'] = withDeletions(event['customMetadata'], deleted) as Json;
  }
  if (operators !== undefined) {
    event['customMetadata'] = withOperators(event['customMetadata'], operators) as Json;
  }
  Object.freeze(delta);
  Object.freeze(actions);
  return Object.freeze(event) as unknown as Event;
}

/**
 * True when a draft, sealed, equals the stored event. A timestamp by the clock does not count, and neither do the
 * results of operators. Of the event of a request, the request alone counts.
 */
export function isRepeated({ timed, operators, request }: EventDraft, sealed: Event, stored: Event): boolean {
  if (request !== undefined) {
    return requestIn(stored.customMetadata) === request.digest;
  }
  const compared = timed ? { ...sealed, timestamp: stored.timestamp } : sealed;
  const names = Object.keys(operators ?? {});
  if (names.length === 0) {
    return sameJson(compared, stored);
  }
  const unresolved = Object.fromEntries(names.map((key) => [key, null]));
  return sameJson(eventWith(compared, unresolved), eventWith(stored, unresolved));
}

/** A frozen event whose delta has the results of operators. */
export function eventWith(event: Event, results: Readonly<Record<string, Json>>): Event {
  // Other programs may have stored an event without actions.
  const actions = (event as Partial<Event> | null)?.actions;
  const stateDelta = withResults(actions?.stateDelta ?? {}, results);
  return Object.freeze({ ...event, actions: Object.freeze({ ...(actions as Event['actions']), stateDelta }) });
}
