// What databases have that no ADK should have written, and imports that are cut off, run again, or refused.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { SessionService, isStatepadError } from 'statepad';
import { importAdk } from 'statepad/import-adk';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import { vertexAiStore } from 'statepad/stores/vertex-ai';
import { fakeVertexAi } from 'statepad/testing/vertex';
import { inTemporary } from './shown.mjs';
import { pythonTables, writes } from './tables.mjs';

const key = { appName: 'a', userId: 'u', sessionId: 's' };
const reasons = ({ problems }) => problems.map(({ sessionId, reason }) => [sessionId, reason]);

describe('the state of a session', () => {
  test('is what its row says: what no event explains was there from the beginning', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', { first: 1, seen: 2 }, 500);
    tables.event('a', 'u', 's', 'e', 2000, writes({ seen: 2 }));
    const service = new SessionService();
    const result = await importAdk(tables.database, service);
    assert.deepEqual([result.problems, result.corrected], [[], 0]);
    const session = await service.getSession(key);
    assert.deepEqual(session.state, { first: 1, seen: 2 });
    assert.deepEqual(await service.stateAt(session, 0), { first: 1 });
    const [step] = await service.history(session, 'first');
    assert.equal(step.timestamp, 500);
  });

  test('that the row and the events tell differently ends as the row says, by one event more', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', { kept: 1, edited: 'by hand' });
    tables.event('a', 'u', 's', 'e', 2000, writes({ kept: 1, edited: 5, deleted: 7 }));
    const service = new SessionService();
    const result = await importAdk(tables.database, service);
    assert.deepEqual([result.problems, result.events, result.corrected], [[], 1, 1]);
    const session = await service.getSession(key);
    assert.deepEqual(session.state, { edited: 'by hand', kept: 1 });
    assert.equal('deleted' in session.state, false);
    assert.deepEqual(session.events[1].actions.stateDelta, { edited: 'by hand', deleted: null });
    assert.equal(session.lastUpdateTime, 2000);
    const again = await importAdk(tables.database, service);
    assert.deepEqual([again.problems, again.imported, again.sessions], [[], 0, 1]);
  });
});

describe('a key that statepad has deleted in the tables of adk-python', () => {
  const deletes = (...deleted) => ({
    actions: { state_delta: Object.fromEntries(deleted.map((name) => [name, null])) },
    custom_metadata: { statepad: { deleted } },
  });

  test('is deleted, and needs no event more', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', { kept: 1 });
    tables.event('a', 'u', 's', 'e', 1000, writes({ kept: 1, gone: 2 }));
    tables.event('a', 'u', 's', 'f', 2000, deletes('gone'));
    const service = new SessionService();
    const result = await importAdk(tables.database, service);
    assert.deepEqual([result.problems, result.events, result.corrected], [[], 2, 0]);
    assert.deepEqual((await service.getSession(key)).state, { kept: 1 });
  });

  test('and that the row has all the same is there', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', { back: null });
    tables.event('a', 'u', 's', 'f', 2000, deletes('back'));
    const service = new SessionService();
    const result = await importAdk(tables.database, service);
    assert.deepEqual([result.problems, result.corrected], [[], 1]);
    const { state, events } = await service.getSession(key);
    assert.deepEqual(state, { back: null });
    assert.deepEqual(events[1].customMetadata, { statepad: { imported: 'the row of the session says so' } });
  });
});

test('keys that live for one invocation do not come over in events', async () => {
  const tables = pythonTables();
  tables.session('a', 'u', 's', { n: 1 });
  tables.event('a', 'u', 's', 'e', 1000, writes({ n: 1, 'temp:gone': 2 }));
  const service = new SessionService();
  const { problems } = await importAdk(tables.database, service);
  assert.deepEqual(problems, []);
  const { events } = await service.getSession(key);
  assert.deepEqual(events[0].actions.stateDelta, { n: 1 });
});

