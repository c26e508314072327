// The tables of the SQLite stores.

/** The version of the tables below, as `statepad_meta` has it, and as every transaction that writes finds it there. */
export const SCHEMA_VERSION = 1;

/**
 * The fingerprint of the statements below: tables that an unreleased build has made otherwise have another one, or
 * none, and are refused. It goes with the first release.
 */
export const LAYOUT = 'b0e632f8';

/** Makes the table by which a database of statepad is known. It is the same in every version. */
export const META = 'CREATE TABLE statepad_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID';

/**
 * The least number of a scope's last changes that can be reported: `REPORTED_MOVES`, rounded up to whole rows of
 * `statepad_changes`.
 */
export const REPORTED_CHANGES = 1024;

/**
 * Makes everything but `statepad_meta`.
 *
 * - `statepad_scopes`: one row for each app and each user in it. `scope` is `["app"]` or `["app","user"]` as JSON,
 *   `name` the app or the user by itself, and `of_app` the app of a user; `n` is its number, below 0; `sessions`
 *   counts those that are there; `mark` is the change that brought it to `pos`; `recent` are its last changes, up to
 *   `pos`: each a comma and, as JSON, a list of its mark and of the names that it has set or deleted; of no names
 *   where these were too many. `log_base` is the position above which `statepad_log` has every change; NULL where
 *   that is `pos`, as the last one was not logged. `keys` is the number of its names, `bytes` that of the bytes of its
 *   names and values; `changed` is the time of its last change by the clock.
 * - `statepad_sessions`: one row for each session; `n` is its number, above 0. `digest` is that of its creation; in
 *   the tables of updates, calls and creations it is that of the change. It is NULL where there was none. `fence` is
 *   the token of its last lease, `holder` who has that lease, until `held_until`. `keys` and `bytes` are as in
 *   `statepad_scopes`. From `expires` on, a time by the clock, it counts as removed; each append moves that to `ttl`
 *   milliseconds later. Either is NULL where there is none.
 * - `statepad_values`: one row for each key. `owner` is the number of the scope or of the session; `value` is JSON of
 *   `size` bytes.
 *   Keys come in the order of the change that brought them (`born`: revision or position), then of their place in it
 *   (`nth`).
 * - `statepad_events`: `place` is the session's number times 2^32 plus the revision, so that the events of a session
 *   lie side by side, in their order. It is put together with `|`: clients bind numbers as REAL, too short for `+`.
 *   `peak` is the latest `time` so far, which never falls, so that it can be searched. What a session began with is at
 *   revision 0, under the id `BEGINNING`, where its creation said it. `results` is JSON: what operators came to, by
 *   scope and name. `app_pos` and `user_pos` are where the scopes were after it; NULL where no log was kept.
 * - `statepad_updates`: the changes of app and user state that were made in the last day, and as in `statepad_events`
 *   their `results`.
 * - `statepad_changes`: changes that were `recent` earlier, up to `pos`, many in a row: so each change writes to the
 *   row of its scope only, which it writes to anyway, and now and then to this table.
 * - `statepad_calls`: the calls that were refused in the last day, of those that had been tried before.
 * - `statepad_creations`: the creations of sessions that were deleted in the last day.
 * - `statepad_claims`: the leases of the storage, by their names; the columns are as in `statepad_sessions`.
 * - `statepad_log`: one row for each write to a scope: `owner` is the scope's number, `pos` the position that it came
 *   to, `nth` the place among the writes of that change; `before` and `value` are JSON, NULL where the name was not
 *   there. A row without a `name` says who has written, and when; the others say it as well, unless they are long: one
 *   with a `name` has `before` or `value` alone then, and two of one name are one write.
 */
