// Others who write to the same sessions: users of another name, writers that know no marks, adk-js's own service.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEvent } from '@google/adk';
import { DELETED, SessionService } from 'statepad';
import { adkService } from './adk.mjs';
import { append, appendForeign, APP, call, context, create, ENGINE, keyOf, opened, storeOver } from './words.mjs';

const KEY = keyOf('s1');

/** The state of a session as the API answers it. */
async function apiState(vertex, sessionId = 's1') {
  return (await call(vertex, 'GET', `${ENGINE}/sessions/${sessionId}`)).sessionState;
}

test("another user's session is as if it were not there, but its id is taken", async () => {
  const { vertex, store, service } = opened();
  await service.createSession({ ...KEY, state: { secret: 1 } });
  const other = keyOf('s1', 'bob');
  assert.equal(await store.load(other, {}, context), null);
  assert.equal(await service.getSession(other), undefined);
  await assert.rejects(store.commit(append('e1', other), context), { code: 'not-found' });
  await assert.rejects(store.commit(create('c2', other), context), { code: 'exists' });
  await assert.rejects(service.createSession(other), { code: 'SESSION_EXISTS' });
  await service.deleteSession(other);
  assert.equal((await service.getSession(KEY)).state.secret, 1);
  assert.deepEqual((await service.listSessions({ appName: APP, userId: 'bob' })).sessions, []);
  const writes = vertex.requests.filter((request) => request.method !== 'GET').map((request) => request.call);
  assert.deepEqual(writes, ['createSession', 'createSession', 'createSession']);
});

test('a user whose name has quotes and backslashes gets the own sessions alone', async () => {
  const { service } = opened();
  const odd = 'a" OR user_id="bob\\';
  await service.createSession(keyOf('s1', odd));
  await service.createSession(keyOf('s2', 'bob'));
  const { sessions } = await service.listSessions({ appName: APP, userId: odd });
  assert.deepEqual(
    sessions.map(({ id }) => id),
    ['s1'],
  );
});

test('a second app cannot have the engine of another one', async () => {
  const { store } = opened({ engine: '1234' });
  await store.commit(create('c1', keyOf('s1', 'ana', 'one')), context);
  await assert.rejects(store.load(keyOf('s1', 'ana', 'two'), {}, context), {
    code: 'rejected',
    message: /app "two" has the engine that holds the sessions of app "one"/,
  });
});

test('what is deleted is gone for readers with marks, and null for others, until it is set again', async () => {
  for (const prefix of ['', 'user:', 'app:']) {
    const { vertex, service } = opened();
    const [key, mark] = [`${prefix}k`, `${prefix}statepad:gone:k`];
    const session = await service.createSession({ ...KEY, state: { [key]: 1 } });
    const write = async (value) => {
      await service.appendEvent({ session, event: { actions: { stateDelta: { [key]: value } } } });
      return (await opened({ fetch: vertex.fetch }).service.getSession(KEY)).state;
    };
    const foreign = async (value) => {
      await appendForeign(vertex, 's1', { [key]: value });
      return (await service.getSession(KEY)).state;
    };
    assert.deepEqual(await write(DELETED), {});
    assert.deepEqual(await apiState(vertex), { [key]: null, [mark]: true });
    assert.deepEqual(await foreign(5), { [key]: 5 });
    assert.deepEqual(await foreign(null), {}, 'the mark is still there: for its writer null is what deletes');
    assert.deepEqual(await write(6), { [key]: 6 });
    assert.deepEqual(await apiState(vertex), { [key]: 6, [mark]: false });
    assert.deepEqual(await foreign(null), { [key]: null });
    assert.deepEqual(await write(DELETED), {});
    assert.deepEqual(await write(null), { [key]: null });
    assert.deepEqual(session.state, { [key]: null });
    const texts = JSON.stringify((await service.getSession(KEY)).events);
    assert.ok(!texts.includes('statepad:gone'), 'no event shows a mark');
  }
});

test('null that is set while another deletes is there', async () => {
  const { vertex, store } = opened();
  await store.commit(create('c1', KEY, { session: { set: { k: 1 } } }), context);
  const other = storeOver(vertex);
  const racing = storeOver({
    fetch: async (url, init) => {
      if (url.endsWith(':appendEvent')) {
        await other.commit(append('e1', KEY, { session: { unset: ['k'] } }), context);
      }
      return await vertex.fetch(url, init);
    },
  });
  await racing.commit(append('e2', KEY, { session: { set: { k: null } } }), context);
  assert.deepEqual({ ...(await store.load(KEY, {}, context)).state.session }, { k: null });
});

test('names that would be read as others, and names of marks, are refused before anything is sent', async () => {
  const { vertex, store } = opened();
  await store.commit(create('c1', KEY), context);
  for (const [scope, name] of [
    ['session', 'app:x'],
    ['session', 'user:x'],
    ['session', 'temp:x'],
    ['session', 'statepad:gone:x'],
    ['app', 'statepad:gone:x'],
    ['user', 'statepad:gone:'],
    ['app', 'lone \ud800'],
  ]) {
    for (const delta of [{ set: { [name]: 1 } }, { unset: [name] }]) {
      const change = append('e1', KEY, { [scope]: delta });
      await assert.rejects(store.commit(change, context), { code: 'rejected' }, `${scope} ${name}`);
      await assert.rejects(store.commit(create('c2', keyOf('s2'), { [scope]: delta }), context), { code: 'rejected' });
    }
  }
  assert.deepEqual(
    vertex.requests.filter(({ method }) => method === 'POST').map((request) => request.call),
    ['createSession'],
  );
});

