// The reads and writes of `updateState` on a user's and the app's keys, or the app's alone: under a guard for the
// values that the function has read.

import { defined } from '../../../model/defined.js';
import {
  storeResolves,
  mergeGuardedKeys,
  withResults,
  keyedResults,
  operatorRefusal,
  resolveLocally,
  contentOf,
  type Resolution,
} from '../commit/operators.js';
import { limitRefusal } from '../commit/limits.js';
import { checkRequest, requestMembers, requestRefusal } from '../commit/requests.js';
import { lanesOfKeys } from '../operations/lanes.js';
import { concurrentDelta } from './concurrent-delta.js';
import { knownOf, positionIn, type KnownPositions, type SentChange } from '../cache/positions.js';
import { guardOfConditions } from '../../../update/conditions.js';
import { ReadTracker } from '../../../update/read-tracker.js';
import { admitDelta, type AdmittedDelta } from '../../../input/admit.js';
import { checkDeltaSize, checkResultSizes } from '../../../input/sizes.js';
import { withDeltas } from '../../../model/delta.js';
import { StatepadError } from '../../../model/errors.js';
import { newId } from '../../../model/ids.js';
import { deepFreeze, put } from '../../../model/json.js';
import {
  APP_PREFIX,
  SHARED_SCOPES,
  USER_PREFIX,
  mergeRecords,
  nameOf,
  underKeys,
  type SharedScope,
} from '../../../model/scope.js';
import { isStoreError } from '../../../store/store-error.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { Handover } from '../../../async/handovers.js';
import type { KeyedOperators } from '../../../model/operator-write.js';
import type { StoreComponents } from '../operations/components.js';
import type { Begin } from '../operations/writer.js';
import { notExpected, type UpdateTarget, type WriteConditions } from '../../../update/update-target.js';
import type { Once } from '../../../model/once.js';
import type { ScopeKey } from '../../../engine/sessions.js';
import type { Change, Committed, Guard, LoadedScope, Values } from '../../../store/contract.js';
import type { Json, UpdateStateTarget } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

type State = Readonly<Record<string, Json>>;

/** The scopes of an app and a user, read or handed over by the update before. */
interface ReadScopes {
  /** The count of ended changes of the service at that time. */
  readonly ended: number;
  readonly app: LoadedScope;
  readonly user: LoadedScope | undefined;
}

/** A change of app and user state, without the known positions. */
interface ScopeChange extends Pick<Change, 'id' | 'time' | 'guard' | 'reservation'> {
  readonly key: ScopeKey;
  readonly written: AdmittedDelta;
  readonly read: ReadScopes;
  /** True when it has the lanes of the scopes that it writes. */
  readonly hasLanes: boolean;
  /** The request that it is for, where that has an identity. */
  readonly once: Once | undefined;
  readonly request: Pick<Change, 'digest' | 'attempt'>;
}

/** The target of a user's and the app's keys, or of the app's alone. */
export function scopeTarget(
  components: StoreComponents,
  target: UpdateStateTarget,
  signal: Signal | undefined,
  conditions?: WriteConditions,
): UpdateTarget {
  const { appName, userId } = target;
  const once = conditions?.once;
  const key = { appName, userId };
  return async (handover) => {
    const handedOver = handover.read() as ReadScopes | undefined;
    const read = handedOver ?? (await load(components, key, signal));
    const { app, user } = read;
    const reads = new ReadTracker(merged(app.state, user?.state));
    return {
      state: reads.state,
      widest: (delta) => reads.widest(delta),
      write: async (delta, reserved) => {
        const [id, time] = [once?.id ?? newId(), components.now()];
        const admitted = admitDelta(delta, 'delta');
        checkDeltaSize(components.limits.all, admitted, key, 'delta');
        const { operators } = admitted;
        const pos = { app: app.pos, ...(user && { user: user.pos }) };
        const base: Guard =
          conditions === undefined
            ? { keys: reads.guardedKeys(), ...(reads.isWhole ? { pos } : {}) }
            : guardOfConditions(conditions, { state: reads.state, pos });
        const reservation = reserved === undefined ? {} : { reservation: reserved };
        const send = async (begin: Begin, now: ReadScopes, resolution?: Resolution): Promise<State> => {
          const guard = components.writer.guardOf({ ...base, keys: mergeGuardedKeys(base.keys, resolution?.keys) });
          const written = resolution === undefined ? admitted : resolvedDelta(admitted, resolution.results);
          const hasLanes = resolution !== undefined;
          const leave = handover.beginWrite();
          const request = hasLanes
            ? defined({ digest: once?.digest })
            : requestMembers(components.connection.store, once);
          const sent = { id, time, key, written, read: now, hasLanes, once, request, ...guard, ...reservation };
          const next = await write(components, sent, begin);
          if (next.app.isWhole && next.user?.isWhole !== false) {
            leave(next);
          }
          const state = merged(next.app.state, next.user?.state);
          return next.isRepeated && resolution !== undefined ? withKnown(state, resolution.results, now) : state;
        };
        try {
          if (operators === undefined || storeResolves(components.connection.store, components.limits, operators)) {
            return await components.writer.runExclusive(id, signal, (begin) => send(begin, read));
          }
          const lanes = lanesOfKeys(key, Object.keys(admitted.delta));
          const resolved = async (begin: Begin): Promise<State> => {
            // Earlier holders of the lanes may have written.
            const now = read.ended === components.writer.ended ? read : await load(components, key, signal);
            return await send(
              begin,
              now,
              await resolve(components, key, operators, now, now === handedOver ? handover : undefined),
            );
          };
          return await components.writer.runExclusive(id, signal, (begin) =>
            components.writer.lanes.hold(lanes, () => resolved(begin)),
          );
        } catch (error) {
          if (!isStoreError(error)) {
            throw error;
          }
          const reason = limitRefusal(error, key) ?? operatorRefusal(error) ?? requestRefusal(error, once);
          throw reason ?? (conditions === undefined ? changed(error) : notExpected(error));
        }
      },
    };
  };
}

