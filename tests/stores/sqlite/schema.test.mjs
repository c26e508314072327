// The tables of the SQLite store: made, recognised, refused; and what else lies in the file.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { sqliteStore } from 'statepad/stores/sqlite';
import {
  creation,
  dump,
  event,
  failure,
  hasLog,
  key,
  libraries,
  madeBy,
  observed,
  plain,
  rows,
  update,
  withFile,
} from './libraries.mjs';

const modes = ['create', 'upgrade', 'check'];

/** The statements that drop all tables. */
function dropAll(database) {
  const tables = rows(database, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'");
  return tables.map((table) => `DROP TABLE ${table.name};`).join(' ');
}

/** A file that these statements fill is refused in every mode, and stays as it is. */
function isRefused(name, statements) {
  return withFile(name, async (file) => {
    const database = file.connect();
    database.exec(statements);
    const before = dump(database);
    for (const migrate of modes) {
      assert.equal(await failure(plain(sqliteStore(database)).open({ migrate })), 'rejected', migrate);
    }
    assert.deepEqual(dump(database), before);
  });
}

for (const name of Object.keys(libraries)) {
  const made = await madeBy(name);

  test(`${name}: what one has made, every mode opens, and changes nothing`, () =>
    withFile(name, async (file) => {
      const store = plain(file.store());
      await store.open({ migrate: 'create' });
      await store.commit(creation('s'));
      const before = dump(file.connect());
      for (const migrate of modes) {
        const another = plain(file.store());
        await another.open({ migrate });
        assert.equal((await another.load(key('s'), {})).created, 's');
      }
      assert.deepEqual(dump(file.connect()), before);
    }));

  test(`${name}: 'upgrade' makes what is missing; 'check' refuses to, and leaves the file as it is`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      database.exec('PRAGMA journal_mode = DELETE');
      assert.equal(await failure(plain(sqliteStore(database)).open({ migrate: 'check' })), 'rejected');
      assert.equal(readFileSync(file.path).length, 0);
      const store = plain(sqliteStore(database));
      await store.open({ migrate: 'upgrade' });
      assert.equal((await store.commit(creation('s'))).rev, 0);
    }));

  for (const version of ['0', '2', '100', 'one', '-1']) {
    test(`${name}: tables of version ${version} are refused, and stay as they are`, () =>
      isRefused(name, `${made}; UPDATE statepad_meta SET value = '${version}' WHERE name = 'version'`));
  }

  test(`${name}: a version that is not this one's is refused with what to do`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      database.exec(`${made}; UPDATE statepad_meta SET value = '0' WHERE name = 'version'`);
      const open = (migrate) => plain(sqliteStore(database)).open({ migrate });
      await assert.rejects(open('create'), /has version 0, older than 1: .*'upgrade'/);
      await assert.rejects(open('upgrade'), /no upgrade from version 0/);
      database.exec("UPDATE statepad_meta SET value = '2' WHERE name = 'version'");
      await assert.rejects(open('upgrade'), /has version 2, newer than 1: update statepad/);
    }));

  const foreign = {
    'a table with our prefix': 'CREATE TABLE statepad_notes (n INTEGER)',
    'a table with our prefix in capitals': 'CREATE TABLE StatePad_Events (n INTEGER)',
    'a table with the name of one of ours': 'CREATE TABLE statepad_sessions (n INTEGER PRIMARY KEY, app TEXT)',
    'a view with our prefix': 'CREATE VIEW statepad_view AS SELECT 1 AS n',
    'another statepad_meta': 'CREATE TABLE statepad_meta (version INTEGER); INSERT INTO statepad_meta VALUES (1)',
    'a statepad_meta that says nothing':
      'CREATE TABLE statepad_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID',
    'one more table beside ours': `${made}; CREATE TABLE statepad_notes (n INTEGER)`,
    'one of ours missing': `${made}; DROP TABLE statepad_updates`,
    'an index of ours missing': `${made}; DROP INDEX statepad_sessions_of_app`,
  };
  for (const [what, statements] of Object.entries(foreign)) {
    test(`${name}: ${what} is refused, and nothing is made or changed`, () => isRefused(name, statements));
  }

  test(`${name}: other tables, indexes, views and triggers of the file are never touched`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      database.exec(`
        CREATE TABLE sessions (id TEXT PRIMARY KEY, n INTEGER);
        CREATE TABLE "statepad" (n INTEGER);
        CREATE TABLE xstatepad_events (n INTEGER);
        CREATE INDEX of_n ON sessions (n);
        CREATE VIEW events AS SELECT * FROM sessions;
        CREATE TRIGGER on_insert AFTER INSERT ON sessions BEGIN INSERT INTO statepad VALUES (new.n); END;
        INSERT INTO sessions VALUES ('s', 1), ('t', 2);
        INSERT INTO xstatepad_events VALUES (7);
      `);
      const mine = (each) => !each.startsWith('statepad_') && !each.startsWith('sqlite_autoindex_statepad_');
      const before = dump(database, mine);
      const store = plain(sqliteStore(database));
      await store.open({ migrate: 'create' });
      await store.commit(
        creation('s', { session: { set: { n: 1 } }, user: { set: { n: 1 } }, app: { set: { n: 1 } } }),
      );
      await store.commitMany([
        event('e', { sessionId: 's', app: { unset: ['n'] } }),
        update('m', { app: { set: { n: 2 } } }),
      ]);
      await store.remove(key('s'));
      await store.removeScope({ app: 'a' });
      await store.close();
      assert.deepEqual(dump(database, mine), before);
    }));

  if (name !== 'node-sqlite3-wasm') {
    // node-sqlite3-wasm has no other encoding.
    test(`${name}: a file whose texts are not in UTF-8 is refused`, () =>
      withFile(name, async (file) => {
        const database = file.connect();
        database.exec("PRAGMA encoding = 'UTF-16'; CREATE TABLE mine (n INTEGER)");
        assert.equal(await failure(plain(sqliteStore(database)).open({ migrate: 'create' })), 'rejected');
      }));
  }

  test(`${name}: making the tables is all or nothing`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      for (let steps = 0; ; steps++) {
        let left = steps;
        const before = (sql) => {
          if (sql.startsWith('CREATE') && left-- === 0) {
            throw new Error('torn');
          }
        };
        const outcome = await failure(plain(sqliteStore(observed(database, { before }))).open({ migrate: 'create' }));
        if (outcome === 'nothing is thrown') {
          assert.ok(steps > 5);
          break;
        }
        assert.equal(outcome, 'torn');
        assert.deepEqual(dump(database).made, []);
      }
    }));

  test(`${name}: what another makes between the look and the transaction is taken as it is found`, () =>
    withFile(name, async (file) => {
      const database = file.connect();
      const other = file.connect();
      for (const [found, migrate, outcome] of [
        ['1', 'create', 'nothing is thrown'],
        ['1', 'upgrade', 'nothing is thrown'],
        ['2', 'create', 'rejected'],
        ['2', 'upgrade', 'rejected'],
        // It is not one that is upgraded.
        ['0', 'create', 'rejected'],
      ]) {
        database.exec(dropAll(database));
        let isMade = false;
        const before = (sql) => {
          if (sql === 'BEGIN IMMEDIATE' && !isMade) {
            isMade = true;
            other.exec(`${made}; UPDATE statepad_meta SET value = '${found}' WHERE name = 'version'`);
          }
        };
        const store = plain(sqliteStore(observed(database, { before })));
        assert.equal(await failure(store.open({ migrate })), outcome, `${found} ${migrate}`);
        assert.ok(isMade);
        const [{ value }] = rows(database, "SELECT value FROM statepad_meta WHERE name = 'version'");
        assert.equal(value, found);
      }
    }));

  for (const [times, outcome] of [
    [2, 'nothing is thrown'],
    [Infinity, 'unavailable'],
  ]) {
    test(`${name}: the journal is asked for again while others open the same file, and not for ever (busy ${times} times)`, () =>
      withFile(name, async (file) => {
        let left = times;
        const before = (sql) => {
          if (sql === 'PRAGMA journal_mode = WAL' && left-- > 0) {
            throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
          }
        };
        const store = plain(
          sqliteStore(observed(file.connect(), { before }), { busyTimeout: times === 2 ? 60_000 : 1 }),
        );
        assert.equal(await failure(store.open({ migrate: 'create' })), outcome);
      }));
  }

  test(`${name}: the journal and its care are as they were asked for, and the store says how durable that is`, () =>
    withFile(name, async (file) => {
      const settings = async (options, migrate = 'create', database = file.connect()) => {
        const store = plain(sqliteStore(database, options));
        const outcome = await failure(store.open({ migrate }));
        const value = (pragma) => Object.values(rows(database, `PRAGMA ${pragma}`)[0])[0];
        return [outcome, value('journal_mode'), value('synchronous'), value('busy_timeout'), store.durability];
      };
      const log = hasLog(name) ? 'wal' : 'delete';
      const fine = 'nothing is thrown';
      assert.deepEqual(await settings({ journalMode: 'keep', busyTimeout: 7 }), [fine, 'delete', 3, 7, 'disk']);
      assert.deepEqual(await settings({}, 'check'), [fine, 'delete', 3, 5000, 'disk']);
      assert.deepEqual(await settings({}), [fine, log, 3, 5000, 'disk']);
      assert.deepEqual(await settings({ synchronous: 'normal', busyTimeout: Infinity }), [
        fine,
        log,
        1,
        2 ** 31 - 1,
        'os',
      ]);
      assert.deepEqual(await settings({ journalMode: 'wal' }), [
        hasLog(name) ? fine : 'rejected',
        log,
        3,
        5000,
        'disk',
      ]);
      const memory = libraries[name](':memory:');
      assert.deepEqual(await settings({}, 'create', memory), [fine, 'memory', 3, 5000, 'memory']);
      assert.deepEqual(await settings({ journalMode: 'wal' }, 'create', memory), [
        'rejected',
        'memory',
        3,
        5000,
        'memory',
      ]);
      memory.close();
    }));
}

