/**
 * A session under ADK's agents while another holder leases it: its writers, and the places where that shows.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEvent } from '@google/adk';
import { DELETED, SessionService } from 'statepad';
import { StatepadSessionService } from 'statepad/adk';
import { memoryStore } from 'statepad/stores/memory';
import { KEY } from './harness.mjs';

/** @typedef {import('@google/adk').Session} Session */

/** @param {Record<string, unknown>} stateDelta @param {Record<string, unknown>} more */
const setting = (stateDelta, more = {}) =>
  createEvent({ author: 'worker', invocationId: 'i', ...more, actions: /** @type {any} */ ({ stateDelta }) });

test('a session is created when it is asked for first, and held like any other from then on', async () => {
  const service = new StatepadSessionService();
  const session = await service.getOrCreateSession({ ...KEY, state: { x: 1 } });
  const same = await service.getOrCreateSession({ ...KEY, state: { x: 2 } });
  for (const each of [session, same]) {
    await service.appendEvent({ session: each, event: setting({ n: each.events.length + 1 }) });
  }
  assert.deepEqual(
    [{ ...session.state }, { ...same.state }],
    [
      { x: 1, n: 1 },
      { x: 1, n: 1 },
    ],
  );
  assert.deepEqual([session.events.length, same.events.length], [1, 2]);
});

test('a list shows every session with its state, and a session that was deleted no more', async () => {
  const service = new StatepadSessionService();
  for (const sessionId of ['one', 'two']) {
    await service.createSession({ ...KEY, sessionId, state: { sessionId, 'user:seen': sessionId } });
  }
  const list = async () => (await service.listSessions(KEY)).sessions.map(({ id, state }) => [id, { ...state }]);
  assert.deepEqual(await list(), [
    ['one', { sessionId: 'one', 'user:seen': 'two' }],
    ['two', { sessionId: 'two', 'user:seen': 'two' }],
  ]);
  await service.deleteSession({ ...KEY, sessionId: 'one' });
  assert.deepEqual(await list(), [['two', { sessionId: 'two', 'user:seen': 'two' }]]);
  assert.equal(await service.getSession({ ...KEY, sessionId: 'one' }), undefined);
});

test('a session whose record was replaced is brought up to date: its own record, and its own list', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  session.state = { ...session.state };
  await service.appendEvent({ session, event: setting({ n: 1 }) });
  assert.deepEqual({ ...session.state }, { n: 1 });
  assert.equal(session.events.length, 1);
});

test('what names a session without having been given by the service is appended to, and stays as it is', async () => {
  const service = new StatepadSessionService();
  await service.createSession(KEY);
  const given = /** @type {Session} */ ({
    id: KEY.sessionId,
    appName: KEY.appName,
    userId: KEY.userId,
    state: {},
    events: [],
    lastUpdateTime: 0,
  });
  const event = setting({ n: 1 }, { id: 'e' });
  const stored = await service.appendEvent({ session: given, event });
  assert.deepEqual([stored.id, { ...stored.actions.stateDelta }], ['e', { n: 1 }]);
  assert.deepEqual([given.state, given.events, given.lastUpdateTime], [{}, [], 0]);
  assert.deepEqual({ ...(await service.getSession(KEY))?.state }, { n: 1 });
});

test('an event without actions is one that writes nothing', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  for (const actions of [undefined, {}, { stateDelta: undefined }]) {
    const event = /** @type {any} */ ({ id: String(session.events.length), author: 'worker', actions });
    const stored = await service.appendEvent({ session, event });
    assert.deepEqual({ ...stored.actions.stateDelta }, {});
  }
  assert.deepEqual(
    session.events.map(({ id }) => id),
    ['0', '1', '2'],
  );
});

