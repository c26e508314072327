/** Rows in SQLite, by better-sqlite3, of tables and indexes as the store has them. */

import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import { rawService } from './service.mjs';

const TABLES = `
  CREATE TABLE scopes (n INTEGER PRIMARY KEY, pos INTEGER NOT NULL, mark TEXT, recent TEXT NOT NULL);
  CREATE TABLE sessions (
    n INTEGER PRIMARY KEY, app TEXT NOT NULL, user TEXT NOT NULL, id TEXT NOT NULL, rev INTEGER NOT NULL,
    time REAL NOT NULL, UNIQUE (app, user, id)
  );
  CREATE INDEX sessions_of_app ON sessions (app, time, id, user);
  CREATE INDEX sessions_of_user ON sessions (app, user, time, id);
  CREATE TABLE state (
    owner INTEGER NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, pos INTEGER NOT NULL, PRIMARY KEY (owner, name)
  ) WITHOUT ROWID;
  CREATE TABLE events (
    place INTEGER PRIMARY KEY, session INTEGER NOT NULL, id TEXT NOT NULL, time REAL NOT NULL, data TEXT NOT NULL,
    UNIQUE (session, id)
  );
  INSERT INTO scopes VALUES (-1, 0, NULL, '');
`;

/** A service over a new file. */
export function rawSqlite(path) {
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.exec(TABLES);
  const addScope = database.prepare("INSERT INTO scopes VALUES (?, 0, NULL, '')");
  const addSession = database.prepare('INSERT INTO sessions VALUES (?, ?, ?, ?, 0, 0)');
  const moveScope = database.prepare('UPDATE scopes SET pos = pos + 1, mark = ?, recent = ? WHERE n = ?');
  const moveSession = database.prepare('UPDATE sessions SET rev = ?, time = ? WHERE n = ?');
  const addEvent = database.prepare('INSERT INTO events VALUES ((? << 32) | ?, ?, ?, ?, ?)');
  const setValue = database.prepare(`INSERT INTO state VALUES (?, ?, ?, ?)
    ON CONFLICT (owner, name) DO UPDATE SET value = excluded.value, pos = excluded.pos`);
  const create = database.transaction(({ appName, userId, id, number }) => {
    addScope.run(-1 - number);
    addSession.run(number, appName, userId, id);
  });
  const write = database.transaction(({ session: { number, rev }, id, time, data, values }) => {
    const mark = randomUUID();
    for (const [scope, owner] of [
      ['app', -1],
      ['user', -1 - number],
    ]) {
      moveScope.run(mark, `,["${mark}","${values[scope][0]?.[0]}"]`, owner);
      for (const [name, value] of values[scope]) setValue.run(owner, name, value, rev);
    }
    for (const [name, value] of values.session) setValue.run(number, name, value, rev);
    addEvent.run(number, rev, number, id, time, data);
    moveSession.run(rev, time, number);
  });
  return {
    connect: () => rawService({ open: async () => {}, create, write: write.immediate }),
    close: async () => database.close(),
  };
}
