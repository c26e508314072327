// The ends of sessions in Agent Engine: the API takes one at a creation, states one for every session, and moves none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { append, APP, call, context, create, ENGINE, keyOf, storeOver } from './words.mjs';

const KEY = keyOf('s1');
const DAY = 86_400_000;
const NOW = Date.parse('2100-03-01T12:00:00Z');
const ending = (expires, id = 'c1', key = KEY) => ({ ...create(id, key), expires });
const apiSession = (vertex, id = 's1') => call(vertex, 'GET', `${ENGINE}/sessions/${id}`);
const loadedEnd = async (store, key = KEY) => (await store.load(key, {}, context))?.expires;

/** An API whose clock tests turn, the bodies of its creations, and a store over it. */
function turned(options) {
  let now = NOW;
  const vertex = fakeVertexAi({ now: () => now });
  const bodies = [];
  const fetch = (url, init) => {
    if (url.includes('/sessions?sessionId=')) bodies.push(JSON.parse(init.body));
    return vertex.fetch(url, init);
  };
  return { vertex, bodies, store: storeOver({ fetch }, options), turn: (by) => void (now += by) };
}

/** An API that is late to remove what has ended: sessions with these ids say that they ended long ago. */
function late(...ids) {
  const vertex = fakeVertexAi();
  const ended = (session) =>
    ids.some((id) => session.name?.endsWith(`/sessions/${id}`))
      ? { ...session, expireTime: '2020-01-01T00:00:00Z' }
      : session;
  const fetch = async (url, init) => {
    const response = await vertex.fetch(url, init);
    const text = async () => {
      const body = JSON.parse(await response.text());
      return JSON.stringify(body.sessions ? { ...body, sessions: body.sessions.map(ended) } : ended(body));
    };
    return { ok: response.ok, status: response.status, headers: response.headers, text };
  };
  return { vertex, store: storeOver({ fetch }) };
}

test('the time at which a session ends is that of the API, which answers it wherever the session is read', async () => {
  const { vertex, bodies, store } = turned();
  const at = NOW + 2 * DAY + 7;
  assert.equal((await store.commit(ending({ at }), context)).expires, at);
  assert.equal(bodies[0].expireTime, '2100-03-03T12:00:00.007Z');
  assert.equal(Date.parse((await apiSession(vertex)).expireTime), at);
  assert.equal((await store.commit(append('e1', KEY), context)).expires, at);
  assert.equal((await store.commit(append('e1', KEY), context)).expires, at);
  assert.equal((await store.commit({ ...ending({ at }), attempt: 2 }, context)).expires, at);
  assert.equal(await loadedEnd(store), at);
  const { rows } = await store.list({ app: APP }, context);
  assert.deepEqual(
    rows.map(({ expires }) => expires),
    [at],
  );
});

test('a duration is sent as that of the API, which counts it from the creation: no append moves the end', async () => {
  const { vertex, bodies, store, turn } = turned();
  const committed = await store.commit(ending({ ttl: DAY + 0.5 }), context);
  assert.equal(bodies[0].ttl, '86400.001s');
  assert.equal(committed.expires, undefined);
  const end = await loadedEnd(store);
  assert.ok(Math.abs(end - (NOW + DAY)) < 1_000);
  assert.equal(end, Math.floor(Date.parse((await apiSession(vertex)).expireTime)));
  turn(DAY / 2);
  assert.equal((await store.commit(append('e1', KEY), context)).expires, end);
  assert.equal(await loadedEnd(store), end);
});

test('the end of a creation comes before that of the options, which comes before that of the API', async () => {
  const { bodies, store } = turned({ ttl: '172800s' });
  await store.commit(ending({ at: NOW + 3 * DAY }), context);
  await store.commit(create('c2', keyOf('s2')), context);
  assert.deepEqual(
    bodies.map(({ ttl, expireTime }) => [ttl, expireTime]),
    [
      [undefined, '2100-03-04T12:00:00.000Z'],
      ['172800s', undefined],
    ],
  );
  const plain = turned();
  await plain.store.commit(create('c1', KEY), context);
  assert.equal(Object.keys(plain.bodies[0]).filter((member) => ['ttl', 'expireTime'].includes(member)).length, 0);
  assert.ok(Math.abs((await loadedEnd(plain.store)) - (NOW + 365 * DAY)) < 1_000);
});

test('a time that the API has no words for is refused before anything is sent', async () => {
  const { bodies, store } = turned();
  await assert.rejects(store.commit(ending({ at: 253_402_300_800_000 }), context), { code: 'rejected' });
  assert.deepEqual(bodies, []);
});

test('a session whose time has passed is not there, and its id is free', async () => {
  const { store, turn } = turned();
  await store.commit(ending({ ttl: DAY }), context);
  await store.commit(append('e1', KEY), context);
  turn(DAY + 1_000);
  assert.equal(await store.load(KEY, {}, context), null);
  await assert.rejects(store.commit(append('e2', KEY), context), { code: 'not-found' });
  assert.deepEqual((await store.list({ app: APP }, context)).rows, []);
  assert.deepEqual(await store.owners(APP, 's1', context), []);
  const again = await store.commit(ending({ ttl: DAY }, 'c2'), context);
  assert.deepEqual([again.rev, again.duplicate], [0, undefined]);
  assert.deepEqual((await store.load(KEY, {}, context)).events, []);
});

test('a session that has ended is not there while the API is late to remove it', async () => {
  const { store } = late('s1');
  await store.commit(ending({ ttl: DAY }), context);
  await store.commit(create('c2', keyOf('s2', 'bob')), context);
  assert.equal(await store.load(KEY, {}, context), null);
  await assert.rejects(store.commit(append('e1', KEY), context), { code: 'not-found' });
  const { rows, total } = await store.list({ app: APP }, context);
  assert.deepEqual([rows.map(({ key }) => key.sessionId), total], [['s2'], 1]);
  assert.deepEqual(await store.owners(APP, 's1', context), []);
  assert.deepEqual((await store.listUsers(APP, {}, context)).names, ['bob']);
  // The API alone can free the id. The same creation sent again does not bring the session back.
  await assert.rejects(store.commit(ending({ ttl: DAY }, 'c3'), context), { code: 'exists' });
  const { rev, prev, duplicate, expires } = await store.commit({ ...ending({ ttl: DAY }), attempt: 2 }, context);
  assert.deepEqual([rev, prev, duplicate, expires], [0, 0, true, undefined]);
});
