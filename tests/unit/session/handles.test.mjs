// Session handles: what they show, when they move, and that nobody can write to them.

import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { test } from 'node:test';
import { SessionService, isStatepadError } from 'statepad';
import { plain } from '../../contract/read.mjs';
import { KEY, setting } from '../../support/fixtures.mjs';

const ids = ({ events }) => events.map(({ id }) => id);

async function open(state = {}) {
  const service = new SessionService();
  return { service, session: await service.createSession({ ...KEY, state }) };
}

test('a handle has own enumerable members, and spreads, clones and prints as a plain record', async () => {
  const { service, session } = await open({ x: 1 });
  await service.appendEvent({ session, event: setting({ y: 2 }, { id: 'e', timestamp: 5 }) });
  const names = ['id', 'appName', 'userId', 'state', 'events', 'lastUpdateTime', 'revision'];
  assert.deepEqual(Object.keys(session), names);
  assert.deepEqual(Object.keys({ ...session }), names);
  assert.deepEqual(plain(structuredClone({ ...session })), plain(session));
  assert.equal(plain(session).revision, 1);
  assert.match(inspect(session), /^\{\n? *id: 's'[^]*lastUpdateTime: 5,\s*revision: 1\s*\}$/);
  assert.deepEqual([session.lastUpdateTime, session.revision, session.constructor], [5, 1, Object]);
});

test('every write to a handle throws', async () => {
  const { service, session } = await open({ cart: { items: [1] } });
  const event = await service.appendEvent({
    session,
    event: setting({ a: [{ b: 1 }] }, { content: { parts: [{ text: 'x' }] } }),
  });
  for (const write of [
    () => (session.state.x = 1),
    () => delete session.state.cart,
    () => (session.state.cart.items = []),
    () => session.state.cart.items.push(2),
    () => (session.id = 'other'),
    () => (session.more = 1),
    () => session.events.push({}),
    () => session.events.pop(),
    () => (session.events[0].author = 'other'),
    () => (event.actions.stateDelta.a[0].b = 2),
    () => (event.actions.stateDelta.c = 2),
    () => (event.actions.escalate = true),
    () => (event.content.parts[0].text = 'y'),
    () => event.content.parts.push({}),
  ]) {
    assert.throws(write, TypeError, String(write));
  }
  for (const name of ['state', 'events', 'lastUpdateTime', 'revision']) {
    // A sloppy script, too: it is told what to do.
    const write = new Function('session', 'name', 'session[name] = 1');
    assert.throws(() => write(session, name), {
      code: 'INVALID_ARGUMENT',
      path: name,
      message: `${name} is read-only: append an event`,
    });
  }
  assert.deepEqual(plain((await service.getSession(KEY)).state), { cart: { items: [1] }, a: [{ b: 1 }] });
});

test('a handle that was not appended through stays as it was read, looked at before or not', async () => {
  const { service, session } = await open({ x: 1, 'app:y': 1, 'user:z': 1 });
  const looked = await service.getSession(KEY);
  assert.equal(looked.state.x, 1);
  const unlooked = await service.getSession(KEY);
  const [row] = (await service.listSessions(KEY)).sessions;
  const { state, events } = session;
  await service.appendEvent({ session, event: setting({ x: 2, 'app:y': 2, 'user:z': 2 }) });
  const other = await service.createSession({ ...KEY, sessionId: 't', state: { 'app:y': 3, 'user:z': 3 } });
  await service.updateState({ appName: 'app' }, () => ({ 'app:y': 4 }));
  await service.deleteSession(KEY);
  for (const held of [looked, unlooked, row]) {
    assert.deepEqual(plain(held.state), { x: 1, 'app:y': 1, 'user:z': 1 });
    assert.equal(held.revision, 0);
    assert.deepEqual(held.events, []);
  }
  assert.deepEqual(plain(state), { x: 1, 'app:y': 1, 'user:z': 1 });
  assert.deepEqual(events, []);
  assert.deepEqual(plain(session.state), { x: 2, 'app:y': 2, 'user:z': 2 });
  assert.deepEqual(plain(other.state), { 'app:y': 3, 'user:z': 3 });
});

