// The tables of the SQLite stores, and every statement that reads or writes them.

import { toColumn } from './sql-text.js';
import type { SqlValue } from './sqlite-driver.js';
import type { ListQuery } from '../../store.js';
import type { Json } from '../../types.js';

/** The version of the schema below, as `statepad_meta` has it. */
export const SCHEMA_VERSION = 1;

/** Everything that carries our prefix, in any case, as names mean the same in any. */
export const OUR_NAMES = "SELECT type, name, sql FROM sqlite_master WHERE lower(name) GLOB 'statepad_*' ORDER BY name";

/** Makes the table that tells our databases from others. It stays as it is in every version. */
export const META = 'CREATE TABLE statepad_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID';

export const READ_META = 'SELECT value FROM statepad_meta WHERE name = ?';
export const WRITE_META = `INSERT INTO statepad_meta (name, value) VALUES (?, ?)
  ON CONFLICT (name) DO UPDATE SET value = excluded.value`;

/**
 * Makes everything else.
 *
 * - `statepad_scopes`: one row for each app and each user in it. `scope` is `["app"]` or `["app","user"]` as JSON; `n` is
 *   its number, below 0; `sessions` counts those that are there.
 * - `statepad_sessions`: one row for each session; `n` is its number, above 0.
 * - `statepad_values`: one row for each key. `owner` is the number of the scope or of the session; `value` is JSON. Keys
 *   come in the order of the change that brought them (`born`: revision or position), then of their place in it (`nth`).
 * - `statepad_events`: `place` is the session's number times 2^32 plus the revision, so that the events of a session lie
 *   side by side, in their order. It is put together with `|`: clients bind numbers as REAL, too short for `+`. `peak` is
 *   the latest `time` so far, which never falls, so that it can be searched. What a session began with is at revision 0,
 *   under the id {@link BEGINNING}; not all sessions have said it.
 * - `statepad_updates`: the changes of app and user state that were made in the last day.
 */
export const TABLES: readonly string[] = [
  `CREATE TABLE statepad_scopes (
    n INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE, pos INTEGER NOT NULL, sessions INTEGER NOT NULL
  )`,
  `CREATE TABLE statepad_sessions (
    n INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, id TEXT NOT NULL, created TEXT NOT NULL,
    rev INTEGER NOT NULL, time REAL NOT NULL, UNIQUE (app, user, id)
  )`,
  'CREATE INDEX statepad_sessions_of_app ON statepad_sessions (app, time, id, user)',
  'CREATE INDEX statepad_sessions_of_user ON statepad_sessions (app, user, time, id)',
  `CREATE TABLE statepad_values (
    owner INTEGER NOT NULL, name TEXT NOT NULL, born INTEGER NOT NULL, nth INTEGER NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (owner, name)
  ) WITHOUT ROWID`,
  `CREATE TABLE statepad_events (
    place INTEGER PRIMARY KEY, session INTEGER NOT NULL, id TEXT NOT NULL, time REAL NOT NULL, peak REAL NOT NULL,
    data TEXT NOT NULL, UNIQUE (session, id)
  )`,
  `CREATE TABLE statepad_updates (
    scope INTEGER NOT NULL, id TEXT NOT NULL, time REAL NOT NULL, PRIMARY KEY (scope, id)
  ) WITHOUT ROWID`,
  'CREATE INDEX statepad_updates_by_time ON statepad_updates (time)',
];

/** What stands for the id of a creation's event, as an event may have the same one. No text is ever written to a column so. */
export const BEGINNING = '\x01';

/** `scope`. */
export const FIND_SCOPE = 'SELECT n, pos, sessions FROM statepad_scopes WHERE scope = ?';
/** `scope`. */
export const MAKE_SCOPE = `INSERT INTO statepad_scopes (n, scope, pos, sessions)
  VALUES ((SELECT coalesce(min(n), 0) - 1 FROM statepad_scopes), ?, 0, 0)`;
/** How far its position and its number of sessions go on; `n`. */
export const MOVE_SCOPE = 'UPDATE statepad_scopes SET pos = pos + ?, sessions = sessions + ? WHERE n = ?';

/** `app`, `user`, `id`. */
export const FIND_SESSION = 'SELECT n, created, rev, time FROM statepad_sessions WHERE app = ? AND user = ? AND id = ?';
/** `app`, `user`, `id`, `created`, `time`. */
export const MAKE_SESSION = 'INSERT INTO statepad_sessions (app, user, id, created, rev, time) VALUES (?, ?, ?, ?, 0, ?)';
/** `rev`, `time`; `n`. */
export const MOVE_SESSION = 'UPDATE statepad_sessions SET rev = ?, time = ? WHERE n = ?';
/** `n`. */
export const REMOVE_SESSION = 'DELETE FROM statepad_sessions WHERE n = ?';