describe('app and user state', () => {
  test("is each one's own, of several apps and users of one name, also of users without a session", async () => {
    const tables = pythonTables();
    for (const app of ['a', 'b']) {
      tables.app(app, { is: app });
      tables.user(app, 'alone', { is: `${app} alone` });
      for (const user of ['u', 'v']) {
        tables.user(app, user, { is: `${app} ${user}` });
        for (const id of ['s', 't']) {
          tables.session(app, user, id, {});
          tables.event(app, user, id, 'e', 1000, writes({ 'app:is': 'event', 'user:is': 'event', 'user:more': 1 }));
        }
      }
    }
    const service = new SessionService();
    const { problems, sessions } = await importAdk(tables.database, service);
    assert.deepEqual([problems, sessions], [[], 8]);
    for (const appName of ['a', 'b']) {
      assert.deepEqual(await service.getAppState({ appName }), { is: appName });
      for (const userId of ['u', 'v', 'alone']) {
        assert.deepEqual(await service.getUserState({ appName, userId }), { is: `${appName} ${userId}` });
      }
    }
  });

  test('is made what the rows say again, where the service has no other sessions', async () => {
    const tables = pythonTables();
    tables.app('a', { theme: 'row' });
    tables.session('a', 'u', 's', {});
    const service = new SessionService();
    await importAdk(tables.database, service);
    await service.updateState({ appName: 'a' }, () => ({ 'app:theme': 'ours', 'app:more': 1 }));
    const { problems } = await importAdk(tables.database, service);
    assert.deepEqual(problems, []);
    assert.deepEqual(await service.getAppState(key), { theme: 'row' });
  });

  test('with a number that JavaScript rounds is there, and told', async () => {
    const tables = pythonTables();
    tables.app('a', '{"id":-9007199254740993}');
    const result = await importAdk(tables.database, new SessionService());
    const reason = 'state has the number -9007199254740993, which becomes -9007199254740992';
    assert.deepEqual(result.problems, [{ appName: 'a', reason, imported: true }]);
  });

  test('is what the rows say, whatever the events wrote; without a row it is empty', async () => {
    const tables = pythonTables();
    tables.app('a', { theme: 'row' });
    tables.session('a', 'u', 's', {});
    tables.event('a', 'u', 's', 'e', 2000, writes({ 'app:theme': 'event', 'app:other': 1, 'user:n': 1 }));
    const service = new SessionService();
    const { problems } = await importAdk(tables.database, service);
    assert.deepEqual(problems, []);
    assert.deepEqual(await service.getAppState(key), { theme: 'row' });
    assert.deepEqual(await service.getUserState(key), {});
  });

  test('that the service has of other sessions is kept, and told', async () => {
    const tables = pythonTables();
    tables.app('a', { theme: 'theirs', extra: 1 });
    tables.session('a', 'u', 's', {});
    tables.event('a', 'u', 's', 'e', 2000, writes({ 'app:theme': 'theirs' }));
    const service = new SessionService();
    await service.createSession({ appName: 'a', userId: 'v', state: { 'app:theme': 'ours', 'user:n': 1 } });
    const result = await importAdk(tables.database, service);
    const reason =
      'the key "theme" has another value in the service: the service had other sessions and values, which are kept';
    assert.deepEqual(result.problems, [{ appName: 'a', reason, imported: true }]);
    assert.deepEqual(await service.getAppState(key), { theme: 'ours', extra: 1 });
    assert.deepEqual(await service.getUserState({ appName: 'a', userId: 'v' }), { n: 1 });
  });
});

