// What `updateState` reads and writes over a store: under a guard for what the function has looked at.

import { admitDelta } from '../../input/admit.js';
import { notFound } from '../../session/append.js';
import { applied } from './applied.js';
import { admitEvent } from '../../input/event-draft.js';
import { StatepadError, isStatepadError } from '../../model/errors.js';
import { deepFreeze } from '../../model/json.js';
import { guardOf } from './guards.js';
import { newId } from '../../model/ids.js';
import { NO_EVENTS } from '../../session/registry.js';
import { Reads } from './read-tracker.js';
import { APP_PREFIX, USER_PREFIX, mergeRecords, underKeys } from '../../model/scope.js';
import { isStoreError } from '../../store/store-error.js';
import { writeEvent, type Written } from './append.js';
import { NONE } from './event-range.js';
import type { SharedPart } from './following.js';
import type { SessionRecord, View } from '../../session/handle.js';
import type { Change, Committed, Delta, Guard, Known, LoadedScope, Values } from '../../store/contract.js';
import type { Json, SessionKey, UpdateStateOptions, UpdateStateTarget } from '../../model/types.js';
import type { StoredSessions } from './store-backend.js';
import type { Turn } from '../../async/turns.js';
import type { Signal } from '../../async/abort.js';
import type { UpdateTarget } from '../update-target.js';

type State = Readonly<Record<string, Json>>;

/** A session: what is written becomes an event of it. */
export function sessionTarget(sessions: StoredSessions, key: SessionKey, options: UpdateStateOptions): UpdateTarget {
  const { author = 'system', invocationId, signal } = options;
  const { cache } = sessions;
  return async (turn) => {
    // A handle that shows no events: it is brought up to date by the append.
    const read = (record: SessionRecord) => ({ ...cache.known(key, record), session: cache.read(record, NO_EVENTS) });
    const found = await sessionLeft(sessions, key, turn, read, signal);
    if (found === undefined) {
      throw notFound(key.sessionId);
    }
    const { session, created = '', rev = 0, pos = {}, marks = {} } = found;
    const reads = new Reads(session.state);
    // The handle moves on when it has written: these are its values now.
    const parts = (cache.view(session) as View).cells.map((cell) => cell.record());
    return {
      state: reads.state,
      widest: (delta) => reads.widest(delta),
      write: async (stateDelta, reserved) => {
        const draft = admitEvent({ author, invocationId, actions: { stateDelta } }, sessions.now, {});
        const guard: Guard = { created, keys: reads.keys(), ...(reads.isWhole ? { rev, pos } : {}) };
        const leave = turn.writes();
        try {
          const { stored } = await writeEvent(sessions, { session, draft, guard, signal, read: { pos, marks }, turn: reserved });
          leave('written');
          return deepFreeze(mergeRecords(afterChange(parts, stored, pos)));
        } catch (error) {
          // Gone, or created anew: reading again tells.
          const isGone = isStatepadError(error) && error.code === 'SESSION_NOT_FOUND';
          throw isGone ? new StatepadError('STATE_CONFLICT', error.message, { id: key.sessionId, cause: error }) : error;
        }
      },
    };
  };
}

/** A session as the turn before has left it in memory, or as its store has it. */
async function sessionLeft<T>(
  sessions: StoredSessions,
  key: SessionKey,
  turn: Turn,
  read: (record: SessionRecord) => T,
  signal: Signal | undefined,
): Promise<T | undefined> {
  const record = turn.left() === undefined ? undefined : sessions.cache.find(key);
  return record !== undefined && sessions.cache.isCurrent(record) ? read(record) : await sessions.load(key, NONE, read, { signal });
}

/** The scopes of a session in the order of merging. */
const SCOPES = [['session', ''], ['app', APP_PREFIX], ['user', USER_PREFIX]] as const;

/**
 * The values of a session's scopes right after a change: of what was read and written for sure, of others as far as the store
 * tells.
 */
function afterChange(parts: readonly State[], stored: Written['stored'], pos: NonNullable<Known['pos']>): State[] {
  return SCOPES.map(([scope, prefix], index) => {
    const { change, committed } = stored ?? {};
    const others = scope === 'session' || committed === undefined ? undefined : byOthers(committed, scope, pos[scope], change?.delta[scope]);
    return applied(parts[index] as State, full(prefix, others), full(prefix, change?.delta[scope]));
  });
}

/** What others have done to a scope from its being read to a change of our own; `undefined` where the store does not tell. */
function byOthers({ pos, changed, duplicate }: Committed, part: SharedPart, read: number | undefined, own: Delta | undefined): Delta | undefined {
  const before = pos[part] - (own === undefined ? 0 : 1);
  return duplicate ? undefined : before === read ? {} : changed?.[part];
}