/** `session`, `id`. */
export const FIND_EVENT = 'SELECT data FROM statepad_events WHERE session = ? AND id = ?';
/** `session`, `rev`; `session`, `id`, `time`; `session`, `rev` before, `time`, `time`; `data`. */
export const ADD_EVENT = `INSERT INTO statepad_events (place, session, id, time, peak, data) VALUES ((? << 32) | ?, ?, ?, ?,
  max(coalesce((SELECT peak FROM statepad_events WHERE place = (? << 32) | ?), ?), ?), ?)`;
/** `session`, first `rev`; `session`, last `rev`; how many at most. From the last to the first. */
export const READ_EVENTS = `SELECT place & 4294967295 AS rev, data FROM statepad_events
  WHERE place BETWEEN (? << 32) | ? AND (? << 32) | ? ORDER BY place DESC LIMIT ?`;
/** `session`, first `rev`; `session`, last `rev`; earliest `time`; how many at most. From the last to the first. */
export const READ_EVENTS_SINCE = `SELECT place & 4294967295 AS rev, data FROM statepad_events
  WHERE place BETWEEN (? << 32) | ? AND (? << 32) | ? AND time >= ? ORDER BY place DESC LIMIT ?`;
/** `session`, `rev`. */
export const READ_PEAK = 'SELECT peak FROM statepad_events WHERE place = (? << 32) | ?';
/** `session`, twice. */
export const REMOVE_EVENTS = 'DELETE FROM statepad_events WHERE place BETWEEN ? << 32 AND (? << 32) | 4294967295';

/** `owner`. In no order. */
export const READ_VALUES = 'SELECT name, value, born, nth FROM statepad_values WHERE owner = ?';
/** `owner`, `name`. */
export const READ_VALUE = 'SELECT value FROM statepad_values WHERE owner = ? AND name = ?';
/** `owner`, `name`, `born`, `nth`, `value`. A name that is there stays where it is. */
export const SET_VALUE = `INSERT INTO statepad_values (owner, name, born, nth, value) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value`;
/** `owner`, `name`. */
export const UNSET_VALUE = 'DELETE FROM statepad_values WHERE owner = ? AND name = ?';
/** `owner`. */
export const CLEAR_VALUES = 'DELETE FROM statepad_values WHERE owner = ?';

/** `scope` by its number, `id`. */
export const FIND_UPDATE = 'SELECT 1 AS found FROM statepad_updates WHERE scope = ? AND id = ?';
/** `scope` by its number, `id`, `time` by the clock. */
export const ADD_UPDATE = 'INSERT INTO statepad_updates (scope, id, time) VALUES (?, ?, ?)';
/** The earliest `time` to keep. */
export const FORGET_UPDATES = 'DELETE FROM statepad_updates WHERE time < ?';

/**
 * The statement that reads a page of a list: those of an app (`app`), or of a user in it (`app`, `user`); behind a place
 * (see {@link placeValues}); how many at most, and how many to pass over.
 *
 * Descending, the index is read backwards, and sessions of the very same time are put in order one such group at a time.
 */
export function listSessions({ user, after, descending }: ListQuery): string {
  const behind = descending ? 'AND time <= ? AND (time < ? OR (id, user) > (?, ?))' : 'AND (time, id, user) > (?, ?, ?)';
  // Left alone, some versions of SQLite take the other index for an app, and sort all of its sessions.
  const [index, whose, ties] = user === undefined ? ['app', 'app = ?', 'id, user'] : ['user', 'app = ? AND user = ?', 'id'];
  return `SELECT n, user, id, created, rev, time FROM statepad_sessions INDEXED BY statepad_sessions_of_${index}
    WHERE ${whose} ${after === undefined ? '' : behind}
    ORDER BY time ${descending ? 'DESC' : 'ASC'}, ${ties} LIMIT ? OFFSET ?`;
}

/** What is bound for the place that a page begins behind. */
export function placeValues(descending: boolean, { time, sessionId, userId }: NonNullable<ListQuery['after']>): SqlValue[] {
  return [time, ...(descending ? [time] : []), toColumn(sessionId), toColumn(userId)];
}

/** The name of an app, or of a user in it, as `scope` has it. */
export function scopeColumn(app: string, user: string | undefined): string {
  return JSON.stringify(user === undefined ? [app] : [app, user]);
}

/** A value as `value` has it. */
export function jsonColumn(value: Json | undefined): string {
  return JSON.stringify(value);
}
