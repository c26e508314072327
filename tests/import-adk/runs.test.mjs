// An import as a whole: cut off, run again, dry, of a part, of much, into stores that cannot take all.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { SessionService, isStatepadError } from 'statepad';
import { importAdk } from 'statepad/import-adk';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import { vertexAiStore } from 'statepad/stores/vertex-ai';
import { fakeVertexAi } from '../support/vertex.mjs';
import { inTemporary } from './imported-sessions.mjs';
import { pythonTables, writes } from './tables.mjs';

const key = { appName: 'a', userId: 'u', sessionId: 's' };
const reasons = ({ problems }) => problems.map(({ sessionId, reason }) => [sessionId, reason]);

describe('an import', () => {
  /** A store that ends after so many writes. */
  function endingAfter(store, writesLeft) {
    let left = writesLeft;
    return Object.assign(Object.create(store), {
      commit: (...args) => {
        left -= 1;
        if (left < 0) throw new TypeError('the power is gone');
        return store.commit(...args);
      },
      commitMany: undefined,
    });
  }

  test('that was cut off anywhere is gone on with by the next one', async () => {
    const tables = pythonTables();
    tables.app('a', { n: 9 });
    for (const id of ['s', 't']) {
      tables.session('a', 'u', id, { begun: 1, n: 3 });
      for (let n = 1; n <= 3; n++) tables.event('a', 'u', id, `e${n}`, n * 1000, writes({ n, 'app:n': n }));
    }
    for (let cut = 0; cut < 9; cut++) {
      const store = memoryStore();
      const options = { retry: { attempts: 1 } };
      const service = new SessionService({ ...options, store: endingAfter(store, cut) });
      await assert.rejects(importAdk(tables.database, service), isStatepadError);
      const next = new SessionService({ store });
      const result = await importAdk(tables.database, next);
      assert.deepEqual([cut, result.problems, result.sessions, result.events], [cut, [], 2, 6]);
      assert.deepEqual(await next.getAppState(key), { n: 9 });
      const session = await next.getSession(key);
      assert.deepEqual([session.revision, session.state], [3, { begun: 1, n: 3, 'app:n': 9 }]);
    }
  });

  test('into a store is still there, and equal, when the store is opened again', async () => {
    const tables = pythonTables();
    tables.app('a', { z: 1, b: 2 });
    tables.session('a', 'u', 's', { begun: [1, { x: null }], n: 2 }, -5000);
    for (const n of [1, 2]) tables.event('a', 'u', 's', `e${n}`, n * 1000, writes({ n }));
    await inTemporary(async (folder) => {
      const opened = () => new Database(join(folder, 'store.db'));
      for (const imported of [1, 0]) {
        const database = opened();
        const service = new SessionService({ store: sqliteStore(database) });
        const result = await importAdk(tables.database, service);
        assert.deepEqual([result.problems, result.sessions, result.imported], [[], 1, imported]);
        assert.deepEqual(Object.keys(await service.getAppState(key)), ['z', 'b']);
        const session = await service.getSession(key);
        const [{ timestamp }] = await service.history(session, 'begun');
        assert.equal(timestamp, -5000);
        await service.close();
        database.close();
      }
    });
  });

  test('leaves a session alone that has moved on in the service, and says what differs', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', { n: 1 });
    tables.event('a', 'u', 's', 'e', 1000, writes({ n: 1 }));
    const service = new SessionService();
    await importAdk(tables.database, service);
    await service.appendEvent({ session: { appName: 'a', userId: 'u', id: 's' }, event: { id: 'new' } });
    const result = await importAdk(tables.database, service);
    assert.deepEqual(reasons(result), [
      ['s', 'the service already has it: it has 2 events in the service, and 1 in the database'],
    ]);
    assert.equal((await service.getSession(key)).revision, 2);
  });

  test('takes over what was appended in the database since the last one', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', { n: 1 });
    tables.event('a', 'u', 's', 'e', 1000, writes({ n: 1 }));
    const service = new SessionService();
    await importAdk(tables.database, service);
    tables.event('a', 'u', 's', 'f', 2000, writes({ n: 2 }));
    tables.database.exec(`UPDATE sessions SET state = '{"n":2}'`);
    const result = await importAdk(tables.database, service);
    assert.deepEqual([result.problems, result.imported, result.events], [[], 1, 2]);
    assert.deepEqual((await service.getSession(key)).state, { n: 2 });
  });

  test('that is dry writes nothing, and finds what a real one would', async () => {
    const tables = pythonTables();
    tables.app('a', { n: 1 });
    tables.session('a', 'u', 's', { n: 1 });
    tables.session('a', 'u', 'x', '{');
    const service = new SessionService();
    const result = await importAdk(tables.database, service, { dryRun: true });
    assert.deepEqual([result.sessions, result.imported, result.failed], [1, 1, 1]);
    assert.equal((await service.listSessions({ appName: 'a' })).totalItems, 0);
    assert.deepEqual(await service.getAppState(key), {});
  });

  test('of one app, or of one user, brings no others, and reports its progress', async () => {
    const tables = pythonTables();
    for (const app of ['a', 'b']) {
      tables.app(app, { app });
      for (const user of ['u', 'v']) {
        tables.user(app, user, { user });
        tables.session(app, user, 's', {});
      }
    }
    const service = new SessionService();
    const seen = [];
    const onProgress = ({ sessions }) => seen.push(sessions);
    const user = await importAdk(tables.database, service, { appName: 'a', userId: 'u', onProgress });
    assert.deepEqual([user.problems, user.sessions, seen], [[], 1, [1]]);
    assert.deepEqual(await service.getUserState({ appName: 'a', userId: 'v' }), {});
    const app = await importAdk(tables.database, service, { appName: 'a' });
    assert.deepEqual([app.problems, app.sessions, app.imported], [[], 2, 1]);
    assert.equal((await service.listSessions({ appName: 'b' })).totalItems, 0);
    assert.deepEqual(await service.getAppState({ appName: 'b' }), {});
  });

  test('that is aborted ends with the reason, and leaves the database as usable as before', async () => {
    const tables = pythonTables();
    for (let n = 0; n < 5; n++) tables.session('a', 'u', `s${n}`, {});
    const controller = new AbortController();
    const onProgress = () => controller.abort(new RangeError('enough'));
    const service = new SessionService();
    await assert.rejects(importAdk(tables.database, service, { onProgress, signal: controller.signal }), RangeError);
    // The session that was being written beside the first one is there, too.
    assert.ok((await service.listSessions({ appName: 'a' })).totalItems >= 1);
    assert.equal(tables.database.inTransaction, false);
    assert.equal((await importAdk(tables.database, service)).sessions, 5);
  });

  test('lets timers and signals have their turn, though SQLite answers without a pause', async () => {
    const tables = pythonTables();
    tables.database.transaction(() => {
      for (let n = 0; n < 5_000; n++) tables.session('a', `u${n % 7}`, `s${n}`, { n });
    })();
    const controller = new AbortController();
    setTimeout(() => controller.abort(new RangeError('enough')), 1);
    const service = new SessionService();
    await assert.rejects(importAdk(tables.database, service, { signal: controller.signal }), RangeError);
    const { totalItems } = await service.listSessions({ appName: 'a' });
    assert.ok(totalItems < 5_000, String(totalItems));
  });

  test('writes many sessions at once: a store is asked as often as the longest of them has events', async () => {
    const tables = pythonTables();
    const users = 10;
    for (let n = 0; n < 200; n++) {
      tables.session('a', `u${n % users}`, `s${n}`, { n: 3 });
      for (let at = 1; at <= 3; at++)
        tables.event('a', `u${n % users}`, `s${n}`, `e${at}`, at * 1000, writes({ n: at }));
    }
    const memory = memoryStore();
    let calls = 0;
    const counted =
      (commit) =>
      async (...given) => {
        calls += 1;
        return await commit(...given);
      };
    const store = { ...memory, commit: counted(memory.commit), commitMany: counted(memory.commitMany) };
    const result = await importAdk(tables.database, new SessionService({ store }));
    assert.deepEqual([result.problems, result.sessions, result.events], [[], 200, 600]);
    assert.ok(calls < 40, String(calls));
  });

  test('writes shared values in the order of the sessions', async () => {
    const tables = pythonTables();
    tables.app('a', { n: 'e5' });
    for (let n = 0; n < 6; n++) {
      tables.session('a', `u${n % 2}`, `s${n}`, {});
      for (const part of ['a', 'b']) {
        const delta = { 'app:n': `${part}${n}`, 'user:n': `${part}${n}`, own: n };
        tables.event('a', `u${n % 2}`, `s${n}`, `e${part}`, part === 'a' ? 1000 : 2000, writes(delta));
      }
    }
    const service = new SessionService();
    await importAdk(tables.database, service);
    const { steps } = await service.history({ appName: 'a', key: 'app:n' });
    const order = [0, 2, 4, 1, 3, 5].flatMap((n) => [`a${n}`, `b${n}`]);
    assert.deepEqual(
      steps.map(({ to }) => to),
      [...order, 'e5'],
    );
  });

  test('brings thousands of events and sessions over', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', { n: 9_999 });
    tables.database.transaction(() => {
      for (let n = 0; n < 10_000; n++) {
        const id = `e${String(n).padStart(5, '0')}`;
        tables.event('a', 'u', 's', id, Math.floor(n / 100) * 1000, writes({ n }));
      }
      for (let n = 0; n < 1_000; n++) tables.session('a', 'many', `s${n}`, { n });
    })();
    const service = new SessionService();
    const result = await importAdk(tables.database, service);
    assert.deepEqual([result.problems, result.sessions, result.events, result.corrected], [[], 1_001, 10_000, 0]);
    const { events } = await service.getSession(key);
    assert.ok(events.every(({ id }, index) => id === `e${String(index).padStart(5, '0')}`));
  });
});