test('a handle that is appended through shows what others wrote meanwhile', async () => {
  const { service, session } = await open();
  const second = await service.getSession(KEY);
  const elsewhere = await service.createSession({ ...KEY, sessionId: 't' });
  await service.appendEvent({ session: second, event: setting({ x: 'second', y: 1 }, { id: '1' }) });
  await service.appendEvent({ session: elsewhere, event: setting({ 'app:a': 1, 'user:b': 1 }) });
  await service.appendEvent({ session, event: setting({ x: 'first' }, { id: '2' }) });
  assert.deepEqual(plain(session.state), { x: 'first', y: 1, 'app:a': 1, 'user:b': 1 });
  assert.deepEqual(ids(session), ['1', '2']);
  assert.equal(session.revision, 2);
  assert.deepEqual(ids(second), ['1']);
  await service.appendEvent({ session: second, event: setting({}, { id: '3' }) });
  assert.deepEqual(ids(second), ['1', '2', '3']);
  assert.equal(second.state.x, 'first');
});

test('a handle read with a window keeps it and shows what is appended afterwards', async () => {
  const { service, session } = await open();
  for (const id of ['1', '2', '3']) {
    await service.appendEvent({ session, event: setting({}, { id }) });
  }
  const windowed = await service.getSession({ ...KEY, config: { numRecentEvents: 1 } });
  const none = await service.getSession({ ...KEY, config: { numRecentEvents: 0 } });
  await service.appendEvent({ session, event: setting({}, { id: '4' }) });
  await service.appendEvent({ session: windowed, event: setting({}, { id: '5' }) });
  await service.appendEvent({ session: none, event: setting({}, { id: '6' }) });
  assert.deepEqual(ids(windowed), ['3', '4', '5']);
  assert.deepEqual(ids(none), ['4', '5', '6']);
});

test('a row of a list shows no events until one is appended through it', async () => {
  const { service, session } = await open();
  await service.appendEvent({ session, event: setting({ x: 1 }, { id: '1' }) });
  const [row] = (await service.listSessions(KEY)).sessions;
  assert.deepEqual(row.events, []);
  await service.appendEvent({ session: row, event: setting({ y: 2 }, { id: '2' }) });
  assert.deepEqual(plain(row.state), { x: 1, y: 2 });
  assert.deepEqual(ids(row), ['2']);
});

test('a window that the caller changes afterwards is the one that was asked for', async () => {
  const { service, session } = await open();
  for (const id of ['1', '2', '3']) {
    await service.appendEvent({ session, event: setting({}, { id }) });
  }
  const config = { numRecentEvents: 1 };
  const read = await service.getSession({ ...KEY, config });
  config.numRecentEvents = 3;
  config.afterTimestamp = Infinity;
  assert.deepEqual(ids(read), ['3']);
});

test('a record of a session names it, and is not brought up to date', async () => {
  const { service } = await open();
  const record = { appName: 'app', userId: 'u', id: 's', state: {}, events: [] };
  const event = await service.appendEvent({ session: record, event: setting({ x: 1 }) });
  assert.deepEqual(record, { appName: 'app', userId: 'u', id: 's', state: {}, events: [] });
  assert.deepEqual((await service.getSession(KEY)).events, [event]);
});

test("a handle of another service names a session, and that service's handle does not move", async () => {
  const { session } = await open({ x: 1 });
  const { service: second } = await open({ x: 2 });
  await second.appendEvent({ session, event: setting({ y: 1 }) });
  assert.equal(session.revision, 0);
  assert.deepEqual(plain((await second.getSession(KEY)).state), { x: 2, y: 1 });
});

test('an old handle of a session that was deleted and created anew is not found', async () => {
  const { service, session } = await open({ x: 1 });
  await service.deleteSession(KEY);
  const anew = await service.createSession({ ...KEY, state: { x: 2 } });
  await assert.rejects(
    service.appendEvent({ session, event: setting({ x: 3 }) }),
    (error) => isStatepadError(error) && error.code === 'SESSION_NOT_FOUND',
  );
  assert.deepEqual(plain(anew.state), { x: 2 });
  assert.deepEqual(plain(session.state), { x: 1 });
  assert.deepEqual(plain((await service.getSession(KEY)).state), { x: 2 });
});

