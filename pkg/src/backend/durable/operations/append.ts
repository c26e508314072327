// Appends over a store: stored first, then applied, then shown.

import { defined } from '../../../model/defined.js';
import {
  changeOf,
  freezeAppend,
  isDuplicate,
  notFound,
  storedDuplicate,
  duplicateAppend,
  type PendingAppend,
} from '../../../session/append.js';
import { pinAtOnce, pinForAppend, showAppended } from './append-target.js';
import { requestMembers, requestRefusal } from '../commit/requests.js';
import { refusedBefore } from '../../../model/once.js';
import { NONE } from '../cache/event-range.js';
import {
  OperatorAttempts,
  lanesOfAppend,
  resolveTempKeys,
  storedOperators,
  type ToSend,
} from './operator-attempts.js';
import { storeResolves, keyedResults, operatorRefusal, contentOf } from '../commit/operators.js';
import { parseEvent } from '../cache/stored-event.js';
import { limitRefusal } from '../commit/limits.js';
import { checkEventSize } from '../../../input/sizes.js';
import { checkKey } from '../../../input/requests.js';
import { notExpected } from '../../../update/update-target.js';
import { StatepadError, isStatepadError } from '../../../model/errors.js';
import { newId } from '../../../model/ids.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import { leaseLost, type LeaseHold } from '../../../lease/lease-hold.js';
import { showTemp } from '../../../input/temp-values.js';
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
  /** The caller's guard. */
  readonly guard: Guard;
  /** True when its values are conditions that the caller has named, and not values that it has read. */
  readonly isConditional?: boolean;
  /** The positions that the caller has read, where they are not the cached ones. */
  readonly read?: Pick<Known, 'pos' | 'marks'> | undefined;
  /** See `AppendPlan.shown`. */
  readonly shown?: AppendPlan['shown'] | undefined;
  readonly signal?: Signal | undefined;
  /** See `Change.reservation`. */
  readonly reservation?: string | undefined;
  /** The lease of the write; by default that of the handle. */
  readonly lease?: LeaseHold | undefined;
}

/** A stored event and the answer of the store; without `stored` it is a duplicate. */
export interface Appended {
  readonly event: Event;
  readonly stored?: { readonly change: Change; readonly committed: Committed };
}

/** An append at the head of its session's queue. */
interface AppendTask {
  readonly request: AppendRequest;
  readonly view: View | undefined;
  readonly begin: Begin;
  /** For an event with operators that are resolved here. */
  readonly operatorAttempts: OperatorAttempts | undefined;
  /** True when it has the lanes of the shared scopes that it writes. */
  readonly hasLanes: boolean;
}

/** Appends an event under a guard. */
export async function appendStored(components: StoreComponents, request: AppendRequest): Promise<Appended> {
  const { appName, userId, id: sessionId } = request.session;
  const view = components.cache.registry.view(request.session);
  const key = view?.record.key ?? checkKey({ appName, userId, sessionId });
  checkEventSize(components.limits.all, request.draft, key);
  // The lease at the time of the request, whatever happens to it in the queue.
  const lease = request.lease ?? view?.lease;
  const leased = lease === undefined ? request : { ...request, lease };
  const task = async (begin: Begin): Promise<Appended> => {
    const operators = request.draft.operators && storedOperators(request.draft);
    if (operators === undefined || storeResolves(components.connection.store, components.limits, operators)) {
      return await append(components, key, {
        request: leased,
        view,
        begin,
        operatorAttempts: undefined,
        hasLanes: false,
      });
    }
    const lanes = lanesOfAppend(key, request.draft, operators);
    const operatorAttempts = new OperatorAttempts(operators, key, components.limits.all);
    return await components.writer.lanes.hold(lanes, () =>
      append(components, key, { request: leased, view, begin, operatorAttempts, hasLanes: lanes.length > 0 }),
    );
  };
  return await components.writer.runExclusive(key, request.signal, task);
}

/** The store compares the caller's versions: see {@link AppendRequest.guard}. */
const ANY_VERSION = {};

