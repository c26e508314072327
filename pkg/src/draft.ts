// An event on its way in: admitted, and completed once the core has answered.

import { ADK_EVENT, admitDelta, admitString, admitValue, put, type AdmitOptions } from './admit.js';
import { storedDeletions, withDeletions } from './deleted.js';
import { StatepadError } from './errors.js';
import { sameJson } from './freeze.js';
import { newId } from './ids.js';
import { isTemp } from './scope.js';
import type { Event, EventInit, Json } from './types.js';

/** An admitted event. Its values are frozen copies; its top level, its actions and its delta are not frozen yet. */
export interface Draft {
  readonly event: Record<string, Json>;
  readonly actions: Record<string, Json>;
  readonly delta: Record<string, Json>;
  readonly deleted: readonly string[];
  readonly id: string;
  readonly timestamp: number;
  /** Whether the caller left the timestamp to the clock. */
  readonly timed: boolean;
}

/**
 * Checks and copies an event, and fills in what is missing. The caller's object is never changed.
 *
 * Throws `VALUE_NOT_JSON` or `INVALID_ARGUMENT`, with the `path` of the fault.
 */
export function admitEvent(given: EventInit, now: () => number, options: AdmitOptions = {}): Draft {
  if (typeof given !== 'object' || (given as unknown) === null) {
    throw new StatepadError('INVALID_ARGUMENT', 'event must be an object', { path: 'event' });
  }
  const event: Record<string, Json> = {};
  const actions: Record<string, Json> = {
    stateDelta: null,
    artifactDelta: EMPTY,
    requestedAuthConfigs: EMPTY,
    requestedToolConfirmations: EMPTY,
  };
  for (const name of Object.keys(given)) {
    if (name === 'actions') {
      admitMembers(given.actions, 'actions', actions, 'stateDelta', options);
    } else if (given[name] !== undefined) {
      put(event, name, admitValue(given[name], name, options));
    }
  }
  const { delta, deleted } = admitDelta(given.actions?.stateDelta, 'actions.stateDelta');
  actions['stateDelta'] = delta;
  event['actions'] = actions;

  const id = given.id === undefined || given.id === '' ? newId() : admitString(given.id, 'id');
  event['id'] = id;
  event['invocationId'] ??= '';
  admitString(event['invocationId'], 'invocationId');
  const timed = typeof event['timestamp'] !== 'number';
  if (timed && event['timestamp'] !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'timestamp must be a number of milliseconds', { path: 'timestamp' });
  }
  const timestamp = timed ? now() : (event['timestamp'] as number);
  event['timestamp'] = timestamp;
  if ((given as unknown as Record<symbol, unknown>)[ADK_EVENT] === true) {
    (event as unknown as Record<symbol, unknown>)[ADK_EVENT] = true;
  }
  return { event, actions, delta, deleted: [...storedDeletions(event['customMetadata']), ...deleted], id, timestamp, timed };
}

const EMPTY: Json = Object.freeze({});

function admitMembers(given: unknown, path: string, into: Record<string, Json>, except: string, options: AdmitOptions): void {
  if (given === undefined || given === null) {
    return;
  }
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw new StatepadError('INVALID_ARGUMENT', `${path} must be an object`, { path });
  }
  for (const [name, value] of Object.entries(given)) {
    if (name !== except && value !== undefined) {
      put(into, name, admitValue(value, `${path}.${name}`, options));
    }
  }
}

/** Takes a key out of the delta, as if the event had never written it. */
export function dropKey(draft: Draft, key: string): Draft {
  delete draft.delta[key];
  return { ...draft, deleted: draft.deleted.filter((deleted) => deleted !== key) };
}

/** The `temp:` keys of an event: for the eyes of its invocation, never stored. */
export interface TempDelta {
  readonly set: ReadonlyMap<string, Json>;
  readonly unset: readonly string[];
}

/** Takes the `temp:` keys out of a draft. */
export function takeTemp(draft: Draft): TempDelta | undefined {
  const { delta, deleted } = draft;
  let set: Map<string, Json> | undefined;
  for (const key of Object.keys(delta)) {
    if (isTemp(key)) {
      (set ??= new Map()).set(key, delta[key] as Json);
      delete delta[key];
    }
  }
  if (set === undefined) {
    return undefined;
  }
  const unset = deleted.filter(isTemp);
  unset.forEach((key) => set.delete(key));
  return { set, unset };
}

/** The event as it is stored: frozen, its deletions in their stored form. The `temp:` keys have been taken out. */
export function seal({ event, actions, delta, deleted }: Draft): Event {
  if (deleted.length > 0) {
    const stored = deleted.filter((key) => !isTemp(key));
    event['customMetadata'] = withDeletions(event['customMetadata'], stored) as Json;
  }
  Object.freeze(delta);
  Object.freeze(actions);
  return Object.freeze(event) as unknown as Event;
}

/** Whether a draft, sealed, is what is stored already. A timestamp that the clock gave does not count. */
export function isRepeated(draft: Draft, sealed: Event, stored: Event): boolean {
  return sameJson(draft.timed ? { ...sealed, timestamp: stored.timestamp } : sealed, stored);
}
