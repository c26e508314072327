// Requests and answers that get lost, limits, tokens that expire, operations that take their time: what was asked for
// is done once, and what is said of it is true.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStoreError, SessionService } from 'statepad';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { append, call, context, create, ENGINE, keyOf, opened, storeOver } from './words.mjs';

const KEY = keyOf('s1');

/** A short life of two sessions. Answers what a reader sees at its end. */
async function live(store) {
  await store.commit(create('c1', KEY, { app: { set: { a: 1 } }, session: { set: { n: 0 } } }), context);
  for (const n of [1, 2, 3]) {
    const delta = { app: { set: { a: n } }, session: n === 2 ? { unset: ['n'] } : { set: { n, [`k${n}`]: n } } };
    const { rev, prev } = await store.commit(append(`e${n}`, KEY, delta, { time: 1_000 * n }), context);
    assert.deepEqual([rev, prev], [n, n - 1]);
    const loaded = await store.load(KEY, {}, context);
    assert.equal(loaded.rev, n);
  }
  await store.commit(create('c2', keyOf('s2')), context);
  const { total } = await store.list({ app: KEY.appName, descending: true }, context);
  await store.remove(keyOf('s2'), context);
  const { rev, created, state, events } = await store.load(KEY, {}, context);
  const gone = await store.load(keyOf('s2'), {}, context);
  const values = Object.fromEntries(Object.entries(state).map(([scope, all]) => [scope, { ...all }]));
  return { total, gone, rev, created, values, ids: events.map(({ data }) => JSON.parse(data).id) };
}

const EXPECTED = {
  total: 2,
  gone: null,
  rev: 3,
  created: 'c1',
  values: { app: { a: 3 }, user: {}, session: { n: 3, k1: 1, k3: 3 } },
  ids: ['e1', 'e2', 'e3'],
};

/** The events that the API has of a session, whatever a store shows. */
async function storedEvents(vertex, sessionId) {
  const { sessionEvents = [] } = await call(vertex, 'GET', `${ENGINE}/sessions/${sessionId}/events`);
  return sessionEvents.map(({ rawEvent }) => rawEvent.id);
}

/** Meets the request of this number alone. */
function nth(number) {
  let seen = 0;
  return () => seen++ === number;
}

test('whatever happens to one request, all is done, and each write once', async () => {
  const quiet = fakeVertexAi();
  assert.deepEqual(await live(storeOver(quiet)), EXPECTED);
  const kinds = [
    { kind: 'request-lost' },
    { kind: 'answer-lost' },
    { kind: 'error', status: 429 },
    { kind: 'error', status: 500 },
    { kind: 'error', status: 503 },
    { kind: 'error', status: 504 },
    { kind: 'pending', polls: 3 },
  ];
  assert.ok(quiet.requests.length > 15);
  for (const kind of kinds) {
    for (const number of quiet.requests.keys()) {
      const vertex = fakeVertexAi();
      vertex.disturb({ ...kind, when: nth(number) });
      const told = `${JSON.stringify(kind)} at request ${number}`;
      assert.deepEqual(await live(storeOver(vertex)), EXPECTED, told);
      assert.deepEqual(await storedEvents(vertex, 's1'), ['e1', 'e2', 'e3'], told);
    }
  }
});

const WRITES = [
  ['appendEvent', append('e1', KEY)],
  ['createSession', create('c2', keyOf('s2'))],
];

test('a try whose answer was lost stays lost when a later one is surely not written', async () => {
  for (const [when, change] of WRITES) {
    const { vertex, store } = opened();
    await store.commit(create('c1', KEY), context);
    vertex.disturb({ kind: 'error', status: 504, when });
    vertex.disturb({ kind: 'error', status: 503, when, times: 10 });
    const error = await store.commit(change, context).catch((reason) => reason);
    assert.ok(!isStoreError(error), error.message);
  }
});