describe('a broken row', () => {
  const broken = [
    ['a state that is no JSON', (t) => t.session('a', 'u', 'x', '{"a":NaN}'), /^state is not JSON: /],
    ['a state that is no object', (t) => t.session('a', 'u', 'x', '[1]'), /^state must be an object$/],
    [
      'a state with keys of the app',
      (t) => t.session('a', 'u', 'x', { 'app:b': 1 }),
      /"app:b", which belongs to another/,
    ],
    ['a state with keys of an invocation', (t) => t.session('a', 'u', 'x', { 'temp:b': 1 }), /another scope$/],
    [
      'an event whose actions are no object',
      (t) => (t.session('a', 'u', 'x', {}), t.event('a', 'u', 'x', 'bad', 1, { actions: 7 })),
      /^actions must be an object$/,
    ],
    ['a blank id', (t) => t.session('a', 'u', ' ', {}), /^the id of the session is blank$/],
    [
      'an event that is no JSON',
      (t) => (t.session('a', 'u', 'x', {}), t.event('a', 'u', 'x', 'bad', 1, '{')),
      /^event "bad": event_data is not JSON: /,
    ],
    [
      'an event whose state is no object',
      (t) => (t.session('a', 'u', 'x', {}), t.event('a', 'u', 'x', 'bad', 1, { actions: { state_delta: [1] } })),
      /^stateDelta must be an object$/,
    ],
    [
      'a time that is none',
      (t) => (
        t.session('a', 'u', 'x', {}),
        t.database.exec("UPDATE sessions SET create_time = 'soon' WHERE id = 'x'")
      ),
      /^the time of creation is not a time: "soon"$/,
    ],
    [
      'an event that the service refuses',
      (t) => {
        t.session('a', 'u', 'x', {});
        t.event('a', 'u', 'x', 'good', 1, writes({ b: 1 }));
        t.event('a', 'u', 'x', 'bad', 2, writes({ deep: JSON.parse('['.repeat(200) + ']'.repeat(200)) }));
      },
      /nested/,
    ],
  ];
  for (const [name, make, reason] of broken) {
    test(`${name}: its session is told, none of it is there, and the others come over`, async () => {
      const tables = pythonTables();
      tables.session('a', 'u', 's', { ok: 1 });
      make(tables);
      tables.session('a', 'v', 'z', { ok: 2 });
      const service = new SessionService();
      const result = await importAdk(tables.database, service);
      assert.deepEqual([result.sessions, result.failed, result.problemCount], [2, 1, 1]);
      assert.match(result.problems[0].reason, reason);
      assert.equal(result.problems[0].imported, false);
      assert.equal((await service.listSessions({ appName: 'a' })).totalItems, 2);
    });
  }

  test('of app state is told, and the sessions come over', async () => {
    const tables = pythonTables();
    tables.app('a', '{');
    tables.session('a', 'u', 's', { ok: 1 });
    const result = await importAdk(tables.database, new SessionService());
    assert.deepEqual([result.sessions, result.problemCount, result.problems[0].appName], [1, 1, 'a']);
    assert.equal('sessionId' in result.problems[0], false);
  });

  test('an event without a session is told', async () => {
    const tables = pythonTables();
    tables.event('a', 'u', 'gone', 'e', 1);
    tables.event('a', 'u', 'gone', 'f', 2);
    const result = await importAdk(tables.database, new SessionService());
    assert.deepEqual(reasons(result), [['gone', 'there are 2 events, and no session']]);
  });

  test('a number that JavaScript rounds is told, and the session comes over', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', '{"id":9007199254740993,"ok":9007199254740992,"text":"9007199254740993"}');
    const result = await importAdk(tables.database, new SessionService());
    assert.deepEqual(result.sessions, 1);
    assert.deepEqual(reasons(result), [
      ['s', 'state has the number 9007199254740993, which becomes 9007199254740992'],
    ]);
  });
});

test('what the store in the tables of adk-python has stored beside an event comes over', async () => {
  const tables = pythonTables();
  tables.session('a', 'u', 's', {});
  const event = { id: 'e', author: 'x', timestamp: 2000, unknown_member: { in_side: 1 }, actions: { stateDelta: {} } };
  tables.event('a', 'u', 's', 'e', 2000, { statepad: { event } });
  const service = new SessionService();
  const { problems } = await importAdk(tables.database, service);
  assert.deepEqual(problems, []);
  const [found] = (await service.getSession(key)).events;
  assert.deepEqual(found.unknown_member, { in_side: 1 });
});

test('an event without its JSON, and one whose time is in milliseconds, are read as far as the row tells', async () => {
  const tables = pythonTables();
  tables.session('a', 'u', 's', { n: 1 });
  tables.event('a', 'u', 's', 'none', 1_769_817_600_000);
  tables.database.exec('UPDATE events SET event_data = NULL');
  const later = 1_769_817_600_500;
  tables.event('a', 'u', 's', 'of-js', later, { timestamp: later, invocation_id: 'j', ...writes({ n: 1 }) });
  const service = new SessionService();
  const { problems } = await importAdk(tables.database, service);
  assert.deepEqual(problems, []);
  const { events } = await service.getSession(key);
  assert.deepEqual(
    events.map(({ id, timestamp, invocationId }) => [id, timestamp, invocationId]),
    [
      ['none', 1_769_817_600_000, 'i'],
      ['of-js', later, 'j'],
    ],
  );
});

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
      ['s', 'the service has it already: it has 2 events in the service, and 1 in the database'],
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
    assert.equal((await service.listSessions({ appName: 'a' })).totalItems, 1);
    assert.equal(tables.database.inTransaction, false);
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
  const told = 'the store refuses: app and user state is written with a session only: append an event to one';
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
    await refused(tables.database, service)(/^the database is of no ADK that is known: there are the tables /);
    assert.equal(tables.database.inTransaction, false);
  });
});
