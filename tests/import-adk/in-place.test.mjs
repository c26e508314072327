// Databases of ADKs, made by running them: read where they are, beside what the ADKs themselves read, and nothing of
// them is altered.

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { after, before, describe, test } from 'node:test';
import { DatabaseSessionService, createEvent } from '@google/adk';
import { BetterSqliteDriver } from '@mikro-orm/better-sqlite';
import Database from 'better-sqlite3';
import pg from 'pg';
import { SessionService } from 'statepad';
import { adkReadStore } from 'statepad/import-adk';
import { root } from '../packaging/project.mjs';
import { postgresForTests } from '../support/postgres.mjs';
import { asShown, madeBy, pythonForTests } from './python.mjs';
import { inTemporary, shownBy, sorted } from './imported-sessions.mjs';
import { PYTHON_V1, pythonTables, writes } from './tables.mjs';

const { python, skip } = await pythonForTests();
const APPS = ['shop', 'a/b "c\'; 😀 \\ %s ü'];
const KINDS = { v1: 'adk-python-v1', v0: 'adk-python-v0', sqlite: 'adk-python-sqlite' };
const RICH = { appName: 'shop', userId: 'ana', sessionId: 'rich' };

/** A service over a database that is only read. */
function reading(database, options) {
  return new SessionService({ store: adkReadStore(database, options), retry: { attempts: 1 } });
}

/** Reads all of a database, and holds it to what adk-python reads. */
async function reads(database, read) {
  const service = reading(database);
  assert.deepEqual(await shownBy(service, APPS), sorted(read.map(asShown)));
  assert.deepEqual(await service.getUserState({ appName: 'shop', userId: 'eve' }), { left: 1 });
  assert.deepEqual(await service.getAppState({ appName: 'alone' }), { left: { x: null } });
  assert.deepEqual(await service.listApps(), { apps: ['a/b "c\'; 😀 \\ %s ü', 'alone', 'shop'] });
  assert.deepEqual((await service.listUsers({ appName: 'shop' })).users, ['ana', 'ben', 'eve']);
  await refusesWrites(service);
  await service.close();
}

/** Holds every write to its refusal by name. */
async function refusesWrites(service) {
  const session = await service.getSession(RICH);
  const isRefused = { code: 'INVALID_ARGUMENT', message: /only read.*npx statepad import/ };
  const calls = [
    () => service.createSession({ appName: 'shop', userId: 'ana', sessionId: 'new', state: { a: 1 } }),
    () => service.appendEvent({ session, event: { author: 'x', actions: { stateDelta: { a: 1 } } } }),
    () => service.updateState(session, () => ({ count: 7 })),
    () => service.deleteSession(RICH),
    () => service.updateState({ appName: 'shop' }, () => ({ 'app:theme': 'no' })),
  ];
  for (const call of calls) await assert.rejects(call, isRefused, String(call));
}

/** The files of a folder, with the digests of their bytes. */
function filesIn(folder) {
  const digest = (name) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, digest(name)]));
}

describe('the SQLite databases of adk-python, in place', { skip }, () => {
  for (const [layout, kind] of Object.entries(KINDS)) {
    test(`${kind}: all is as adk-python reads it, by the path of the file, whose bytes stay`, async () => {
      await inTemporary(async (folder) => {
        const path = join(folder, 'sessions.db');
        const read = await madeBy(python, layout, layout === 'sqlite' ? path : `sqlite+aiosqlite:///${path}`);
        const before = filesIn(folder);
        await reads(path, read);
        assert.deepEqual(filesIn(folder), before);
        const database = new Database(path);
        await reads(database, read);
        database.close();
      });
    });
  }
});