test('who has no right is told so, with the status and the code of the API, and nothing is asked again', async () => {
  const { vertex, service } = opened();
  const session = await service.createSession(KEY);
  for (const run of [
    async () => await service.getSession(keyOf('s2')),
    async () => await service.listSessions({ appName: KEY.appName }),
    async () => await service.createSession(keyOf('s3')),
    async () => await service.appendEvent({ session, event: {} }),
    async () => await service.deleteSession(KEY),
  ]) {
    const before = vertex.requests.length;
    vertex.disturb({ kind: 'error', status: 403 });
    const error = await run().catch((reason) => reason);
    assert.equal(error.code, 'FORBIDDEN');
    assert.match(error.message, /403 PERMISSION_DENIED: The caller does not have permission/);
    assert.deepEqual([error.cause.cause.status, error.cause.cause.code], [403, 'PERMISSION_DENIED']);
    assert.equal(vertex.requests.length, before + 1);
  }
});

test('what is surely not written is unavailable, what may be is another error', async () => {
  for (const [trouble, isSure] of [
    [{ kind: 'error', status: 429 }, true],
    [{ kind: 'error', status: 503 }, true],
    [{ kind: 'error', status: 500 }, false],
    [{ kind: 'error', status: 504 }, false],
    [{ kind: 'request-lost' }, false],
  ]) {
    for (const [when, change] of WRITES) {
      const { vertex, store } = opened();
      await store.commit(create('c1', KEY), context);
      vertex.disturb({ ...trouble, when, times: 100 });
      const error = await store.commit(change, context).catch((reason) => reason);
      assert.equal(isStoreError(error) ? error.code : 'unknown', isSure ? 'unavailable' : 'unknown');
      assert.equal(
        vertex.requests.filter((request) => request.call === when).length,
        when === 'createSession' ? 5 : 4,
      );
      assert.deepEqual(await storedEvents(vertex, 's1'), []);
    }
  }
});

test('a write whose answer is lost, and that cannot be looked for, is not said to be unwritten', async () => {
  const { vertex, service } = opened({}, { service: { retry: { attempts: 1 } } });
  const session = await service.createSession(KEY);
  vertex.disturb({ kind: 'answer-lost', when: 'appendEvent' });
  vertex.disturb({ kind: 'request-lost', when: 'listEvents', times: 4 });
  await assert.rejects(service.appendEvent({ session, event: { id: 'e1' } }), { code: 'COMMIT_UNKNOWN' });
  await service.appendEvent({ session, event: { id: 'e1' } });
  assert.deepEqual(await storedEvents(vertex, 's1'), ['e1']);
});

test('the same change that a service sends again is known, also by another store', async () => {
  const { vertex, store } = opened();
  await store.commit(create('c1', KEY), context);
  const id = crypto.randomUUID();
  const change = append(id, KEY, { session: { set: { n: 1 } } }, { time: Date.now() });
  const first = await store.commit(change, context);
  assert.deepEqual([first.rev, first.prev, first.duplicate], [1, 0, undefined]);
  for (const other of [store, storeOver(vertex)]) {
    const again = await other.commit({ ...change, attempt: 2 }, context);
    assert.deepEqual([again.rev, again.prev, again.duplicate, JSON.parse(again.data)], [1, 1, true, { id }]);
    assert.equal((await other.commit(create('c1', KEY), context)).duplicate, true);
    await assert.rejects(other.commit(create('c3', KEY), context), { code: 'exists' });
  }
  assert.deepEqual(await storedEvents(vertex, 's1'), [id]);
});

test('a request that comes in late, after it was sent again, is shown once', async () => {
  const vertex = fakeVertexAi();
  const held = [];
  let isHeld = true;
  const store = storeOver({
    fetch: async (url, init) => {
      if (isHeld && url.endsWith(':appendEvent')) {
        isHeld = false;
        held.push(() => vertex.fetch(url, { ...init, signal: undefined }));
        throw new TypeError('the connection was lost');
      }
      return await vertex.fetch(url, init);
    },
  });
  await store.commit(create('c1', KEY), context);
  await store.commit(append('e1', KEY, { session: { set: { n: 1 } } }), context);
  await held[0]();
  assert.deepEqual(await storedEvents(vertex, 's1'), ['e1', 'e1']);
  for (const [index, reader] of [store, storeOver(vertex)].entries()) {
    const { rev, events } = await reader.load(KEY, {}, context);
    assert.deepEqual([rev, events.length], [1 + index, 1 + index]);
    const next = await reader.commit(append(`e${index + 2}`, KEY, {}, { time: 2_000 + index }), context);
    assert.deepEqual([next.rev, next.prev], [index + 2, index + 1]);
  }
});

