// Appends over a store: stored first, then applied, then shown.

import {
  changeOf,
  freezeAppend,
  isDuplicate,
  notFound,
  repeated,
  repeatedAppend,
  type PendingAppend,
} from '../../../session/append.js';
import { pinAtOnce, pinForAppend, showAppended } from './append-target.js';
import { NONE } from '../cache/event-range.js';
import { OperatorTries, lanesOfAppend, resolveTempKeys, storedOperators, type ToSend } from './operator-attempts.js';
import { areResolved, keyedResults, operatorRefusal, written } from '../commit/operators.js';
import { parseEvent } from '../cache/stored-event.js';
import { checkKey } from '../../../input/requests.js';
import { StatepadError, isStatepadError } from '../../../model/errors.js';
import { newId } from '../../../model/ids.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import { leaseLost, type LeaseHold } from '../../../session/lease-hold.js';
import { showTemp } from '../../../session/temp-values.js';
import { isStoreError } from '../../../store/store-error.js';
import type { StoreComponents } from './components.js';
import type { Begin } from './writer.js';
import type { AppendPlan } from '../../backend.js';
import { eventWith, type EventDraft } from '../../../input/event-draft.js';
import type { DuplicateEvent, PreparedChange } from '../../../engine/sessions.js';
import type { SessionRegistry } from '../../../session/registry.js';
import type { View } from '../../../session/handle.js';
import type { SentChange } from '../cache/positions.js';
import type { Change, Committed, Guard, Known, ScopedOperators } from '../../../store/contract.js';
import type { Event, SessionKey } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** An event to append. */
export interface AppendRequest {
  readonly session: AppendPlan['session'];
  readonly draft: EventDraft;
  /** What the caller expects. */
  readonly guard: Guard;
  /** What the caller has read of the scopes, where that is not what is cached. */
  readonly read?: Pick<Known, 'pos' | 'marks'> | undefined;
  /** See `AppendPlan.shown`. */
  readonly shown?: AppendPlan['shown'] | undefined;
  readonly signal?: Signal | undefined;
  /** See `Change.turn`. */
  readonly turn?: string | undefined;
  /** The lease that it is written under; that of the handle unless told otherwise. */
  readonly lease?: LeaseHold | undefined;
}

/** An event that is stored, and what the store has answered; without `stored` it was there before. */
export interface Appended {
  readonly event: Event;
  readonly stored?: { readonly change: Change; readonly committed: Committed };
}

/** An append whose turn it is. */
interface Task {
  readonly request: AppendRequest;
  readonly view: View | undefined;
  readonly begin: Begin;
  /** For an event with operators that are resolved here. */
  readonly tries: OperatorTries | undefined;
  /** Whether it has the lanes of the shared scopes that it writes. */
  readonly hasLanes: boolean;
}

/** Appends an event under a guard. */
export async function appendStored(parts: StoreComponents, request: AppendRequest): Promise<Appended> {
  const { appName, userId, id: sessionId } = request.session;
  const view = parts.cache.registry.view(request.session);
  const key = view?.record.key ?? checkKey({ appName, userId, sessionId });
  // The lease that there is now, whatever becomes of it while others take their turn.
  const lease = request.lease ?? view?.lease;
  const asked = lease === undefined ? request : { ...request, lease };
  const task = async (begin: Begin): Promise<Appended> => {
    const operators = request.draft.operators && storedOperators(request.draft);
    if (operators === undefined || areResolved(parts.connection.store, operators)) {
      return await append(parts, key, { request: asked, view, begin, tries: undefined, hasLanes: false });
    }
    const lanes = lanesOfAppend(key, request.draft, operators);
    const tries = new OperatorTries(operators);
    return await parts.writer.lanes.hold(lanes, () =>
      append(parts, key, { request: asked, view, begin, tries, hasLanes: lanes.length > 0 }),
    );
  };
  return await parts.writer.runExclusive(key, request.signal, task);
}

/** The store compares what the caller expects: see {@link AppendRequest.guard}. */
const ANY_VERSION = {};