describe('the Postgres databases of adk-python, in place', { skip }, () => {
  let server;
  let pool;
  before(async () => {
    ({ server } = await postgresForTests());
    pool = server && new pg.Pool({ connectionString: server.url, max: 2 });
    // A connection that is closing may be cut when the server stops.
    pool?.on('error', () => undefined);
  });
  after(async () => {
    await pool?.end();
    await server?.stop();
  });

  for (const layout of ['v1', 'v0']) {
    test(`${KINDS[layout]}: all is as adk-python reads it, and no connection stays in a transaction`, async (t) => {
      if (server === undefined) return t.skip('no Postgres');
      await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      const read = await madeBy(python, layout, server.url.replace(/^postgres:/, 'postgresql+asyncpg:'));
      await reads(pool, read);
      assert.deepEqual([pool.totalCount, pool.idleCount], [1, 1]);
      const { rows } = await pool.query(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE state LIKE 'idle in%'`);
      assert.deepEqual(rows, [{ n: 0 }]);
    });
  }
});

test('a SQLite database of adk-js is read as adk-js reads it, and watched while adk-js writes', async () => {
  await inTemporary(async (folder) => {
    const path = join(folder, 'sessions.db');
    const adk = new DatabaseSessionService({ driver: BetterSqliteDriver, dbName: path });
    const session = await adk.createSession({ ...RICH, state: { given: 1, 'user:made': true } });
    const service = reading(path);
    try {
      const watch = service.watch(RICH, { since: 0, poll: 20 })[Symbol.asyncIterator]();
      const append = async (id, stateDelta) => {
        await adk.appendEvent({ session, event: createEvent({ id, author: 'agent', actions: { stateDelta } }) });
        const { value } = await watch.next();
        assert.deepEqual([value.type, value.event.id, value.event.actions.stateDelta], ['event', id, stateDelta]);
      };
      await append('a', { n: 1, 'app:theme': 'dark' });
      await append('b', { n: 2, late: null });
      await watch.return();
      const [{ state, events }, read] = [await service.getSession(RICH), await adk.getSession(RICH)];
      assert.deepEqual({ ...state }, read.state);
      assert.deepEqual(
        events.map(({ id }) => id),
        read.events.map(({ id }) => id),
      );
      assert.deepEqual(await service.stateAt(await service.getSession(RICH), 1), {
        ...{ given: 1, n: 1, 'user:made': true, 'app:theme': 'dark' },
      });
    } finally {
      await service.close();
      await adk.orm?.close(true);
    }
  });
});

describe('google-adk that writes meanwhile', { skip }, () => {
  const COUNT = 60;
  for (const layout of ['sqlite', 'database']) {
    test(`${layout}: every event arrives, and google-adk never finds the database locked`, async () => {
      await inTemporary(async (folder) => {
        const path = join(folder, 'sessions.db');
        const url = layout === 'sqlite' ? path : `sqlite+aiosqlite:///${path}`;
        const script = join(root, 'tests', 'import-adk', 'append.py');
        const writer = spawn(python, ['-W', 'ignore', script, layout, url, String(COUNT)]);
        const complaints = [];
        writer.stderr.on('data', (text) => complaints.push(String(text)));
        const lines = createInterface({ input: writer.stdout })[Symbol.asyncIterator]();
        assert.equal((await lines.next()).value, 'created', complaints.join(''));
        const service = reading(path);
        const key = { appName: 'shop', userId: 'ana', sessionId: 'live' };
        const watch = service.watch(key, { since: 0, poll: 5 });
        const ofApp = service.watch({ appName: 'shop' }, { initial: true, poll: 5 });
        writer.stdin.write('go\n');
        const arrived = [];
        for await (const change of watch) {
          assert.equal(change.type, 'event');
          arrived.push(change.event.id);
          await service.listSessions({ appName: 'shop' });
          if (arrived.length === COUNT) break;
        }
        for await (const change of ofApp) {
          if (change.delta?.['app:last'] === COUNT) break;
        }
        const written = [];
        for (let n = 0; n < COUNT; n++) written.push((await lines.next()).value);
        assert.deepEqual(arrived, written);
        const read = JSON.parse((await lines.next()).value);
        assert.deepEqual({ ...(await service.getSession(key)).state }, read);
        await service.close();
        assert.equal(complaints.join(''), '');
      });
    });
  }
});

