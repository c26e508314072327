// What `updateState` reads and writes over a store: under a guard for what the function has looked at.

import { notFound } from './append.js';
import { admitDelta } from './admit.js';
import { admitEvent } from './draft.js';
import { StatepadError, isStatepadError } from './errors.js';
import { deepFreeze } from './freeze.js';
import { newId } from './ids.js';
import { NO_EVENTS } from './memory.js';
import { Reads } from './reads.js';
import { APP_PREFIX, USER_PREFIX, underKeys } from './scope.js';
import { isStoreError } from './store-error.js';
import { NONE } from './wanted.js';
import type { Delta, Guard, LoadedScope } from './store.js';
import type { Json, SessionKey, UpdateStateOptions, UpdateStateTarget } from './types.js';
import type { StoredSessions } from './stored.js';
import type { UpdateTarget } from './update.js';
import type { Signal } from './signal.js';

/** A session: what is written becomes an event of it. */
export function sessionTarget(sessions: StoredSessions, key: SessionKey, options: UpdateStateOptions): UpdateTarget {
  const { author = 'system', invocationId, signal } = options;
  return async () => {
    // A handle that shows no events: it is brought up to date by the append.
    const read = await sessions.load(key, NONE, (record) => ({ ...sessions.cache.known(key, record), session: sessions.cache.read(record, NO_EVENTS) }), { signal });
    if (read === undefined) {
      throw notFound(key.sessionId);
    }
    const { session, created = '', rev = 0, pos = {} } = read;
    const reads = new Reads(session.state);
    return {
      state: reads.state,
      write: async (stateDelta) => {
        const draft = admitEvent({ author, invocationId, actions: { stateDelta } }, sessions.now, {});
        const guard: Guard = { created, keys: reads.keys(), ...(reads.isWhole ? { rev, pos } : {}) };
        try {
          await sessions.write(session, draft, guard, signal);
          return session.state;
        } catch (error) {
          // Gone, or created anew: reading again tells.
          const isGone = isStatepadError(error) && error.code === 'SESSION_NOT_FOUND';
          throw isGone ? new StatepadError('STATE_CONFLICT', error.message, { id: key.sessionId, cause: error }) : error;
        }
      },
    };
  };
}

/** A user's and the app's keys, or the app's alone. */
export function scopeTarget(sessions: StoredSessions, target: UpdateStateTarget, signal: Signal | undefined): UpdateTarget {
  const { appName, userId } = target;
  const key = userId === undefined ? { appName } : { appName, userId };
  return async () => {
    const app = await sessions.loadScope(appName, undefined, signal);
    const user = userId === undefined ? undefined : await sessions.loadScope(appName, userId, signal);
    const reads = new Reads(merged(app, user));
    return {
      state: reads.state,
      write: async (delta) => {
        const id = newId();
        const time = sessions.now();
        const guard: Guard = { keys: reads.keys(), ...(reads.isWhole ? { pos: { app: app.pos, ...(user && { user: user.pos }) } } : {}) };
        const admitted = admitDelta(delta, 'delta');
        try {
          return await sessions.inTurn(id, signal, async (begin) => {
            const ticket = sessions.cache.prepareUpdate(appName, userId, id, time, admitted, {});
            const scoped = sessions.cache.scopedDelta(ticket);
            const committed = await sessions.commit({ id, kind: 'update', key, time, delta: scoped, guard }, ticket, begin);
            sessions.cache.settleUpdate(appName, userId, ticket, committed);
            return merged(after(app, scoped.app), user && after(user, scoped.user));
          });
        } catch (error) {
          throw isStoreError(error) ? new StatepadError('STATE_CONFLICT', 'the state changed since it was read', { cause: error }) : error;
        }
      },
    };
  };
}

/** The values of both scopes under their full keys. */
function merged(app: Pick<LoadedScope, 'state'>, user: Pick<LoadedScope, 'state'> | undefined): Readonly<Record<string, Json>> {
  return deepFreeze(Object.assign(underKeys(APP_PREFIX, app.state), underKeys(USER_PREFIX, user?.state ?? {})));
}

/** What a scope is after a delta. */
function after({ state }: LoadedScope, { set = {}, unset = [] }: Delta = {}): Pick<LoadedScope, 'state'> {
  const next = Object.assign(Object.create(null) as Record<string, Json>, state);
  unset.forEach((name) => delete next[name]);
  return { state: Object.assign(next, set) };
}