async function append(parts: StoreComponents, key: SessionKey, task: Task): Promise<Appended> {
  const { cache, connection, loader } = parts;
  const { registry } = cache;
  const { view, request } = task;
  const { draft } = request;
  let earlier: PendingAppend | undefined;
  for (let isSure = connection.store.exclusive === true; ; isSure = true) {
    const isCached = registry.find(key) !== undefined;
    const record = pinAtOnce(parts, key, view) ?? (await pinForAppend(parts, key, view));
    try {
      const change = changeOf(registry, record, draft, ANY_VERSION);
      if (isDuplicate(change) && !isSure) {
        // An event of this id is cached. The store may have lost it since.
        await loader.load(key, NONE, () => undefined);
        continue;
      }
      if (earlier === undefined && draft.operators !== undefined && !isDuplicate(change)) {
        resolveTempKeys(registry, draft, change, view);
      }
      const pending: PendingAppend =
        earlier === undefined
          ? freezeAppend(registry, record, draft, change)
          : appendOnceMore(registry, record, draft, change, earlier);
      const now = { wasCached: isCached && earlier === undefined, isSure };
      const appended = await storeUnlessReplaced(parts, record, pending, task, now);
      if (appended === undefined) {
        earlier = pending;
        continue;
      }
      if (view === undefined) {
        return appended;
      }
      if (view.record.number === NOT_LOADED) {
        await showAppended(parts, key, view);
      } else {
        registry.refresh(view);
      }
      if (pending.change !== undefined) {
        showTemp(view, appended.event, pending.temp);
      }
      request.shown?.();
      return appended;
    } finally {
      cache.unpin(record);
    }
  }
}

/** The append of an event that was made `before`, for another session. Throws `EVENT_ID_CONFLICT`. */
function appendOnceMore(
  registry: SessionRegistry,
  record: SessionRecord,
  draft: EventDraft,
  change: PreparedChange | DuplicateEvent,
  { event, temp }: PendingAppend,
): PendingAppend {
  return isDuplicate(change)
    ? repeatedAppend(record, draft, event, registry.eventOf(record, change))
    : { event, change, temp };
}

/**
 * Has an append stored and applies it, if it is not there already. Answers `undefined` when it has to be tried again:
 * the session that was cached is not there any more and the caller has named none but that of this key, another one
 * may be there by now; or the values are not those that operators were resolved against.
 */
async function storeUnlessReplaced(
  parts: StoreComponents,
  record: SessionRecord,
  { event, change: prepared }: PendingAppend,
  { request, view, begin, tries, hasLanes }: Task,
  { wasCached, isSure }: { readonly wasCached: boolean; readonly isSure: boolean },
): Promise<Appended | undefined> {
  if (prepared === undefined) {
    return { event };
  }
  const { cache, writer } = parts;
  const { guard, read, lease } = request;
  const given: ToSend = { event, prepared, guard };
  const ready = tries === undefined ? given : tries.resolve(cache, record, given, isSure);
  if (ready === undefined) {
    return undefined;
  }
  const cached = cache.known(record.key, record);
  const known = read === undefined ? cached : { ...cached, ...read };
  const change = changeToSend(parts, record, ready, request, known, tries !== undefined);
  const sent = { change, prepared: ready.prepared, known };
  let committed: Committed;
  try {
    committed = await writer.commit(sent, begin, hasLanes);
  } catch (error) {
    if (ready.misfit !== undefined && isStoreError(error) && error.code === 'conflict' && error.actual === undefined) {
      throw ready.misfit;
    }
    if (guard.keys === undefined && (await tries?.canTryAgain(cache, record, error))) {
      return undefined;
    }
    const reason = await refusal(parts, error, record, guard, lease);
    const isByKey = view === undefined && guard.created === undefined;
    if (wasCached && isByKey && isStatepadError(reason) && reason.code === 'SESSION_NOT_FOUND') {
      return undefined;
    }
    throw reason;
  }
  return await applyStored(parts, record, ready.event, request.draft, sent, committed);
}