if ('node-sqlite3-wasm' in libraries) {
  test('node-sqlite3-wasm: a process that has the file for itself can have a write-ahead log', () =>
    withFile('node-sqlite3-wasm', async (file) => {
      const database = file.connect();
      database.exec('PRAGMA locking_mode = EXCLUSIVE');
      const store = plain(sqliteStore(database, { journalMode: 'wal' }));
      await store.open({ migrate: 'create' });
      await store.commit(creation('s'));
      assert.equal((await store.commit(event('e'))).rev, 1);
      assert.deepEqual(rows(database, 'PRAGMA journal_mode'), [{ journal_mode: 'wal' }]);
      await store.close();
      file.disconnect();
      // From then on, the file cannot be opened otherwise.
      assert.equal(await failure(plain(file.store()).open({ migrate: 'check' })), 'unavailable');
      file.disconnect();
      const alone = file.connect();
      alone.exec('PRAGMA locking_mode = EXCLUSIVE');
      const again = plain(sqliteStore(alone));
      await again.open({ migrate: 'check' });
      assert.equal((await again.load(key(), {})).rev, 1);
    }));
}

// The settings with which the user's own statements read numbers are the user's affair.
const readers = {
  'better-sqlite3': (file) => file.connect().defaultSafeIntegers(true),
  libsql: (file) => file.connect().defaultSafeIntegers(true),
  'node:sqlite': (file) => file.connect({ readBigInts: true, returnArrays: true }),
};
for (const [name, connect] of Object.entries(readers).filter(([each]) => each in libraries)) {
  test(`${name}: a connection that reads BigInt does as well`, () =>
    withFile(name, async (file) => {
      const store = plain(sqliteStore(connect(file)));
      await store.open({ migrate: 'create' });
      await store.commit(creation('s'));
      assert.equal((await store.commit(event('e'))).rev, 1);
      const { rows: found } = await store.list({ app: 'a', descending: false });
      assert.deepEqual(
        found.map(({ rev, time }) => [rev, time]),
        [[1, 2]],
      );
    }));
}