test('adk-js and statepad take turns in one session, and read the same of it', async () => {
  const { vertex, service } = opened();
  const adk = adkService(vertex);
  const theirs = await adk.createSession({ ...KEY, state: { turns: 0, 'app:by': 'adk' } });
  const mine = await service.getSession(KEY);
  assert.deepEqual(mine.state, { turns: 0, 'app:by': 'adk' });
  for (let turn = 1; turn <= 6; turn++) {
    const parts = [{ text: `turn ${turn}` }];
    if (turn % 2 === 0) {
      const event = createEvent({ author: 'ana', invocationId: 'i', content: { role: 'user', parts } });
      event.actions = { stateDelta: { turns: turn, 'app:by': 'adk' } };
      await adk.appendEvent({ session: theirs, event });
    } else {
      const stateDelta = { turns: turn, 'app:by': 'statepad' };
      const event = { author: 'agent', invocationId: 'i', content: { role: 'model', parts }, actions: { stateDelta } };
      await service.appendEvent({ session: mine, event });
      assert.equal(mine.revision, turn);
    }
    const [read, other] = await Promise.all([service.getSession(KEY), adk.getSession({ ...KEY, sessionId: 's1' })]);
    const texts = (events) => events.map(({ content }) => content.parts[0].text);
    assert.equal(read.events.length, turn);
    assert.deepEqual(texts(read.events), texts(other.events));
    assert.deepEqual(
      read.events.map(({ timestamp, author }) => [timestamp, author]),
      other.events.map(({ timestamp, author }) => [timestamp, author]),
    );
    assert.deepEqual(read.state, other.state);
    assert.equal(read.state.turns, turn);
  }
  const [row] = (await service.listSessions({ appName: APP })).sessions;
  assert.deepEqual(row.state, { turns: 6, 'app:by': 'adk' });
  await adk.deleteSession({ ...KEY });
  assert.equal(await service.getSession(KEY), undefined);
  await assert.rejects(service.appendEvent({ session: mine, event: {} }), { code: 'SESSION_NOT_FOUND' });
});

test('events that come in with an earlier time take their place, and handles find out', async () => {
  const { vertex, service } = opened();
  const session = await service.createSession(KEY);
  const now = Date.now();
  for (const at of [1, 2, 3]) {
    await service.appendEvent({ session, event: { id: `e${at}`, timestamp: now + at * 10 } });
  }
  await appendForeign(vertex, 's1', { x: 1 }, { timestamp: new Date(now + 15).toISOString() });
  const read = await service.getSession(KEY);
  assert.deepEqual(
    read.events.map(({ timestamp }) => timestamp - now),
    [10, 15, 20, 30],
  );
  await service.appendEvent({ session, event: { id: 'e4', timestamp: now + 12 } });
  const again = await service.getSession(KEY);
  assert.deepEqual(
    again.events.map(({ timestamp }) => timestamp - now),
    [10, 12, 15, 20, 30],
  );
  assert.deepEqual([again.revision, again.state], [5, { x: 1 }]);
});

test('events of one millisecond stay in the order of appending, for every reader', async () => {
  const { vertex, service } = opened();
  const adk = adkService(vertex);
  const session = await service.createSession(KEY);
  const timestamp = Date.now();
  const ids = ['z', 'y', 'x', 'w', 'v'];
  for (const id of ids) {
    await service.appendEvent({ session, event: { id, timestamp, content: { parts: [{ text: id }] } } });
  }
  const { events } = await opened({ fetch: vertex.fetch }).service.getSession(KEY);
  assert.deepEqual(
    events.map(({ id, timestamp: time }) => [id, time]),
    ids.map((id) => [id, timestamp]),
  );
  const theirs = await adk.getSession({ ...KEY });
  assert.deepEqual(
    theirs.events.map(({ content, timestamp: time }) => [content.parts[0].text, time]),
    ids.map((id) => [id, timestamp]),
  );
});

test('a session that another has deleted and made anew is read as another session', async () => {
  const { vertex, store, service } = opened();
  const session = await service.createSession({ ...KEY, state: { old: 1 } });
  await service.appendEvent({ session, event: {} });
  const { created } = await store.load(KEY, {}, context);
  await call(vertex, 'DELETE', `${ENGINE}/sessions/s1`);
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s1`, { userId: 'ana', sessionState: { new: 1 } });
  const read = await service.getSession(KEY);
  assert.deepEqual([read.state, read.revision, read.events], [{ new: 1 }, 0, []]);
  await assert.rejects(service.appendEvent({ session, event: {} }), { code: 'SESSION_NOT_FOUND' });
  await assert.rejects(store.commit({ ...append('e9', KEY), guard: { created } }, context), { code: 'not-found' });
});

test('nothing is written through a handle to a session that another has deleted and made anew', async () => {
  const { vertex, service } = opened();
  const old = await service.createSession({ ...KEY, state: { n: 1 } });
  const other = new SessionService({ store: storeOver(vertex) });
  await other.deleteSession(KEY);
  await other.createSession({ ...KEY, state: { n: 2 } });
  const event = { author: 'ana', actions: { stateDelta: { n: 3 } } };
  await assert.rejects(service.appendEvent({ session: old, event }), { code: 'SESSION_NOT_FOUND' });
  const { state, events } = await other.getSession(KEY);
  assert.deepEqual([state.n, events.length], [2, 0]);
});
