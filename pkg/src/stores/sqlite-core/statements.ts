// Every statement that reads or writes the tables of the SQLite stores. The comment of each
// names its parameters, in their order.

import { toColumn } from '../shared/column-text.js';
import type { SqlValue } from './driver.js';
import type { ListQuery, NameQuery } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/**
 * All tables, indexes and triggers whose names begin with `statepad_`, in upper or lower case: SQLite ignores the
 * case.
 */
export const OUR_NAMES = "SELECT type, name, sql FROM sqlite_master WHERE lower(name) GLOB 'statepad_*' ORDER BY name";

export const READ_META = "SELECT name, value FROM statepad_meta WHERE name IN ('layout', 'version')";
export const READ_VERSION = "SELECT value FROM statepad_meta WHERE name = 'version'";
export const WRITE_META = `INSERT INTO statepad_meta (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/**
 * A placeholder for the id of a creation's event, as an event may have the same one. No text is ever written to a
 * column so.
 */
export const BEGINNING = '\x01';

/** The columns that describe an app, a user, a session and its last event, and the tables that they come from. */
const PLACE = [
  `a.n AS appN, a.pos AS appPos, a.mark AS appMark, u.n AS userN, u.pos AS userPos, u.mark AS userMark,
    s.n, s.created, s.rev, s.time, e.id AS last, e.peak, s.expires`,
  `LEFT JOIN statepad_scopes AS a ON a.scope = ?
  LEFT JOIN statepad_scopes AS u ON u.scope = ?
  LEFT JOIN statepad_sessions AS s ON s.app = ? AND s.user = ? AND s.id = ?
  LEFT JOIN statepad_events AS e ON e.place = (s.n << 32 | s.rev)`,
] as const;

/** One row: `scope` of the app, of the user; `app`, `user`, `id` of the session. */
export const FIND = `SELECT ${PLACE[0]} FROM (SELECT 1) ${PLACE[1]}`;
/**
 * The same for a writer, with an event that may be sent again, whether a call was refused, the version of the tables,
 * the sizes of the scopes and the session's `ttl` behind it: `call`; the parameters of {@link FIND}; `id` of the
 * event. Each may be NULL, and nothing is found by it then.
 */
export const FIND_TO_WRITE = `SELECT ${PLACE[0]},
    d.data AS event_data, (SELECT 1 FROM statepad_calls WHERE id = ?) AS refused, m.value AS version,
    a.keys AS appKeys, a.bytes AS appBytes, u.keys AS userKeys, u.bytes AS userBytes, s.keys, s.bytes, s.ttl
  FROM statepad_meta AS m ${PLACE[1]}
  LEFT JOIN statepad_events AS d ON d.session = s.n AND d.id = ?
  WHERE m.name = 'version'`;

/** `scope`. */
export const FIND_SCOPE = 'SELECT n, pos, sessions, mark FROM statepad_scopes WHERE scope = ?';
/** `scope`, `of_app`, `name`. */
export const MAKE_SCOPE = `INSERT INTO statepad_scopes (n, scope, of_app, name, pos, sessions)
  VALUES ((SELECT coalesce(min(n), 0) - 1 FROM statepad_scopes), ?, ?, ?, 0, 0)`;
const MOVE = `UPDATE statepad_scopes SET pos = ?, mark = ?, recent = recent || ?, sessions = sessions + ?,
  keys = keys + ?, bytes = bytes + ?, changed = ?, log_base =`;
/**
 * `pos`, `mark`, what comes to `recent`, how many sessions more, how many keys, how many bytes, `changed`; `n`. The
 * change is in the log.
 */
export const MOVE_SCOPE = `${MOVE} coalesce(log_base, pos) WHERE n = ?`;
/** The same for a change that is not in the log: nothing that is there is of use to those who read on from it. */
export const MOVE_UNLOGGED = `${MOVE} NULL WHERE n = ?`;
/** The number of further sessions; `n`. */
export const COUNT_SESSIONS = 'UPDATE statepad_scopes SET sessions = sessions + ? WHERE n = ?';
const CLEAR = `UPDATE statepad_scopes
  SET pos = pos + 1, mark = NULL, recent = '', keys = 0, bytes = 0, log_base =`;
/** `n`. */
export const CLEAR_SCOPE = `${CLEAR} coalesce(log_base, pos) WHERE n = ?`;
/** `n`. */
export const CLEAR_UNLOGGED = `${CLEAR} NULL WHERE n = ?`;
/** `n`. */
export const READ_RECENT = 'SELECT pos, recent AS entries FROM statepad_scopes WHERE n = ?';
/** `n`. */
export const KEEP_RECENT = `INSERT INTO statepad_changes (owner, pos, entries)
  SELECT n, pos, recent FROM statepad_scopes WHERE n = ?`;
/** `n`. */
export const CLEAR_RECENT = "UPDATE statepad_scopes SET recent = '' WHERE n = ?";

/** `app`, `user`, `id`. */
export const FIND_SESSION =
  'SELECT n, created, rev, expires FROM statepad_sessions WHERE app = ? AND user = ? AND id = ?';
/** `app`, `user`, `id`, `created`, `time`, `keys`, `bytes`, `ttl`, `expires`, `digest`. */
export const MAKE_SESSION = `INSERT INTO statepad_sessions
  (app, user, id, created, rev, time, keys, bytes, ttl, expires, digest) VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)`;
/** `n`. */
export const READ_DIGEST = 'SELECT digest FROM statepad_sessions WHERE n = ?';
/** The statement that finds the users of an id by a present time: `app`, `id`. */
export const ownersBy = (now: string): string => `SELECT user FROM statepad_sessions
  INDEXED BY statepad_sessions_of_id
  WHERE app = ? AND id = ? AND (expires IS NULL OR expires > ${now}) ORDER BY user`;
/** `app`, `id`, the present time. */
export const READ_OWNERS = ownersBy('?');
const MOVE_ON = 'UPDATE statepad_sessions SET rev = ?, time = ?';
/** `rev`, `time`; `n`. */
export const MOVE_SESSION = `${MOVE_ON} WHERE n = ?`;
/** `rev`, `time`, how many keys more, how many bytes; `n`. */
export const GROW_SESSION = `${MOVE_ON}, keys = keys + ?, bytes = bytes + ? WHERE n = ?`;
/** The same with `expires` before `n`. */
export const MOVE_EXPIRY = `${MOVE_ON}, keys = keys + ?, bytes = bytes + ?, expires = ? WHERE n = ?`;
/** `n`. */
export const READ_LEASE = 'SELECT fence, holder, held_until AS until FROM statepad_sessions WHERE n = ?';
/** `fence`, `holder`, `held_until`; `n`. */
export const SET_LEASE = 'UPDATE statepad_sessions SET fence = ?, holder = ?, held_until = ? WHERE n = ?';
/** `n`. */
export const REMOVE_SESSION = 'DELETE FROM statepad_sessions WHERE n = ?';

/** `session`, `rev`; `session`, `id`, `time`, `peak`, `data`, `results`, `app_pos`, `user_pos`. */
export const ADD_EVENT = `INSERT INTO statepad_events
  (place, session, id, time, peak, data, results, app_pos, user_pos) VALUES ((? << 32) | ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
/** The columns of an event that `eventIn` reads. */
export const EVENT_COLUMNS = `place & 4294967295 AS rev, id, data, results, app_pos, user_pos`;
/** `session`, first `rev`; `session`, last `rev`; how many at most. From the last to the first. */
export const READ_EVENTS = `SELECT ${EVENT_COLUMNS} FROM statepad_events
  WHERE place BETWEEN (? << 32) | ? AND (? << 32) | ? ORDER BY place DESC LIMIT ?`;
/** `session`, first `rev`; `session`, last `rev`; earliest `time`; how many at most. From the last to the first. */
export const READ_EVENTS_SINCE = `SELECT ${EVENT_COLUMNS} FROM statepad_events
  WHERE place BETWEEN (? << 32) | ? AND (? << 32) | ? AND time >= ? ORDER BY place DESC LIMIT ?`;
/** `session`, `rev`. */
export const READ_PEAK = 'SELECT peak FROM statepad_events WHERE place = (? << 32) | ?';
/** `session`, `rev`. */
export const READ_EVENT_ID = 'SELECT id FROM statepad_events WHERE place = (? << 32) | ?';
/** `session`, `id`. */
export const READ_RESULTS = 'SELECT results FROM statepad_events WHERE session = ? AND id = ?';
/** `session`, twice. */
export const REMOVE_EVENTS = 'DELETE FROM statepad_events WHERE place BETWEEN ? << 32 AND (? << 32) | 4294967295';

/** `owner`. In no order. */
export const READ_VALUES = 'SELECT name, value, born, nth FROM statepad_values WHERE owner = ?';
/** `owner`, `name`. */
export const READ_SIZE = 'SELECT size FROM statepad_values WHERE owner = ? AND name = ?';
/** `owner`, `name`. */
export const READ_BEFORE = 'SELECT size, value FROM statepad_values WHERE owner = ? AND name = ?';
/** `owner`, `name`. */
export const READ_VALUE = 'SELECT name, value, born, nth FROM statepad_values WHERE owner = ? AND name = ?';
/** The most values that one statement writes. */
export const MOST_VALUES = 8;

const SET_VALUES = Array.from(
  { length: MOST_VALUES },
  (_, more) => `INSERT INTO statepad_values (owner, name, born, nth, size, value)
  VALUES (?, ?, ?, ?, ?, ?)${', (?, ?, ?, ?, ?, ?)'.repeat(more)}
  ON CONFLICT (owner, name) DO UPDATE SET size = excluded.size, value = excluded.value`,
);

/**
 * The statement that writes so many values, {@link MOST_VALUES} at most: `owner`, `name`, `born`, `nth`, `size`,
 * `value` of each. A name that is there stays where it is.
 */
export function setValues(count: number): string {
  return SET_VALUES[count - 1] as string;
}

/** `owner`, `name`. */
export const UNSET_VALUE = 'DELETE FROM statepad_values WHERE owner = ? AND name = ?';
/** `owner`. */
export const CLEAR_VALUES = 'DELETE FROM statepad_values WHERE owner = ?';

/** `scope` by its number, `id`. */
export const FIND_UPDATE = 'SELECT results, digest FROM statepad_updates WHERE scope = ? AND id = ?';
/** `scope` by its number, `id`, `time` by the clock, `results`, `digest`. */
export const ADD_UPDATE = 'INSERT INTO statepad_updates (scope, id, time, results, digest) VALUES (?, ?, ?, ?, ?)';
/** The earliest `time` to keep. */
export const FORGET_UPDATES = 'DELETE FROM statepad_updates WHERE time < ?';

/** `owner`, first `pos`. */
export const READ_CHANGES = 'SELECT pos, entries FROM statepad_changes WHERE owner = ? AND pos >= ? ORDER BY pos';
/** `owner`. */
export const CLEAR_CHANGES = 'DELETE FROM statepad_changes WHERE owner = ?';

/** `id`. */
export const FIND_CALL = 'SELECT digest FROM statepad_calls WHERE id = ?';
/** `id`, `time` by the clock, `digest`. The digest of the first refusal stays. */
export const ADD_CALL = `INSERT INTO statepad_calls (id, time, digest) VALUES (?, ?, ?)
  ON CONFLICT (id) DO UPDATE SET time = excluded.time`;
/** The earliest `time` to keep. */
export const FORGET_CALLS = 'DELETE FROM statepad_calls WHERE time < ?';

/** `id`. */
export const FIND_CREATION = 'SELECT digest FROM statepad_creations WHERE id = ?';
/** `time` by the clock; `n` of the session. */
export const ADD_CREATION = `INSERT INTO statepad_creations (id, app, user, session, time, digest)
  SELECT created, app, user, id, ?, digest FROM statepad_sessions WHERE n = ?
  ON CONFLICT (id) DO UPDATE SET time = excluded.time, digest = excluded.digest`;
/** The earliest `time` to keep. */
export const FORGET_CREATIONS = 'DELETE FROM statepad_creations WHERE time < ?';

/** `name`. */
export const READ_CLAIM = 'SELECT fence, holder, held_until AS until FROM statepad_claims WHERE name = ?';
/** `name`, `fence`, `holder`, `held_until`. */
export const SET_CLAIM = `INSERT INTO statepad_claims (name, fence, holder, held_until) VALUES (?, ?, ?, ?)
  ON CONFLICT (name) DO UPDATE SET fence = excluded.fence, holder = excluded.holder, held_until = excluded.held_until`;

/**
 * The statement that reads a page of a list: those of an app (`app`), or of a user in it (`app`, `user`), that have
 * not expired by the present time; behind a place (see {@link placeValues}); how many at most, and how many to pass
 * over.
 *
 * Descending, the index is read backwards, and sessions of the very same time are put in order one such group at a
 * time.
 */
export function listSessions({ user, after, descending }: ListQuery, now = '?'): string {
  const behind = descending
    ? 'AND time <= ? AND (time < ? OR (id, user) > (?, ?))'
    : 'AND (time, id, user) > (?, ?, ?)';
  // Without INDEXED BY some versions of SQLite take the other index for an app, and sort all of its sessions.
  const [index, whose, ties] =
    user === undefined ? ['app', 'app = ?', 'id, user'] : ['user', 'app = ? AND user = ?', 'id'];
  return `SELECT n, user, id, created, rev, time, expires FROM statepad_sessions
    INDEXED BY statepad_sessions_of_${index}
    WHERE ${whose} AND (expires IS NULL OR expires > ${now}) ${after === undefined ? '' : behind}
    ORDER BY time ${descending ? 'DESC' : 'ASC'}, ${ties} LIMIT ? OFFSET ?`;
}

/** The parameters of the place that a page begins behind. */
export function placeValues(
  descending: boolean,
  { time, sessionId, userId }: NonNullable<ListQuery['after']>,
): SqlValue[] {
  return [time, ...(descending ? [time] : []), toColumn(sessionId), toColumn(userId)];
}

/**
 * The statement that reads names of the list of apps, or of the users in an app (`app`): behind one of them (`name`);
 * how many at most.
 */
export function listNames(kind: 'app' | 'user', { after }: NameQuery): string {
  const hasValue = (owner: string): string => `EXISTS (SELECT 1 FROM statepad_values AS v WHERE v.owner = ${owner}.n)`;
  const hasUser = `EXISTS (SELECT 1 FROM statepad_scopes AS u WHERE u.of_app = s.name AND ${hasValue('u')})`;
  return `SELECT s.name FROM statepad_scopes AS s
    WHERE s.of_app ${kind === 'app' ? 'IS NULL' : '= ?'} ${after === undefined ? '' : 'AND s.name > ?'}
    AND (s.sessions > 0 OR ${hasValue('s')}${kind === 'app' ? ` OR ${hasUser}` : ''}) ORDER BY s.name LIMIT ?`;
}

/** The parameters of {@link listNames}: one name more than are wanted shows that there are more. */
export function nameValues(app: string | undefined, { after, limit = Infinity }: NameQuery): SqlValue[] {
  return [
    ...(app === undefined ? [] : [toColumn(app)]),
    ...(after === undefined ? [] : [toColumn(after)]),
    Math.min(limit + 1, Number.MAX_SAFE_INTEGER),
  ];
}

/** An app, or a user in it, as the column `scope` names it. */
export function scopeColumn(app: string, user: string | undefined): string {
  return JSON.stringify(user === undefined ? [app] : [app, user]);
}

/** A value as the column `value` holds it. */
export function jsonColumn(value: Json | undefined): string {
  return JSON.stringify(value);
}