describe('pages', () => {
  test('are in the order of the last writes, ids breaking ties, however they are asked for', async () => {
    const tables = pythonTables();
    const names = [];
    for (const user of ['ana', 'Ben', 'ü', '😀', '\uffee']) {
      for (let n = 0; n < 6; n++) {
        tables.session('a', user, `s${n % 3}-${n}`, { n }, 1000 * (n % 2));
        names.push({ time: 1000 * (n % 2), id: `s${n % 3}-${n}`, user });
      }
      tables.user('a', user, { own: user });
    }
    tables.event('a', 'ü', 's0-0', 'e', 5, writes({ n: 0 }));
    const service = reading(tables.database);
    const bytes = (one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other));
    for (const [order, sign] of [
      ['asc', 1],
      ['desc', -1],
    ]) {
      const expected = names
        .toSorted((a, b) => sign * (a.time - b.time) || bytes(a.id, b.id) || bytes(a.user, b.user))
        .map(({ id, user }) => `${user} ${id}`);
      const found = [];
      for (let cursor; ;) {
        const page = await service.listSessions({ appName: 'a', order, limit: 7, cursor });
        found.push(...page.sessions);
        cursor = page.cursor;
        if (cursor === undefined) break;
      }
      assert.deepEqual(
        found.map(({ userId, id }) => `${userId} ${id}`),
        expected,
      );
      assert.ok(found.every(({ state, userId }) => state['user:own'] === userId));
      const third = await service.listSessions({ appName: 'a', order, limit: 7, page: 3 });
      assert.deepEqual(
        [third.totalItems, third.sessions.map(({ userId, id }) => `${userId} ${id}`)],
        [30, expected.slice(14, 21)],
      );
    }
    assert.equal((await service.listSessions({ appName: 'a', userId: 'ü' })).totalItems, 6);
    assert.deepEqual((await service.listUsers({ appName: 'a', limit: 2 })).users, ['Ben', 'ana']);
  });

  test('go on behind a session that cannot be read, which is named', async () => {
    const tables = pythonTables();
    ['1', '2', '3'].forEach((id, n) => tables.session('a', 'u', id, id === '2' ? '{no' : { n }, n));
    tables.session('a', 'v', '9007', '{"n":9007199254740993}', 5);
    const service = reading(tables.database);
    const first = await service.listSessions({ appName: 'a', limit: 2 });
    assert.deepEqual(
      [first.sessions.map(({ id }) => id), first.corrupt],
      [['1', '3'], [{ appName: 'a', userId: 'u', sessionId: '2' }]],
    );
    const second = await service.listSessions({ appName: 'a', limit: 2, cursor: first.cursor });
    assert.deepEqual([second.sessions, second.corrupt.map((key) => key.sessionId)], [[], ['9007']]);
    const isCorrupt = { code: 'STORE_CORRUPT', message: /session "2" cannot be read: state is not JSON/ };
    await assert.rejects(service.getSession({ appName: 'a', userId: 'u', sessionId: '2' }), isCorrupt);
    const asTexts = reading(tables.database, { integers: 'text' });
    const { state } = await asTexts.getSession({ appName: 'a', userId: 'v', sessionId: '9007' });
    assert.deepEqual({ ...state }, { n: '9007199254740993' });
  });
});

test('an event that comes before others shows as a session that has gone back, and is read anew', async () => {
  const tables = pythonTables();
  const key = { appName: 'a', userId: 'u', sessionId: 's' };
  tables.session('a', 'u', 's', { n: 2 });
  tables.event('a', 'u', 's', 'e1', 1000, writes({ n: 1 }));
  tables.event('a', 'u', 's', 'e3', 3000, writes({ n: 2 }));
  const service = reading(tables.database);
  const ids = async () => (await service.getSession(key)).events.map(({ id }) => id);
  assert.deepEqual(await ids(), ['e1', 'e3']);
  const watch = service.watch(key, { poll: 5, since: 1 })[Symbol.asyncIterator]();
  assert.equal((await watch.next()).value.event.id, 'e3');
  const change = watch.next();
  tables.event('a', 'u', 's', 'e2', 2000, writes({ n: 5 }));
  assert.equal((await change).value.type, 'reload');
  await watch.return();
  assert.deepEqual(await ids(), ['e1', 'e2', 'e3']);
});