for (const [where, options] of Object.entries({
  'in memory': () => ({}),
  'over a store': () => ({ store: memoryStore() }),
})) {
  for (const written of [
    {},
    { own: 1 },
    { 'user:own': 1 },
    { 'app:own': 1 },
    { own: 1, 'user:own': 1, 'app:own': 1 },
    { 'temp:own': 1 },
  ]) {
    test(`what others do to the user's and the app's keys shows with an event that writes ${JSON.stringify(Object.keys(written))}: ${where}`, async () => {
      const others = {
        'a user key': { 'user:a': 2 },
        'an app key': { 'app:a': 2 },
        both: { 'user:a': [2], 'app:a': [2] },
        'a user key goes': { 'user:a': DELETED },
        'an app key goes': { 'app:a': DELETED },
      };
      for (const [what, stateDelta] of Object.entries(others)) {
        const service = new StatepadSessionService(options());
        const session = await service.createSession({ ...KEY, state: { 'user:a': 1, 'app:a': 1 } });
        const theirs = await service.createSession({ ...KEY, sessionId: 'theirs' });
        await service.appendEvent({ session: theirs, event: setting(stateDelta) });
        await service.appendEvent({ session, event: setting(written) });
        const stored = { ...(await service.getSession(KEY))?.state };
        assert.deepEqual({ ...session.state, 'temp:own': undefined }, { ...stored, 'temp:own': undefined }, what);
        assert.equal(session.state['temp:own'], /** @type {Record<string, number>} */ (written)['temp:own']);
      }
    });
  }
}

test('what others do to the session itself shows, with their events, before the own one', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession({ ...KEY, state: { a: 1, b: 1 } });
  const theirs = /** @type {Session} */ (await service.getSession(KEY));
  await service.appendEvent({ session: theirs, event: setting({ a: 2, b: DELETED }, { id: 'theirs' }) });
  await service.appendEvent({ session, event: setting({}, { id: 'own' }) });
  assert.deepEqual({ ...session.state }, { a: 2 });
  assert.deepEqual(
    session.events.map(({ id }) => id),
    ['theirs', 'own'],
  );
});

test('a value that was put on the record waits for its event, whatever others write to its key', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession({ ...KEY, state: { a: 1, b: 1, c: 1 } });
  const theirs = /** @type {Session} */ (await service.getSession(KEY));
  Object.assign(session.state, { a: 'mine', c: 'mine' });
  await service.appendEvent({ session: theirs, event: setting({ a: 2, b: 2, c: DELETED }) });
  await service.appendEvent({ session, event: setting({}) });
  assert.deepEqual({ ...session.state }, { a: 'mine', b: 2, c: 'mine' });
  await service.appendEvent({ session, event: setting({ a: 'mine' }) });
  assert.deepEqual({ ...(await service.getSession(KEY))?.state }, { a: 'mine', b: 2 });
});

test('what is handed out of the stored values may be changed, and what is stored stays', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession({ ...KEY, state: { list: [1], 'user:list': [1] } });
  const theirs = await service.createSession({ ...KEY, sessionId: 'theirs' });
  await service.appendEvent({ session: theirs, event: setting({ 'user:list': [2] }) });
  await service.appendEvent({ session, event: setting({ own: [1] }) });
  for (const key of ['list', 'user:list', 'own']) {
    /** @type {number[]} */ (session.state[key]).push(9);
  }
  assert.deepEqual({ ...(await service.getSession(KEY))?.state }, { list: [1], own: [1], 'user:list': [2] });
});

test('an id that is taken by another event is refused, unless the event stands in the list of the session', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  await service.appendEvent({ session, event: setting({ n: 1 }, { id: 'e' }) });
  const other = setting({ n: 2 }, { id: 'e' });
  await assert.rejects(service.appendEvent({ session, event: other }), { code: 'EVENT_ID_CONFLICT' });
  session.events[0] = other;
  assert.equal(await service.appendEvent({ session, event: other }), other);
  assert.deepEqual({ ...(await service.getSession(KEY))?.state }, { n: 1 });
});

test('the service underneath is one of the package', () => {
  assert.ok(new StatepadSessionService().service instanceof SessionService);
});