/** A delta under full keys. */
function full(prefix: string, delta: Delta | undefined): Delta | undefined {
  return delta && { set: underKeys(prefix, delta.set ?? {}), unset: (delta.unset ?? []).map((name) => prefix + name) };
}

/** An app and a user as they were read, or left by the turn before. */
interface ReadScopes {
  readonly app: LoadedScope;
  readonly user: LoadedScope | undefined;
}

/** What is known of the shared scopes. */
type KnownScopes = Required<Pick<Known, 'pos' | 'marks'>>;

/** A user's and the app's keys, or the app's alone. */
export function scopeTarget(sessions: StoredSessions, target: UpdateStateTarget, signal: Signal | undefined): UpdateTarget {
  const { appName, userId } = target;
  const { cache } = sessions;
  const key = userId === undefined ? { appName } : { appName, userId };
  const load = async (): Promise<ReadScopes> => {
    const user = userId === undefined ? undefined : sessions.loadScope(appName, userId, signal);
    const [app, loaded] = await Promise.all([sessions.loadScope(appName, undefined, signal), user]);
    return { app, user: loaded };
  };
  return async (turn) => {
    const { app, user } = (turn.left() as ReadScopes | undefined) ?? (await load());
    const reads = new Reads(merged(app.state, user?.state));
    return {
      state: reads.state,
      widest: (delta) => reads.widest(delta),
      write: async (delta, reserved) => {
        const [id, time] = [newId(), sessions.now()];
        const pos = { app: app.pos, ...(user && { user: user.pos }) };
        const wanted: Guard = { keys: reads.keys(), ...(reads.isWhole ? { pos } : {}) };
        const guard = guardOf(sessions.connection.store, wanted);
        const admitted = admitDelta(delta, 'delta');
        const leave = turn.writes();
        try {
          return await sessions.inTurn(id, signal, async (begin) => {
            const ticket = cache.prepareUpdate(appName, userId, id, time, admitted, {});
            const known = sooner({ pos, marks: marksOf(app, user) }, cache.knownScopes(appName, userId));
            const held = reserved === undefined ? {} : { turn: reserved };
            const change: Change = { id, kind: 'update', key, time, delta: cache.scopedDelta(ticket), ...guard, known, ...held };
            const committed = await sessions.commit(change, ticket, begin);
            cache.settleUpdate({ appName, userId }, ticket, { change, known }, committed);
            const next = { app: scopeAfter(app, 'app', change, committed), user: user && scopeAfter(user, 'user', change, committed) };
            if (next.app.isWhole && next.user?.isWhole !== false) {
              leave(next);
            }
            return merged(next.app.state, next.user?.state);
          });
        } catch (error) {
          throw isStoreError(error) ? new StatepadError('STATE_CONFLICT', 'the state changed since it was read', { cause: error }) : error;
        }
      },
    };
  };
}

/** A scope right after a change, as {@link afterChange}. `isWhole`: nothing that others have written is missing. */
function scopeAfter(read: LoadedScope, part: SharedPart, { id, delta }: Change, committed: Committed): LoadedScope & { readonly isWhole: boolean } {
  const others = byOthers(committed, part, read.pos, delta[part]);
  const mark = delta[part] === undefined ? (committed.before?.[part] ?? (committed.pos[part] === read.pos ? read.mark : undefined)) : id;
  const state = deepFreeze(applied(read.state, others, delta[part]));
  return { pos: committed.pos[part], state, ...(mark === undefined ? {} : { mark }), isWhole: others !== undefined };
}

function marksOf(app: LoadedScope, user: LoadedScope | undefined): NonNullable<Known['marks']> {
  return { ...(app.mark === undefined ? {} : { app: app.mark }), ...(user?.mark === undefined ? {} : { user: user.mark }) };
}

/** Of two that are known the lower one of each scope: what has happened since then is news for both. */
function sooner(read: KnownScopes, here: KnownScopes): KnownScopes {
  const app = (here.pos.app ?? Infinity) < (read.pos.app ?? Infinity) ? here : read;
  const user = (here.pos.user ?? Infinity) < (read.pos.user ?? Infinity) ? here : read;
  return {
    pos: { ...(app.pos.app === undefined ? {} : { app: app.pos.app }), ...(user.pos.user === undefined ? {} : { user: user.pos.user }) },
    marks: {
      ...(app.marks.app === undefined ? {} : { app: app.marks.app }),
      ...(user.marks.user === undefined ? {} : { user: user.marks.user }),
    },
  };
}

/** The values of both scopes under their full keys. */
function merged(app: Values, user: Values = {}): State {
  return deepFreeze(mergeRecords([underKeys(APP_PREFIX, app), underKeys(USER_PREFIX, user)]));
}
