// Databases with content that no ADK should have written.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { importAdk } from 'statepad/import-adk';
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

  test('and that event has the time of the last one, or of the last writing where there is none', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', { n: 'by hand' }, 500);
    tables.event('a', 'u', 's', 'e', 2000, writes({ n: 1 }));
    tables.event('a', 'u', 's', 'f', 7000, writes({ n: 2 }));
    const service = new SessionService();
    await importAdk(tables.database, service);
    const { events, lastUpdateTime } = await service.getSession(key);
    assert.deepEqual([events.map(({ timestamp }) => timestamp), lastUpdateTime], [[2000, 7000, 7000], 7000]);
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

  test('with a number that JavaScript cannot hold is told, and becomes a text where that is asked for', async () => {
    const tables = pythonTables();
    tables.app('a', '{"id":-9007199254740993}');
    const told = 'state has the number -9007199254740993 at id, which JavaScript cannot represent';
    const service = new SessionService();
    const { problems } = await importAdk(tables.database, service);
    const reason = `${told}: with the option integers: 'text' it is imported as a text`;
    assert.deepEqual(problems, [{ appName: 'a', reason, code: 'INVALID_ARGUMENT', imported: false }]);
    assert.deepEqual(await service.getAppState(key), {});
    const again = await importAdk(tables.database, service, { integers: 'text' });
    assert.deepEqual(again.problems, [{ appName: 'a', reason: `${told}: it is a text now`, imported: true }]);
    assert.deepEqual(await service.getAppState(key), { id: '-9007199254740993' });
    await assert.rejects(importAdk(tables.database, service, { integers: 'bigint' }), {
      code: 'INVALID_ARGUMENT',
      message: /integers must be 'text', not "?bigint|integers must be 'text', not a string/,
    });
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
      'the key "theme" has a different value in the service: the service had other sessions and values, which are kept';
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

  test('a number that JavaScript cannot hold is never rounded: the session is left out, or has a text', async () => {
    const tables = pythonTables();
    tables.session('a', 'u', 's', '{"id":9007199254740993,"ok":9007199254740992,"text":"9007199254740993"}');
    tables.session('a', 'u', 't', {});
    tables.event('a', 'u', 't', 'e', 1000, '{"author":"x","timestamp":1,"custom_metadata":{"ids":[1e400]}}');
    tables.session('a', 'u', 'far', '{"n":1e300,"half":0.1,"m":1' + '0'.repeat(300) + '}');
    const service = new SessionService();
    const result = await importAdk(tables.database, service);
    assert.deepEqual([result.sessions, result.failed], [1, 2]);
    const lost = 'which JavaScript cannot represent';
    const advice = "with the option integers: 'text' it is imported as a text";
    assert.deepEqual(reasons(result), [
      ['s', `state has the number 9007199254740993 at id, ${lost}: ${advice}`],
      ['t', `event "e": event_data has the number 1e400 at custom_metadata.ids[0], ${lost}: ${advice}`],
    ]);
    assert.deepEqual((await service.getSession({ ...key, sessionId: 'far' })).state, {
      n: 1e300,
      half: 0.1,
      m: 1e300,
    });
    const again = await importAdk(tables.database, service, { integers: 'text' });
    assert.deepEqual([again.sessions, again.problemCount], [3, 2]);
    const { state } = await service.getSession(key);
    assert.deepEqual(state, { id: '9007199254740993', ok: 2 ** 53, text: '9007199254740993' });
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
