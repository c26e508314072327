// Databases of adk-go and adk-java, made by hand from their public sources, in SQLite and Postgres. Those in MySQL are
// in tests/hosts/mysql.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import Database from 'better-sqlite3';
import Libsql from 'libsql';
import Wasm from 'node-sqlite3-wasm';
import pg from 'pg';
import { SessionService } from 'statepad';
import { adkReadStore, identifyAdk, importAdk } from 'statepad/import-adk';
import { postgresForTests } from '../support/postgres.mjs';
import { GO, JAVA, goRows, goTables, held, javaRows, javaTables } from './adk-go-java.mjs';
import { PYTHON_V1 } from './tables.mjs';

const statepad = { adkReadStore, identifyAdk, importAdk, SessionService };

/** A SQLite database with tables and rows. */
function sqliteOf(tables, rows) {
  const database = new Database(':memory:');
  tables.forEach((sql) => database.exec(sql));
  for (const [table, names, values] of rows) {
    database.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`).run(...values);
  }
  return database;
}

const JAVA_IN_SQLITE = { json: 'JSON', time: 'TIMESTAMP', sequence: 'INTEGER PRIMARY KEY AUTOINCREMENT' };

test('a SQLite database of adk-go comes over', async () => {
  await held(assert, statepad, sqliteOf(goTables('sqlite'), goRows('sqlite')), 'adk-go', GO);
});

test('a Postgres database of adk-go comes over', async (t) => {
  const { server, skip } = await postgresForTests();
  if (server === undefined) return t.skip(skip);
  const pool = new pg.Pool({ connectionString: server.url });
  // A connection that is closing may be cut when the server stops.
  pool.on('error', () => undefined);
  try {
    for (const sql of goTables('postgres')) await pool.query(sql);
    for (const [table, names, values] of goRows('postgres')) {
      await pool.query(`INSERT INTO ${table} (${names}) VALUES (${names.map((_, n) => `$${n + 1}`)})`, values);
    }
    await held(assert, statepad, pool, 'adk-go', GO);
  } finally {
    await pool.end();
    await server.stop();
  }
});

test('a database of adk-go in PGlite comes over', async () => {
  const database = new PGlite();
  for (const sql of goTables('postgres')) await database.query(sql);
  for (const [table, names, values] of goRows('postgres')) {
    await database.query(`INSERT INTO ${table} (${names}) VALUES (${names.map((_, n) => `$${n + 1}`)})`, values);
  }
  await held(assert, statepad, database, 'adk-go', GO);
  await database.close();
});

test('a database is read by libsql and node-sqlite3-wasm, too', async () => {
  const rows = goRows('sqlite');
  for (const database of [new Libsql(':memory:'), new Wasm.Database(':memory:')]) {
    for (const sql of goTables('sqlite')) database.exec(sql);
    for (const [table, names, values] of rows) {
      const statement = database.prepare(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`);
      statement.run(values);
      statement.finalize?.();
    }
    await held(assert, statepad, database, 'adk-go', GO);
    database.close();
  }
});

test('tables of adk-java come over, by { dialect, query }, with what it has deleted', async () => {
  const tables = sqliteOf(javaTables(JAVA_IN_SQLITE), javaRows());
  const database = { dialect: 'sqlite', query: (sql, values) => tables.prepare(sql).all(...values) };
  const service = await held(assert, statepad, database, 'adk-java', JAVA);
  const session = await service.getSession({ appName: 'shop', userId: 'ana', sessionId: 'java' });
  assert.deepEqual(await service.stateAt(session, 0), { begun: 1 });
});

describe('whose database it is', () => {
  const metadata = (version) => PYTHON_V1.replace("'schema_version', '1'", `'schema_version', '${version}'`);
  const nullable = PYTHON_V1.replace(/(invocation_id VARCHAR\(256\)|timestamp DATETIME) NOT NULL/g, '$1');
  for (const [what, tables, kind, sign] of [
    ['nothing at all', [], 'unknown', /^there are no tables of sessions$/],
    ['tables of another program', ['CREATE TABLE sessions (id TEXT)'], 'unknown', /the tables sessions \(id\)/],
    ['tables of adk-python', [PYTHON_V1], 'adk-python-v1', /schema_version 1/],
    ['a later schema of adk-python', [metadata(2)], 'unknown', /schema_version 2/],
    ['no version', [PYTHON_V1, 'DELETE FROM adk_internal_metadata'], 'unknown', /schema_version \(nothing\)/],
    ['no metadata', [PYTHON_V1, 'DROP TABLE adk_internal_metadata'], 'unknown', /no table adk_internal_metadata/],
    ['tables that Flyway made for adk-java', [nullable], 'adk-java-v1', /may be NULL/],
    ['empty tables of adk-go', goTables('sqlite'), 'adk-go', /there are no events, and sessions.app_name is text/],
    [
      'empty tables of schema 0',
      goTables('sqlite').map((sql) => sql.replaceAll(' text', ' VARCHAR(128)')),
      'adk-python-v0',
      /there are no events, and sessions.app_name is varchar\(128\)/,
    ],
    [
      'actions that are neither',
      [...goTables('sqlite'), "INSERT INTO events (id, actions) VALUES ('e', x'00')"],
      'unknown',
      /neither a pickle nor JSON/,
    ],
  ]) {
    test(`${what}: ${kind}`, async () => {
      const identity = await identifyAdk(sqliteOf(tables, []));
      assert.deepEqual([identity.kind, identity.dialect], [kind, 'sqlite']);
      assert.match(identity.signs.join('; '), sign);
    });
  }
});
