// A user's and the app's keys as `updateState` reads and writes them, or the app's alone: under a guard for what the
// function has looked at.

import {
  areResolved,
  bothKeys,
  deltaWith,
  keyedResults,
  operatorRefusal,
  resolveHere,
  written,
  type Resolution,
} from '../commit/operators.js';
import { lanesOfKeys } from '../operations/lanes.js';
import { deltaOfOthers } from './concurrent-delta.js';
import { knownOf, sentOf, type KnownScopes, type SentChange } from '../cache/positions.js';
import { ReadTracker } from './read-tracker.js';
import { admitDelta, type AdmittedDelta } from '../../../input/admit.js';
import { withDeltas } from '../../../model/delta.js';
import { StatepadError } from '../../../model/errors.js';
import { newId } from '../../../model/ids.js';
import { deepFreeze } from '../../../model/json.js';
import { APP_PREFIX, USER_PREFIX, mergeRecords, nameOf, underKeys } from '../../../model/scope.js';
import { isStoreError } from '../../../store/store-error.js';
import type { SharedPart } from '../cache/continuity.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { QueueTurn } from '../../../async/reentrant-queues.js';
import type { KeyedOperators } from '../../../model/operator-write.js';
import type { StoreComponents } from '../operations/components.js';
import type { Begin } from '../operations/writer.js';
import type { UpdateTarget } from '../../update-target.js';
import type { ScopeKey } from '../../../engine/sessions.js';
import type { Change, Committed, Guard, LoadedScope, Values } from '../../../store/contract.js';
import type { Json, UpdateStateTarget } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

type State = Readonly<Record<string, Json>>;

/** An app and a user as they were read, or left by the turn before. */
interface ReadScopes {
  /** How many changes of the service had ended then. */
  readonly ended: number;
  readonly app: LoadedScope;
  readonly user: LoadedScope | undefined;
}

/** A change of app and user state, but for what a store is told of the scopes. */
interface ScopeChange extends Pick<Change, 'id' | 'time' | 'guard' | 'turn'> {
  readonly key: ScopeKey;
  readonly written: AdmittedDelta;
  readonly read: ReadScopes;
  /** Whether it has the lanes of the scopes that it writes. */
  readonly hasLanes: boolean;
}

/** A user's and the app's keys, or the app's alone. */
export function scopeTarget(parts: StoreComponents, target: UpdateStateTarget, signal: Signal | undefined): UpdateTarget {
  const { appName, userId } = target;
  const key = { appName, userId };
  return async (turn) => {
    const left = turn.left() as ReadScopes | undefined;
    const read = left ?? (await load(parts, key, signal));
    const { app, user } = read;
    const reads = new ReadTracker(merged(app.state, user?.state));
    return {
      state: reads.state,
      widest: (delta) => reads.widest(delta),
      write: async (delta, reserved) => {
        const [id, time] = [newId(), parts.now()];
        const admitted = admitDelta(delta, 'delta');
        const { operators } = admitted;
        const pos = { app: app.pos, ...(user && { user: user.pos }) };
        const wanted: Guard = { keys: reads.keys(), ...(reads.isWhole ? { pos } : {}) };
        const held = reserved === undefined ? {} : { turn: reserved };
        const send = async (begin: Begin, now: ReadScopes, here?: Resolution): Promise<State> => {
          const guard = parts.writer.guardOf({ ...wanted, keys: bothKeys(wanted.keys, here?.keys) });
          const written = here === undefined ? admitted : resolvedDelta(admitted, here.results);
          const hasLanes = here !== undefined;
          const leave = turn.writes();
          const next = await write(parts, { id, time, key, written, read: now, hasLanes, ...guard, ...held }, begin);
          if (next.app.isWhole && next.user?.isWhole !== false) {
            leave(next);
          }
          return merged(next.app.state, next.user?.state);
        };
        try {
          if (operators === undefined || areResolved(parts.connection.store, operators)) {
            return await parts.writer.runExclusive(id, signal, (begin) => send(begin, read));
          }
          const lanes = lanesOfKeys(key, Object.keys(admitted.delta));
          const resolved = async (begin: Begin): Promise<State> => {
            // Against what those have left who had the lanes before.
            const now = read.ended === parts.writer.ended ? read : await load(parts, key, signal);
            return await send(begin, now, await resolve(parts, key, operators, now, now === left ? turn : undefined));
          };
          return await parts.writer.runExclusive(id, signal, (begin) =>
            parts.writer.lanes.hold(lanes, () => resolved(begin)),
          );
        } catch (error) {
          throw isStoreError(error) ? (operatorRefusal(error) ?? changed(error)) : error;
        }
      },
    };
  };
}

/**
 * Resolves operators against the values that were read. `left`: the turn before has left them, and they may be old;
 * that an operator does not fit is true of what is there now. Throws `STATE_CONFLICT` or `INVALID_ARGUMENT`, with the
 * `key`.
 */