async function append(components: StoreComponents, key: SessionKey, task: AppendTask): Promise<Appended> {
  const { cache, connection, loader } = components;
  const { registry } = cache;
  const { view, request } = task;
  const { draft } = request;
  let earlier: PendingAppend | undefined;
  for (let isSure = connection.store.exclusive === true; ; isSure = true) {
    const isCached = registry.find(key) !== undefined;
    const record = pinAtOnce(components, key, view) ?? (await pinForAppend(components, key, view));
    try {
      const change = changeOf(registry, record, draft, ANY_VERSION);
      if (isDuplicate(change) && !isSure) {
        // An event with this id is cached. The store may have lost it since.
        await loader.load(key, NONE, () => undefined);
        continue;
      }
      if (earlier === undefined && draft.operators !== undefined && !isDuplicate(change)) {
        resolveTempKeys(registry, draft, change, view);
      }
      const pending: PendingAppend =
        earlier === undefined
          ? freezeAppend(registry, record, draft, change)
          : appendAgain(registry, record, draft, change, earlier);
      const now = { wasCached: isCached && earlier === undefined, isSure };
      const appended = await storeAppend(components, record, pending, task, now);
      if (appended === undefined) {
        earlier = pending;
        continue;
      }
      if (view === undefined) {
        return appended;
      }
      if (view.record.number === NOT_LOADED) {
        await showAppended(components, key, view);
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

/** The append of an event that an earlier round has frozen. Throws `EVENT_ID_CONFLICT`. */
function appendAgain(
  registry: SessionRegistry,
  record: SessionRecord,
  draft: EventDraft,
  change: PreparedChange | DuplicateEvent,
  { event, temp, growth, bound }: PendingAppend,
): PendingAppend {
  return isDuplicate(change)
    ? duplicateAppend(record, draft, event, registry.eventOf(record, change))
    : { event, change, temp, growth, bound };
}

/**
 * Stores and applies an append, unless it is a duplicate. Returns `undefined` when it has to be repeated: the cached
 * session was deleted and the caller has named it by its key alone, so that another one may exist by now; or the
 * values have changed since operators were resolved against them.
 */
async function storeAppend(
  components: StoreComponents,
  record: SessionRecord,
  { event, change: prepared }: PendingAppend,
  { request, view, begin, operatorAttempts, hasLanes }: AppendTask,
  { wasCached, isSure }: { readonly wasCached: boolean; readonly isSure: boolean },
): Promise<Appended | undefined> {
  if (prepared === undefined) {
    return { event };
  }
  const { cache, writer } = components;
  const { guard, read, lease } = request;
  const unresolved: ToSend = { event, prepared, guard };
  const ready =
    operatorAttempts === undefined ? unresolved : operatorAttempts.resolve(cache, record, unresolved, isSure);
  if (ready === undefined) {
    return undefined;
  }
  const cached = cache.known(record.key, record);
  const known = read === undefined ? cached : { ...cached, ...read };
  const change = changeToSend(components, record, ready, request, known, operatorAttempts !== undefined);
  const sentChange = { change, prepared: ready.prepared, known };
  let committed: Committed;
  try {
    committed = await writer.commit(sentChange, begin, hasLanes);
  } catch (error) {
    const isAnswered = isRequestRefused(error, request);
    if (ready.misfit !== undefined && !isAnswered && isStateConflict(error)) {
      throw ready.misfit;
    }
    if (guard.keys === undefined && !isAnswered && (await operatorAttempts?.canTryAgain(cache, record, error))) {
      return undefined;
    }
    const reason = await refusal(components, error, record, request, lease);
    const isByKey = view === undefined && guard.created === undefined;
    if (wasCached && isByKey && isStatepadError(reason) && reason.code === 'SESSION_NOT_FOUND') {
      return undefined;
    }
    throw reason;
  }
  return await applyStored(components, record, ready.event, request.draft, sentChange, committed);
}

/** True if the values are not those of the guard. */
function isStateConflict(error: unknown): boolean {
  return isStoreError(error) && error.code === 'conflict' && error.actual === undefined;
}

/** True if no attempt of the request can be carried out any more. */
function isRequestRefused(error: unknown, { draft }: AppendRequest): boolean {
  return isStoreError(error) && requestRefusal(error, draft.request) !== undefined;
}

/** Applies a stored append. */
async function applyStored(
  { cache, loader }: StoreComponents,
  record: SessionRecord,
  event: Event,
  draft: EventDraft,
  sentChange: SentChange,
  committed: Committed,
): Promise<Appended> {
  const stored = { change: sentChange.change, committed };
  const { operators } = sentChange.change;
  if (committed.duplicate) {
    cache.registry.engine.discard(sentChange.prepared);
    await loader.reload(record);
    const { rev, data = 'null', results } = committed;
    const there = parseEvent(record, defined({ rev, data, results }));
    const known = storedDuplicate(record, draft, event, there);
    if (operators !== undefined) {
      keyedResults(committed, operators);
    }
    return { event: known, stored };
  }
  const [complete, completed] =
    operators === undefined ? [event, sentChange] : withStoredResults(cache, record, event, sentChange, committed);
  const applied = cache.applyCommittedAppend(record, complete, completed, committed);
  if (applied === undefined) {
    await loader.reload(record);
  }
  return { event: applied ?? complete, stored };
}

/** An event and its change with the operators' results, as the store reports them. */
function withStoredResults(
  cache: StoreComponents['cache'],
  record: SessionRecord,
  unresolved: Event,
  sentChange: SentChange,
  committed: Committed,
): readonly [Event, SentChange] {
  const { prepared, change } = sentChange;
  try {
    const event = eventWith(unresolved, keyedResults(committed, change.operators as ScopedOperators));
    return [
      event,
      { ...sentChange, prepared: { ...prepared, delta: event.actions.stateDelta as PreparedChange['delta'] } },
    ];
  } catch (error) {
    cache.registry.engine.discard(prepared);
    cache.markStale(record);
    throw error;
  }
}

/** The change of an append for the store. Discards the append on failure. */
function changeToSend(
  { cache: { registry }, connection, writer, limits }: StoreComponents,
  { key, created }: SessionRecord,
  { event: body, prepared, guard }: ToSend,
  { draft: { id, timestamp: time, named, operators, request }, reservation, lease }: AppendRequest,
  { pos = {}, marks = {} }: Known,
  isResolved: boolean,
): Change {
  try {
    const event = { id, time, data: JSON.stringify(body) };
    const fence = lease?.token;
    const { guard: sentGuard } = writer.guardOf({ created, ...guard, ...defined({ fence }) });
    const change: { -readonly [Member in keyof Change]: Change[Member] } = {
      id,
      kind: 'append',
      key,
      time,
      event,
      ...contentOf(prepared, isResolved ? undefined : operators),
      known: { pos, marks },
      ...limits.ofAppend,
    };
    if (sentGuard !== undefined) {
      change.guard = sentGuard;
    }
    if (request !== undefined) {
      const isOnly = request.isSingle && !isResolved;
      // The id is unique everywhere, and so is the call: a refusal holds in whichever session is there later.
      change.call = id;
      Object.assign(change, isOnly ? requestMembers(connection.store, request) : { digest: request.digest });
    } else if (named || isResolved) {
      // The id may be used again: by another call, or with other results of its operators.
      change.call = newId();
    }
    if (reservation !== undefined) {
      change.reservation = reservation;
    }
    return change;
  } catch (error) {
    registry.engine.discard(prepared);
    throw error;
  }
}

/** The caller's error for a failed append. The session is loaded again before its next use. */
async function refusal(
  { cache, loader }: StoreComponents,
  error: unknown,
  record: SessionRecord,
  { guard, isConditional, draft: { request } }: AppendRequest,
  lease: LeaseHold | undefined,
): Promise<unknown> {
  const { sessionId: id } = record.key;
  if (!isStoreError(error)) {
    cache.markStale(record);
    return error;
  }
  if (error.code === 'not-found') {
    cache.markDeleted(record);
    lease?.markLost(notFound(id));
    return notFound(id);
  }
  const ofLimit = limitRefusal(error, record.key);
  if (ofLimit !== undefined) {
    // It says nothing about the cached values.
    return ofLimit;
  }
  await loader.reload(record);
  if (error.code === 'fenced') {
    const leaseError = leaseLost(id, error);
    return lease?.markLost(leaseError) ?? leaseError;
  }
  const other = operatorRefusal(error) ?? requestRefusal(error, request);
  if (other !== undefined) {
    return other;
  }
  const { rev: expected } = guard;
  if (request !== undefined && error.actual === undefined && guard.keys === undefined) {
    // It has expected no values, so this is no conflict with them.
    return refusedBefore(error);
  }
  if (isConditional === true) {
    return notExpected(error);
  }
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