describe('a store that has app and user state with a session only', () => {
  const told = 'the store refuses: app and user state is written only with a session: append an event to one';
  for (const [what, row, reasons] of [
    ['that the events have written', { theme: 'dark' }, []],
    ['that no event has written', { theme: 'light' }, [told]],
  ]) {
    test(`is given the sessions; app state ${what} is ${reasons.length > 0 ? 'told' : 'there'}`, async () => {
      const tables = pythonTables();
      tables.app('a', row);
      tables.session('a', 'u', 's', { n: 1 });
      tables.event('a', 'u', 's', 'e', 2000, writes({ n: 1, 'app:theme': 'dark' }));
      const { fetch } = fakeVertexAi();
      const engine = { project: 'p', location: 'us-central1', engine: '1', token: () => 't', fetch };
      const service = new SessionService({ store: vertexAiStore(engine) });
      for (const imported of [1, 0]) {
        const result = await importAdk(tables.database, service);
        assert.deepEqual([result.sessions, result.imported, result.failed], [1, imported, 0]);
        assert.deepEqual(
          result.problems.map(({ reason }) => reason),
          reasons,
        );
      }
      assert.deepEqual((await service.getSession(key)).state, { n: 1, 'app:theme': 'dark' });
    });
  }
});

describe('what is no database, or of no ADK', () => {
  test('is refused by name', async () => {
    const service = new SessionService();
    const refused =
      (database, ...rest) =>
      async (message) => {
        await assert.rejects(importAdk(database, ...rest), (error) => {
          assert.equal(error.code, 'INVALID_ARGUMENT');
          assert.match(error.message, message);
          return true;
        });
      };
    await refused({}, service)(/^database must be a pool or client of pg, mysql2 or SQLite, or \{ dialect, query \}/);
    await refused({ dialect: 'oracle', query() {} }, service)(/^database.dialect must be/);
    const tables = pythonTables();
    await refused(tables.database, {})(/^service must be a SessionService$/);
    await refused(tables.database, service, { userId: 'u' })(/^appName is missing: a userId needs one$/);
    await refused(tables.database, service, { dry: true })(/dry/);
    tables.database.exec('DROP TABLE user_states');
    await refused(tables.database, service)(/^the database does not belong to a known ADK: there are the tables /);
    assert.equal(tables.database.inTransaction, false);
  });
});