async function resolve(
  parts: StoreComponents,
  key: ScopeKey,
  operators: KeyedOperators,
  read: ReadScopes,
  left: QueueTurn | undefined,
): Promise<Resolution> {
  try {
    return resolveHere(operators, (name) => valueIn(read, name));
  } catch (error) {
    if (left === undefined) {
      throw error;
    }
    const now = await load(parts, key, undefined);
    resolveHere(operators, (name) => valueIn(now, name));
    left.forget();
    throw changed(error);
  }
}

function valueIn({ app, user }: ReadScopes, key: string): Json | undefined {
  const [scope, name] = nameOf(key);
  const values = (scope === 'app' ? app : scope === 'user' ? user : undefined)?.state ?? {};
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function resolvedDelta({ delta, deleted }: AdmittedDelta, results: Resolution['results']): AdmittedDelta {
  return { delta: mergeRecords([delta, results]), deleted };
}

/** The error that lets the function run again. */
function changed(cause: unknown): StatepadError {
  return new StatepadError('STATE_CONFLICT', 'the state changed since it was read', { cause });
}

async function load({ loader, writer }: StoreComponents, key: ScopeKey, signal: Signal | undefined): Promise<ReadScopes> {
  const { appName, userId } = key;
  const { ended } = writer;
  const user = userId === undefined ? undefined : loader.loadScope(key, signal);
  const [app, loaded] = await Promise.all([loader.loadScope({ appName, userId: undefined }, signal), user]);
  return { ended, app, user: loaded };
}

/** Has a change stored, and applies it. Answers with the scopes right after it. */
async function write(parts: StoreComponents, scopeChange: ScopeChange, begin: Begin): Promise<WrittenScopes> {
  const { cache, writer } = parts;
  const {
    id,
    time,
    key,
    written: { operators, ...plain },
    read: { app, user },
    guard,
    turn,
    hasLanes,
  } = scopeChange;
  const { appName, userId } = key;
  const { registry } = cache;
  const prepared = registry.engine.prepareUpdate(key, { id, timestamp: time, ...plain }, {});
  const known = earlier(knownOf(app, user), cache.knownScopes(key));
  const change: Change = {
    id,
    kind: 'update',
    key: userId === undefined ? { appName } : { appName, userId },
    time,
    ...written(prepared, operators),
    ...(guard === undefined ? {} : { guard }),
    known,
    ...(turn === undefined ? {} : { turn }),
  };
  const sent = { change, prepared, known };
  const committed = await writer.commit(sent, begin, hasLanes);
  cache.applyCommittedUpdate(key, withTold(cache, key, sent, committed), committed);
  return {
    ended: writer.ended,
    app: scopeAfter(app, 'app', change, committed),
    user: user && scopeAfter(user, 'user', change, committed),
  };
}

/** A change with what the store says that its operators came to. */
function withTold(cache: SessionCache, key: ScopeKey, sent: SentChange, committed: Committed): SentChange {
  const {
    prepared,
    change: { operators },
  } = sent;
  if (operators === undefined) {
    return sent;
  }
  try {
    const delta = mergeRecords([prepared.delta, keyedResults(committed, operators)]);
    return { ...sent, prepared: { ...prepared, delta } };
  } catch (error) {
    cache.registry.engine.discard(prepared);
    cache.forgetPositions(key);
    throw error;
  }
}

/** A scope right after a change. */
interface WrittenScope extends LoadedScope {
  /** Whether nothing that others have written is missing. */
  readonly isWhole: boolean;
}

/** Both scopes right after a change. */
interface WrittenScopes extends ReadScopes {
  readonly app: WrittenScope;
  readonly user: WrittenScope | undefined;
}

/**
 * The values of a scope right after a change: of what was read and written for sure, of others as far as the store
 * tells. Where an answer was lost, others may have written since: what is there now says nothing about this change.
 */
function scopeAfter(read: LoadedScope, part: SharedPart, { id, delta }: Change, committed: Committed): WrittenScope {
  const own = deltaWith(delta[part], committed.results?.[part]);
  const others = deltaOfOthers(committed, part, read.pos, own);
  const unmoved = committed.pos[part] === read.pos ? read.mark : undefined;
  const mark = own === undefined ? (committed.before?.[part] ?? unmoved) : id;
  const state = deepFreeze(withDeltas(read.state, others, own));
  return { pos: committed.pos[part], state, ...(mark === undefined ? {} : { mark }), isWhole: others !== undefined };
}

/** Of two that are known the lower one of each scope: what has happened since then is new for both. */
function earlier(read: KnownScopes, cached: KnownScopes): KnownScopes {
  const app = (cached.pos.app ?? Infinity) < (read.pos.app ?? Infinity) ? cached : read;
  const user = (cached.pos.user ?? Infinity) < (read.pos.user ?? Infinity) ? cached : read;
  return knownOf(sentOf(app, 'app'), sentOf(user, 'user'));
}

/** The values of both scopes under their full keys. */
function merged(app: Values, user: Values = {}): State {
  return deepFreeze(mergeRecords([underKeys(APP_PREFIX, app), underKeys(USER_PREFIX, user)]));
}