/** Applies an append that is stored. */
async function applyStored(
  { cache, loader }: StoreComponents,
  record: SessionRecord,
  event: Event,
  draft: EventDraft,
  sent: SentChange,
  committed: Committed,
): Promise<Appended> {
  const stored = { change: sent.change, committed };
  const { operators } = sent.change;
  if (committed.duplicate) {
    cache.registry.engine.discard(sent.prepared);
    await loader.reload(record);
    const { rev, data = 'null', results } = committed;
    const there = parseEvent(record, { rev, data, ...(results && { results }) });
    const known = repeated(record, draft, event, there);
    if (operators !== undefined) {
      keyedResults(committed, operators);
    }
    return { event: known, stored };
  }
  const [whole, told] = operators === undefined ? [event, sent] : withTold(cache, record, event, sent, committed);
  const applied = cache.applyCommittedAppend(record, whole, told, committed);
  if (applied === undefined) {
    await loader.reload(record);
  }
  return { event: applied ?? whole, stored };
}

/** An event and its change with what the store says that the operators came to. */
function withTold(
  cache: StoreComponents['cache'],
  record: SessionRecord,
  given: Event,
  sent: SentChange,
  committed: Committed,
): readonly [Event, SentChange] {
  const { prepared, change } = sent;
  try {
    const event = eventWith(given, keyedResults(committed, change.operators as ScopedOperators));
    return [event, { ...sent, prepared: { ...prepared, delta: event.actions.stateDelta as PreparedChange['delta'] } }];
  } catch (error) {
    cache.registry.engine.discard(prepared);
    cache.markStale(record);
    throw error;
  }
}

/** What a store gets of an append. The append is discarded when that cannot be made. */
function changeToSend(
  { cache: { registry }, writer }: StoreComponents,
  { key, created }: SessionRecord,
  { event: given, prepared, guard }: ToSend,
  { draft: { id, timestamp: time, named, operators }, turn, lease }: AppendRequest,
  { pos = {}, marks = {} }: Known,
  isResolved: boolean,
): Change {
  try {
    const event = { id, time, data: JSON.stringify(given) };
    const fence = lease?.token;
    const { guard: held } = writer.guardOf({ created, ...guard, ...(fence !== undefined && { fence }) });
    const change: { -readonly [Member in keyof Change]: Change[Member] } = {
      id,
      kind: 'append',
      key,
      time,
      event,
      ...written(prepared, isResolved ? undefined : operators),
      known: { pos, marks },
    };
    if (held !== undefined) {
      change.guard = held;
    }
    if (named || isResolved) {
      // It may come again under this id: by another call, or with other values of its operators.
      change.call = newId();
    }
    if (turn !== undefined) {
      change.turn = turn;
    }
    return change;
  } catch (error) {
    registry.engine.discard(prepared);
    throw error;
  }
}

/** What the caller is told of an append that failed. The session is loaded again before it is used. */
async function refusal(
  { cache, loader }: StoreComponents,
  error: unknown,
  record: SessionRecord,
  guard: Guard,
  lease: LeaseHold | undefined,
): Promise<unknown> {
  const { sessionId: id } = record.key;
  if (!isStoreError(error)) {
    cache.markStale(record);
    return error;
  }
  if (error.code === 'not-found') {
    cache.drop(record);
    lease?.lose(notFound(id));
    return notFound(id);
  }
  await loader.reload(record);
  if (error.code === 'fenced') {
    const lost = leaseLost(id, error);
    return lease?.lose(lost) ?? lost;
  }
  const ofOperator = operatorRefusal(error);
  if (ofOperator !== undefined) {
    return ofOperator;
  }
  const { rev: expected } = guard;
  if (expected === undefined || guard.keys !== undefined) {
    return new StatepadError('STATE_CONFLICT', `the state of session "${id}" changed since it was read`, {
      id,
      cause: error,
    });
  }
  const actual = error.actual ?? record.revision;
  const message = `session "${id}" is at revision ${actual}, not at the expected ${expected}`;
  return new StatepadError('SESSION_STALE', message, { id, expected, actual, cause: error });
}