export const TABLES: readonly string[] = [
  `CREATE TABLE statepad_scopes (
    n INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE, of_app TEXT, name TEXT NOT NULL, pos INTEGER NOT NULL,
    sessions INTEGER NOT NULL, keys INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, changed REAL,
    mark TEXT, recent TEXT NOT NULL DEFAULT '', log_base INTEGER
  )`,
  'CREATE INDEX statepad_scopes_by_name ON statepad_scopes (of_app, name)',
  `CREATE INDEX statepad_scopes_idle ON statepad_scopes (changed, of_app)
    WHERE of_app IS NOT NULL AND sessions = 0 AND keys > 0`,
  `CREATE TABLE statepad_sessions (
    n INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, id TEXT NOT NULL, created TEXT NOT NULL,
    rev INTEGER NOT NULL, time REAL NOT NULL, keys INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0,
    ttl REAL, expires REAL, digest TEXT, fence INTEGER NOT NULL DEFAULT 0, holder TEXT, held_until REAL,
    UNIQUE (app, user, id)
  )`,
  'CREATE INDEX statepad_sessions_of_app ON statepad_sessions (app, time, id, user)',
  'CREATE INDEX statepad_sessions_of_user ON statepad_sessions (app, user, time, id)',
  'CREATE INDEX statepad_sessions_of_id ON statepad_sessions (app, id, user)',
  'CREATE INDEX statepad_sessions_by_expiry ON statepad_sessions (expires, app) WHERE expires IS NOT NULL',
  `CREATE INDEX statepad_sessions_of_user_by_expiry ON statepad_sessions (app, user, expires)
    WHERE expires IS NOT NULL`,
  `CREATE TABLE statepad_values (
    owner INTEGER NOT NULL, name TEXT NOT NULL, born INTEGER NOT NULL, nth INTEGER NOT NULL, size INTEGER NOT NULL,
    value TEXT NOT NULL, PRIMARY KEY (owner, name)
  ) WITHOUT ROWID`,
  `CREATE TABLE statepad_events (
    place INTEGER PRIMARY KEY, session INTEGER NOT NULL, id TEXT NOT NULL, time REAL NOT NULL, peak REAL NOT NULL,
    data TEXT NOT NULL, results TEXT, app_pos INTEGER, user_pos INTEGER, UNIQUE (session, id)
  )`,
  `CREATE TABLE statepad_updates (
    scope INTEGER NOT NULL, id TEXT NOT NULL, time REAL NOT NULL, results TEXT, digest TEXT, PRIMARY KEY (scope, id)
  ) WITHOUT ROWID`,
  'CREATE INDEX statepad_updates_by_time ON statepad_updates (time)',
  `CREATE TABLE statepad_changes (
    owner INTEGER NOT NULL, pos INTEGER NOT NULL, entries TEXT NOT NULL, PRIMARY KEY (owner, pos)
  ) WITHOUT ROWID`,
  `CREATE TRIGGER statepad_changes_trim AFTER INSERT ON statepad_changes BEGIN
    DELETE FROM statepad_changes WHERE owner = new.owner AND pos <= new.pos - ${REPORTED_CHANGES}; END`,
  'CREATE TABLE statepad_calls (id TEXT PRIMARY KEY, time REAL NOT NULL, digest TEXT) WITHOUT ROWID',
  'CREATE INDEX statepad_calls_by_time ON statepad_calls (time)',
  `CREATE TABLE statepad_creations (
    id TEXT PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, session TEXT NOT NULL, time REAL NOT NULL, digest TEXT
  ) WITHOUT ROWID`,
  'CREATE INDEX statepad_creations_by_time ON statepad_creations (time)',
  `CREATE TABLE statepad_claims (
    name TEXT PRIMARY KEY, fence INTEGER NOT NULL, holder TEXT, held_until REAL
  ) WITHOUT ROWID`,
  `CREATE TABLE statepad_log (
    owner INTEGER NOT NULL, pos INTEGER NOT NULL, nth INTEGER NOT NULL, name TEXT, before TEXT, value TEXT,
    time REAL NOT NULL, user TEXT, session TEXT, event TEXT, PRIMARY KEY (owner, pos, nth)
  ) WITHOUT ROWID`,
];