test('an expired token is asked for once more; one that is not taken is unavailable', async () => {
  let asked = 0;
  const { vertex, store } = opened({ token: async () => `token-${(asked += 1)}` });
  await store.commit(create('c1', KEY), context);
  assert.equal(asked, 1);
  await storeOver(vertex, { token: () => 'old' }).commit(append('e1', KEY), context);
  vertex.expireTokens();
  const broken = storeOver(vertex, { token: () => 'old' });
  await assert.rejects(broken.load(KEY, {}, context), { code: 'unavailable', message: /access token/ });
  await assert.rejects(broken.commit(append('e2', KEY), context), { code: 'unavailable' });
  let turn = 0;
  const renewed = storeOver(vertex, { token: () => (turn++ % 2 === 0 ? 'old' : 'fresh') });
  assert.equal((await renewed.load(KEY, {}, context)).rev, 1);
  const failing = storeOver(vertex, {
    token: () => {
      throw new Error('no credentials here');
    },
  });
  await assert.rejects(failing.load(KEY, {}, context), { code: 'unavailable', message: /no credentials here/ });
  assert.deepEqual(await storedEvents(vertex, 's1'), ['e1']);
});

test('a pause that the API asks for is kept, and ends with the signal', async () => {
  const { vertex, store } = opened();
  await store.commit(create('c1', KEY), context);
  vertex.disturb({ kind: 'error', status: 429, retryAfter: 1, when: 'appendEvent' });
  const began = performance.now();
  await store.commit(append('e1', KEY), context);
  assert.ok(performance.now() - began >= 990);
  vertex.disturb({ kind: 'error', status: 429, retryAfter: 50, when: 'getSession' });
  const signal = AbortSignal.timeout(20);
  await assert.rejects(store.load(KEY, {}, { signal }), { name: 'TimeoutError' });
});

test('a service tells what is known', async () => {
  const vertex = fakeVertexAi();
  const service = new SessionService({ store: storeOver(vertex, { attempts: 1 }), retry: { attempts: 1 } });
  const session = await service.createSession(KEY);
  vertex.disturb({ kind: 'error', status: 429, when: 'appendEvent', times: 20 });
  await assert.rejects(service.appendEvent({ session, event: {} }), { code: 'STORE_UNAVAILABLE' });
  assert.deepEqual(await storedEvents(vertex, 's1'), []);
});

test('answers that are no answers of the API, and refusals of who asks, are told for what they are', async () => {
  const answering = (status, text, when = () => true) => {
    const vertex = fakeVertexAi();
    let isOn = false;
    const fetch = async (url, init) => {
      const response = await vertex.fetch(url, init);
      return isOn && when(url, init) ? new Response(text, { status }) : response;
    };
    return { vertex, store: storeOver({ fetch }), turnOn: () => (isOn = true) };
  };
  const refusedKey = JSON.stringify({
    error: { code: 400, status: 'INVALID_ARGUMENT', message: 'API key not valid. Please pass a valid API key.' },
  });
  const denied = JSON.stringify({ error: { code: 403, status: 'PERMISSION_DENIED', message: 'no right' } });
  for (const [status, text, code, message] of [
    [403, denied, 'forbidden', /the API does not permit the call: 403 PERMISSION_DENIED: no right/],
    [403, '<html>blocked</html>', 'forbidden', /403: <html>blocked/],
    [400, refusedKey, 'rejected', /the API refuses the call: 400 INVALID_ARGUMENT: API key not valid/],
    [200, '<html>sign in</html>', 'unavailable', /the answer is not JSON/],
    [502, 'bad gateway', 'unavailable', /502/],
    [200, '{}', 'corrupt', /a session in an answer of the API cannot be read/],
  ]) {
    const { store, turnOn } = answering(status, text, (url) => url.endsWith('/sessions/s1'));
    await store.commit(create('c1', KEY), context);
    turnOn();
    await assert.rejects(store.load(KEY, {}, context), { code, message });
  }
  // The event is written, and a proxy says something else.
  for (const [status, text] of [
    [200, '<html>ok</html>'],
    [502, 'bad gateway'],
    [500, ''],
  ]) {
    const { vertex, store, turnOn } = answering(status, text, (_, { method }) => method === 'POST');
    await store.commit(create('c1', KEY), context);
    turnOn();
    const { rev, duplicate } = await store.commit(append('e1', KEY), context);
    assert.deepEqual([rev, duplicate], [1, undefined]);
    await store.commit(create('c2', keyOf('s2')), context);
    assert.deepEqual(await storedEvents(vertex, 's1'), ['e1']);
  }
});