/**
 * Resolves operators against the values that were read. With a `handover` these come from the update before and may be
 * outdated: a misfit is checked against the current values. Throws `STATE_CONFLICT`, `INVALID_ARGUMENT` or
 * `LIMIT_EXCEEDED`, with the `key`.
 */
async function resolve(
  components: StoreComponents,
  key: ScopeKey,
  operators: KeyedOperators,
  read: ReadScopes,
  handover: Handover | undefined,
): Promise<Resolution> {
  const resolveOver = (scopes: ReadScopes): Resolution => {
    const valueOf = (name: string): Json | undefined => valueIn(scopes, name);
    const resolution = resolveLocally(operators, valueOf);
    checkResultSizes(components.limits.all, { results: resolution.results, valueOf }, key);
    return resolution;
  };
  try {
    return resolveOver(read);
  } catch (error) {
    if (handover === undefined) {
      throw error;
    }
    const now = await load(components, key, undefined);
    resolveOver(now);
    handover.expire();
    throw changed(error);
  }
}

function valueIn({ app, user }: ReadScopes, key: string): Json | undefined {
  const [scope, name] = nameOf(key);
  const values = (scope === 'app' ? app : scope === 'user' ? user : undefined)?.state ?? {};
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function resolvedDelta({ delta, deleted, bound }: AdmittedDelta, results: Resolution['results']): AdmittedDelta {
  return { delta: mergeRecords([delta, results]), deleted, bound };
}

/**
 * The values after a change that an earlier attempt of its request has made. Results of operators that were resolved
 * for this attempt are not those of that one: the values that were read take their place.
 */
function withKnown(state: State, results: Resolution['results'], read: ReadScopes): State {
  const known: Record<string, Json> = { ...state };
  for (const key of Object.keys(results)) {
    const value = valueIn(read, key);
    if (value === undefined) {
      delete known[key];
    } else {
      put(known, key, value);
    }
  }
  return Object.freeze(known);
}

/** The error that lets the function run again. */
function changed(cause: unknown): StatepadError {
  return new StatepadError('STATE_CONFLICT', 'the state changed since it was read', { cause });
}

async function load(
  { loader, writer }: StoreComponents,
  key: ScopeKey,
  signal: Signal | undefined,
): Promise<ReadScopes> {
  const { appName, userId } = key;
  const { ended } = writer;
  const user = userId === undefined ? undefined : loader.loadScope(key, signal);
  const [app, loaded] = await Promise.all([loader.loadScope({ appName, userId: undefined }, signal), user]);
  return { ended, app, user: loaded };
}

/** Stores and applies a change. Returns the scopes right after it. */
async function write(components: StoreComponents, scopeChange: ScopeChange, begin: Begin): Promise<WrittenScopes> {
  const { cache, writer } = components;
  const {
    id,
    time,
    key,
    written: { operators, ...plain },
    read: { app, user },
    guard,
    reservation,
    hasLanes,
    once,
    request,
  } = scopeChange;
  const { appName, userId } = key;
  const { registry } = cache;
  const prepared = registry.engine.prepareUpdate(key, { id, timestamp: time, ...plain }, {});
  const known = earlier(knownOf(app, user), cache.knownPositions(key));
  const change: Change = {
    id,
    kind: 'update',
    key: defined({ appName, userId }),
    time,
    ...contentOf(prepared, operators),
    ...defined({ guard }),
    known,
    ...request,
    ...defined({ reservation }),
    ...components.limits.ofOther,
  };
  const sentChange = { change, prepared, known };
  const committed = await writer.commit(sentChange, begin, hasLanes);
  const isRepeated = once !== undefined && committed.duplicate === true;
  if (isRepeated) {
    checkRepeated(components, sentChange, committed, once);
  }
  cache.applyCommittedUpdate(key, withStoredResults(cache, key, sentChange, committed), committed);
  if (isRepeated) {
    once.onRepeated?.(isUnmoved(change, scopeChange.read, committed));
  }
  return {
    isRepeated,
    ended: writer.ended,
    app: scopeAfter(app, 'app', change, committed),
    user: user && scopeAfter(user, 'user', change, committed),
  };
}

/** Discards a duplicate that is another request's. Throws `KEY_REUSED`. */
function checkRepeated({ cache }: StoreComponents, { prepared }: SentChange, committed: Committed, once: Once): void {
  try {
    checkRequest(committed, once);
  } catch (error) {
    cache.registry.engine.discard(prepared);
    throw error;
  }
}

/** True if the values that were read before a duplicate are still those right after the change. */
function isUnmoved({ id, delta, operators }: Change, { app, user }: ReadScopes, { before, pos }: Committed): boolean {
  return SHARED_SCOPES.every((scope) => {
    const read = scope === 'app' ? app : user;
    const isWritten = delta[scope] !== undefined || operators?.[scope] !== undefined;
    const isLast = isWritten ? before?.[scope] === id : pos[scope] === 0;
    return read === undefined || (isLast && read.pos === pos[scope]);
  });
}

/** A change with the operators' results, as the store reports them. */
function withStoredResults(
  cache: SessionCache,
  key: ScopeKey,
  sentChange: SentChange,
  committed: Committed,
): SentChange {
  const {
    prepared,
    change: { operators },
  } = sentChange;
  if (operators === undefined) {
    return sentChange;
  }
  try {
    const delta = mergeRecords([prepared.delta, keyedResults(committed, operators)]);
    return { ...sentChange, prepared: { ...prepared, delta } };
  } catch (error) {
    cache.registry.engine.discard(prepared);
    cache.invalidatePositions(key);
    throw error;
  }
}

/** A scope right after a change. */
interface WrittenScope extends LoadedScope {
  /** True when no write of others is missing. */
  readonly isWhole: boolean;
}

/** Both scopes right after a change. */
interface WrittenScopes extends ReadScopes {
  readonly app: WrittenScope;
  readonly user: WrittenScope | undefined;
  /** True when an earlier attempt of the request has made the change. */
  readonly isRepeated: boolean;
}

/**
 * The values of a scope right after a change: those read and written for certain, those of others as far as the store
 * reports them. After a lost answer others may have written: the current values say nothing about this change.
 */
function scopeAfter(read: LoadedScope, scope: SharedScope, { id, delta }: Change, committed: Committed): WrittenScope {
  const own = withResults(delta[scope], committed.results?.[scope]);
  const others = concurrentDelta(committed, scope, read.pos, own);
  const unmoved = committed.pos[scope] === read.pos ? read.mark : undefined;
  const mark = own === undefined ? (committed.before?.[scope] ?? unmoved) : id;
  const state = deepFreeze(withDeltas(read.state, others, own));
  return defined({ pos: committed.pos[scope], state, mark, isWhole: others !== undefined });
}

/** The lower one of two positions for each scope: all later changes are new to both. */
function earlier(read: KnownPositions, cached: KnownPositions): KnownPositions {
  const app = (cached.pos.app ?? Infinity) < (read.pos.app ?? Infinity) ? cached : read;
  const user = (cached.pos.user ?? Infinity) < (read.pos.user ?? Infinity) ? cached : read;
  return knownOf(positionIn(app, 'app'), positionIn(user, 'user'));
}

/** The values of both scopes under their full keys. */
function merged(app: Values, user: Values = {}): State {
  return deepFreeze(mergeRecords([underKeys(APP_PREFIX, app), underKeys(USER_PREFIX, user)]));
}
