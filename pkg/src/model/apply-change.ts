// Keeps a session up to date by the changes of a watch.

import { isDeleted, storedDeletions, type Deleted } from './deletion.js';
import { put } from './json.js';
import { APP_PREFIX, nameOf, USER_PREFIX } from './scope.js';
import type { Json, Session } from './types.js';
import type { EventChange, WholeSessionChange } from './watch.js';

type State = Readonly<Record<string, Json>>;

/** The scopes in the order in which a state shows them. */
const ORDER = { session: 0, app: 1, user: 2 } as const;

/**
 * The session after a change from a `SessionService.watch` of a whole session. Arguments are never modified: the
 * answer is a frozen, plain object that shares all unchanged parts with the session before, and is that same session
 * when nothing changed. After the last change, state and events are those of the service.
 *
 * @example
 * let session: Session | undefined;
 * for await (const change of service.watch({ ...key, whole: true })) {
 *   session = applyChange(session, change);
 * }
 *
 * @param session The session before; it may be absent where the change has the whole session.
 * @returns `undefined` when the session was deleted.
 */
export function applyChange(session: Session | undefined, change: WholeSessionChange): Session | undefined {
  if (change.type === 'deleted') {
    return undefined;
  }
  if (change.type === 'session' || session === undefined) {
    return change.type === 'session' ? plain(change.session) : undefined;
  }
  if (change.type === 'values') {
    const state = withValues(session.state, change);
    return state === session.state ? session : plain({ ...plainMembers(session), state });
  }
  return change.revision > session.revision ? withEvent(session, change) : session;
}

function withEvent(session: Session, { event, revision, expireTime = session.expireTime }: EventChange): Session {
  const deleted = new Set(storedDeletions(event.customMetadata));
  const writes: [string, Json | undefined][] = [];
  for (const [key, value] of Object.entries(event.actions.stateDelta)) {
    if (nameOf(key)[0] === 'session') {
      writes.push([key, deleted.has(key) ? undefined : (value as Json)]);
    }
  }
  return plain({
    ...plainMembers(session),
    state: writes.length === 0 ? session.state : withWrites(session.state, writes),
    events: Object.freeze([...session.events, event]),
    lastUpdateTime: event.timestamp,
    revision,
    expireTime,
  });
}

function withValues(before: State, { scope, from, delta }: WholeSessionChange & { readonly type: 'values' }): State {
  const writes = Object.entries(delta).map(([key, value]): [string, Json | undefined] => [
    key,
    isDeleted(value) ? undefined : (value as Exclude<typeof value, Deleted>),
  ]);
  const prefix = scope === 'app' ? APP_PREFIX : USER_PREFIX;
  const missing =
    from > 0 ? [] : Object.keys(before).filter((key) => key.startsWith(prefix) && !Object.hasOwn(delta, key));
  return writes.length + missing.length === 0
    ? before
    : withWrites(before, [...writes, ...missing.map((key): [string, undefined] => [key, undefined])]);
}

/** The state after writes to its keys; `undefined` deletes. New keys go to the end of their scope. */
function withWrites(before: State, writes: readonly (readonly [string, Json | undefined])[]): State {
  const state: Record<string, Json> = { ...before };
  let isNew = false;
  for (const [key, value] of writes) {
    if (value === undefined) {
      delete state[key];
    } else {
      isNew ||= !Object.hasOwn(state, key);
      put(state, key, value);
    }
  }
  return Object.freeze(isNew ? inOrder(state) : state);
}

function inOrder(state: State): State {
  const parts: Record<string, Json>[] = [{}, {}, {}];
  for (const key of Object.keys(state)) {
    put(parts[ORDER[nameOf(key)[0]]] as Record<string, Json>, key, state[key] as Json);
  }
  const [own, app, user] = parts;
  return { ...own, ...app, ...user };
}

/** The members of a session as plain values: those of a handle are computed. */
function plainMembers(session: Session): Session {
  const { id, appName, userId, state, events, lastUpdateTime, revision, expireTime } = session;
  const end = expireTime === undefined ? {} : { expireTime };
  return { id, appName, userId, state, events, lastUpdateTime, revision, ...end };
}

function plain(session: Session): Session {
  return Object.freeze(plainMembers(session));
}