test('an engine that is not there has no sessions, and none can be made', async () => {
  const vertex = fakeVertexAi({ engines: ['77'] });
  const store = storeOver(vertex);
  assert.equal(await store.load(KEY, {}, context), null);
  await store.remove(KEY, context);
  await assert.rejects(store.commit(create('c1', KEY), context), { code: 'rejected' });
  await assert.rejects(store.list({ app: KEY.appName, descending: true }, context), {
    code: 'rejected',
    message: /there is no engine projects\/my-project/,
  });
});

test('a caller who waits no more ends the request, and is told that the outcome is open', async () => {
  const { vertex, service } = opened();
  const session = await service.createSession(KEY);
  vertex.disturb({ kind: 'slow', delay: 5_000, when: 'appendEvent' });
  const signal = AbortSignal.timeout(50);
  const began = performance.now();
  await assert.rejects(service.appendEvent({ session, event: { id: 'e1' }, signal }), { code: 'COMMIT_UNKNOWN' });
  assert.ok(performance.now() - began < 2_000);
  await service.close();
});

/** An API that does not answer a call until it is let go on. */
function silent(vertex, call) {
  const waiting = [];
  let isSilent = true;
  const fetch = async (url, init) => {
    const path = new URL(url).pathname;
    if (isSilent && path.endsWith(call)) {
      const answer = vertex.fetch(url, init);
      await new Promise((resolve, reject) => {
        waiting.push(resolve);
        init.signal.addEventListener('abort', () => reject(init.signal.reason));
      });
      return await answer;
    }
    return await vertex.fetch(url, init);
  };
  return { fetch, waiting, speak: () => void (isSilent = false) };
}

test('a server that says nothing is waited for once, and its event is known by the next call', async () => {
  const vertex = fakeVertexAi();
  const { fetch, waiting, speak } = silent(vertex, ':appendEvent');
  const service = new SessionService({ store: storeOver({ fetch }), timeout: 100, retry: { pause: 1 } });
  const session = await service.createSession(KEY);
  const event = { id: 'e1', actions: { stateDelta: { n: 1 } } };
  await assert.rejects(service.appendEvent({ session, event }), { code: 'COMMIT_UNKNOWN' });
  assert.equal(waiting.length, 1);
  speak();
  await service.appendEvent({ session, event });
  assert.deepEqual([session.revision, session.state], [1, { n: 1 }]);
  assert.deepEqual(await storedEvents(vertex, 's1'), ['e1']);
});

test('a server that says nothing to who reads is waited for once', async () => {
  const vertex = fakeVertexAi();
  const { fetch, waiting, speak } = silent(vertex, '/sessions/s1');
  await storeOver(vertex).commit(create('c1', KEY), context);
  const service = new SessionService({ store: storeOver({ fetch }), timeout: 50, retry: { pause: 1 } });
  await assert.rejects(service.getSession(KEY), { code: 'STORE_UNAVAILABLE' });
  assert.equal(waiting.length, 1);
  speak();
  assert.equal((await service.getSession(KEY)).id, 's1');
});

test('a server that goes on answering is not given up, however long it takes in all', async () => {
  const vertex = fakeVertexAi();
  const writer = storeOver(vertex);
  await writer.commit(create('c1', KEY), context);
  for (let page = 0; page < 3; page++) {
    for (let index = 0; index < 100; index++) {
      await call(vertex, 'POST', `${ENGINE}/sessions/s1:appendEvent`, {
        author: 'agent',
        invocationId: 'i',
        timestamp: new Date(1_000 * (100 * page + index)).toISOString(),
      });
    }
  }
  // Four answers at least, each of which takes a third of the timeout.
  const timeout = 900;
  const fetch = async (url, init) => {
    await new Promise((resolve) => setTimeout(resolve, timeout / 3));
    return await vertex.fetch(url, init);
  };
  const service = new SessionService({ store: storeOver({ fetch }), timeout, retry: { attempts: 1 } });
  assert.equal((await service.getSession(KEY)).events.length, 300);
});