test('a refused append leaves the handle as it was', async () => {
  const { service, session } = await open({ x: 1 });
  await service.appendEvent({ session, event: setting({ 'temp:t': 1 }, { id: 'e' }) });
  const before = plain(session);
  const rejected = [
    [{ session, event: setting({ x: 2, y: undefined }) }, 'VALUE_NOT_JSON'],
    [{ session, event: setting({ x: 2 }, { id: 'e' }) }, 'EVENT_ID_CONFLICT'],
    [{ session, event: setting({ x: 2 }), expectedRevision: 0 }, 'SESSION_STALE'],
    [{ session, event: setting({ x: 2 }), expectedRevision: -1 }, 'INVALID_ARGUMENT'],
    [{ session, event: setting({ x: 2 }), expectedRevision: 0.5 }, 'INVALID_ARGUMENT'],
    [{ session, event: setting({ x: 2 }), expectedRevision: NaN }, 'INVALID_ARGUMENT'],
    [{ session, event: setting({ x: 2 }), expectedRevision: Infinity }, 'INVALID_ARGUMENT'],
    [{ session, event: setting({ x: 2 }), expectedRevision: '1' }, 'INVALID_ARGUMENT'],
    [{ session, event: setting({ x: 2 }, { timestamp: NaN }) }, 'VALUE_NOT_JSON'],
    [{ session, event: setting({ x: 2 }, { timestamp: 'now' }) }, 'INVALID_ARGUMENT'],
    [{ session, event: setting([]) }, 'INVALID_ARGUMENT'],
    [{ session, event: undefined }, 'INVALID_ARGUMENT'],
    [{ session, event: null }, 'INVALID_ARGUMENT'],
    [{ session: undefined, event: setting({ x: 2 }) }, 'INVALID_ARGUMENT'],
    [{ session: { ...session, id: 's\ud800' }, event: setting({ x: 2 }) }, 'INVALID_ARGUMENT'],
  ];
  for (const [request, code] of rejected) {
    await assert.rejects(
      service.appendEvent(request),
      (error) => isStatepadError(error) && assert.equal(error.code, code) === undefined,
    );
  }
  assert.deepEqual(plain(session), before);
  assert.deepEqual(plain((await service.getSession(KEY)).state), { x: 1 });
});

test('temp: keys show on the handle that they came through, until a user begins the next invocation', async () => {
  const { service, session } = await open();
  const other = await service.getSession(KEY);
  const say = (author, invocationId, stateDelta) =>
    service.appendEvent({ session, event: { author, invocationId, actions: { stateDelta } } });
  await say('user', 'i', { 'temp:a': 1 });
  await say('bot', 'i', { 'temp:b': { c: 2 }, x: 1 });
  assert.deepEqual(plain(session.state), { x: 1, 'temp:a': 1, 'temp:b': { c: 2 } });
  await say('user', 'i', {});
  assert.deepEqual(plain(session.state), { x: 1, 'temp:a': 1, 'temp:b': { c: 2 } });
  await say('bot', 'sub', { 'temp:a': 3 });
  assert.deepEqual(plain(session.state), { x: 1, 'temp:a': 3, 'temp:b': { c: 2 } });
  await say('user', 'j', { 'temp:d': 4 });
  assert.deepEqual(plain(session.state), { x: 1, 'temp:d': 4 });
  assert.throws(() => (session.state['temp:d'] = 5), TypeError);
  await service.appendEvent({ session: other, event: setting({}) });
  assert.deepEqual(plain(other.state), { x: 1 });
});

test('app and user state are fresh copies', async () => {
  const { service } = await open({ 'app:x': { y: 1 }, 'user:x': { y: 1 } });
  for (const read of [() => service.getAppState(KEY), () => service.getUserState(KEY)]) {
    const record = await read();
    record.x.y = 2;
    record.z = 3;
    assert.deepEqual(plain(await read()), { x: { y: 1 } });
  }
});

test('what handles show is made once, and shared by those that show the same', async () => {
  const { service, session } = await open({ x: 1, 'app:y': 1 });
  const [one, other] = [await service.getSession(KEY), await service.getSession(KEY)];
  assert.equal(one.state, one.state);
  assert.equal(one.events, one.events);
  assert.equal(one.state, other.state);
  await service.appendEvent({ session, event: setting({ 'temp:t': 1 }) });
  assert.equal(session.state, session.state);
  assert.deepEqual((await service.getSession(KEY)).state, { x: 1, 'app:y': 1 });
  assert.notEqual((await service.getSession(KEY)).state, session.state);
});