test('nobody holds a lease of a session, and nobody takes one', async () => {
  const tables = pythonTables();
  const key = { appName: 'a', userId: 'u', sessionId: 's' };
  tables.session('a', 'u', 's', {});
  const service = reading(tables.database);
  const session = await service.getSession(key);
  assert.equal(await service.leaseOf(session), undefined);
  await assert.rejects(service.leaseOf({ ...session, id: 'other' }), { code: 'SESSION_NOT_FOUND' });
  await assert.rejects(service.lease(session), { code: 'INVALID_ARGUMENT', message: /an ADK is only read/ });
});

test('some of the events of a session are those that a service in memory shows', async () => {
  const tables = pythonTables();
  const key = { appName: 'a', userId: 'u', sessionId: 's' };
  tables.session('a', 'u', 's', {});
  for (let n = 1; n <= 9; n++) tables.event('a', 'u', 's', `e${n}`, 1000 * n);
  for (const [config, expected] of [
    [{ numRecentEvents: 3 }, ['e7', 'e8', 'e9']],
    [{ numRecentEvents: 0 }, []],
    [{ afterTimestamp: 7000 }, ['e7', 'e8', 'e9']],
    [{ afterTimestamp: 7000, numRecentEvents: 2 }, ['e8', 'e9']],
    [{ afterTimestamp: 99_000 }, []],
  ]) {
    const { events } = await reading(tables.database).getSession({ ...key, config });
    assert.deepEqual(
      events.map(({ id }) => id),
      expected,
      JSON.stringify(config),
    );
  }
});

describe('a file that is only read', () => {
  test('is refused by name where it is missing, a folder, no database, or of no ADK', async () => {
    await inTemporary(async (folder) => {
      const other = join(folder, 'other.db');
      new Database(other).exec('CREATE TABLE guests (name TEXT)').close();
      for (const [path, message] of [
        [join(folder, 'none.db'), /none\.db": there is no such file/],
        [folder, /it is a folder/],
        [join(root, 'package.json'), /package\.json": it is not an SQLite database/],
        [other, /does not belong to a known ADK: there are no tables of sessions/],
      ]) {
        const service = reading(path);
        await assert.rejects(service.listSessions({ appName: 'a' }), { code: 'STORE_UNSUITABLE', message });
        await service.close();
      }
      assert.deepEqual(readdirSync(folder), ['other.db']);
    });
  });

  test('and has a write-ahead log keeps its bytes, and nothing stays beside it', async () => {
    await inTemporary(async (folder) => {
      const path = join(folder, 'sessions.db');
      const writer = new Database(path);
      writer.pragma('journal_mode = WAL');
      writer.exec(PYTHON_V1);
      writer.close();
      const before = filesIn(folder);
      assert.deepEqual(Object.keys(before), ['sessions.db']);
      const service = reading(path);
      assert.deepEqual((await service.listSessions({ appName: 'a' })).sessions, []);
      await service.close();
      assert.deepEqual(filesIn(folder), before);
    });
  });

  test('is read in a folder that cannot be written, one with a write-ahead log where the library can', async () => {
    await inTemporary(async (folder) => {
      for (const mode of ['delete', 'wal']) {
        const writer = new Database(join(folder, `${mode}.db`));
        writer.pragma(`journal_mode = ${mode}`);
        writer.exec(PYTHON_V1);
        writer.close();
      }
      const before = filesIn(folder);
      const program = `
        const { SessionService } = await import('statepad');
        const { adkReadStore } = await import('statepad/import-adk');
        for (const mode of ['delete', 'wal']) {
          const store = adkReadStore(process.argv[1] + '/' + mode + '.db');
          const service = new SessionService({ store, retry: { attempts: 1 } });
          const listed = service.listSessions({ appName: 'a' });
          console.log(await listed.then(({ totalItems }) => totalItems, ({ message }) => message));
          await service.close();
        }`;
      chmodSync(folder, 0o555);
      const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
      const args = ['--no-warnings', '--input-type=module', '--eval', program, folder];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, ...nobody });
      chmodSync(folder, 0o755);
      const [plain, withLog] = stdout.trim().split('\n');
      assert.equal(plain, '0');
      const canTakeIt = process.getBuiltinModule('node:sqlite') !== undefined;
      assert.match(
        withLog,
        canTakeIt ? /^0$/ : /wal\.db": it has a write-ahead log, and its folder cannot be written/,
      );
      assert.deepEqual(filesIn(folder), before);
    });
  });
});
