// Sessions that take their time to be made: their ids are taken, and they are not there. The clock of the API is moved
// on by requests alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStoreError, SessionService } from 'statepad';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { APP, call, context, create, ENGINE, keyOf, storeOver } from './words.mjs';

const KEY = keyOf('s1');
/** As long as the service was seen to take. */
const SLOW = 2_800;
const NEVER = 1e9;
const isPost = (url, { method }) => method === 'POST' && url.includes('/sessions?');

/** An API whose clock goes on by 200 milliseconds with each request, and a store over it. */
function slow({ creationDelay = SLOW, onAnswer = () => undefined, ...options } = {}) {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const vertex = fakeVertexAi({ now: () => now, creationDelay });
  const fetch = async (url, init) => {
    now += 200;
    const response = await vertex.fetch(url, init);
    onAnswer(url, init);
    return response;
  };
  const store = (more = {}) => storeOver({ fetch }, { pause: 0, ...options, ...more });
  return { vertex, store, wait: () => void (now += NEVER) };
}

async function sessionIds(vertex) {
  const { sessions = [] } = await call(vertex, 'GET', `${ENGINE}/sessions`);
  return sessions.map(({ name, userId }) => [name.split('/').at(-1), userId]);
}

const outcomeOf = async (promise) =>
  await promise.then(
    ({ rev, duplicate }) => [rev, duplicate],
    (error) => (isStoreError(error) ? error.code : 'unknown'),
  );

test('a slow creation is waited for', async () => {
  const { vertex, store } = slow();
  assert.deepEqual(await outcomeOf(store().commit(create('c1', KEY), context)), [0, undefined]);
  assert.deepEqual(await sessionIds(vertex), [['s1', 'ana']]);
});

test('a slow creation whose answer is lost is known for its own', async () => {
  for (const trouble of [{ kind: 'answer-lost' }, { kind: 'answer-lost', times: 3 }]) {
    const { vertex, store } = slow();
    vertex.disturb({ ...trouble, when: 'createSession' });
    const made = store().commit(create('c1', KEY, { session: { set: { n: 1 } } }), context);
    assert.deepEqual(await outcomeOf(made), [0, undefined]);
    const { created, state } = await store().load(KEY, {}, context);
    assert.deepEqual([created, { ...state.session }], ['c1', { n: 1 }]);
  }
});

test('so is one whose operation cannot be followed', async () => {
  const { vertex, store } = slow();
  vertex.disturb({ kind: 'request-lost', when: 'getOperation', times: 4 });
  assert.deepEqual(await outcomeOf(store().commit(create('c1', KEY), context)), [0, undefined]);
});

test('a creation that outlives its caller is found by the next try', async () => {
  const caller = new AbortController();
  const reason = new Error('it takes too long');
  const { store } = slow({ onAnswer: (url, init) => isPost(url, init) && caller.abort(reason) });
  await assert.rejects(store().commit(create('c1', KEY), { signal: caller.signal }), reason);
  const again = store().commit({ ...create('c1', KEY), attempt: 2 }, context);
  assert.deepEqual(await outcomeOf(again), [0, true]);
});

test('a service that has lost the answer of a slow creation has a session', async () => {
  const { vertex, store } = slow();
  const service = new SessionService({ store: store(), retry: { pause: 1 } });
  vertex.disturb({ kind: 'answer-lost', when: 'createSession' });
  const session = await service.createSession({ ...KEY, state: { n: 1 } });
  await service.appendEvent({ session, event: { actions: { stateDelta: { n: 2 } } } });
  assert.deepEqual((await service.getSession(KEY)).state, { n: 2 });
});

test('an id that another creation has taken is taken, and its session is there when that is told', async () => {
  for (const [theirs, ours] of [
    [keyOf('s1', 'bob'), KEY],
    [KEY, KEY],
  ]) {
    const { vertex, store } = slow();
    await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s1`, { userId: theirs.userId });
    for (const change of [create('c1', ours), { ...create('c1', ours), attempt: 2 }]) {
      assert.equal(await outcomeOf(store().commit(change, context)), 'exists');
    }
    assert.deepEqual(await sessionIds(vertex), [['s1', theirs.userId]]);
  }
  const { vertex, store } = slow();
  await call(vertex, 'POST', `${ENGINE}/sessions?sessionId=s1`, { userId: 'ana', sessionState: { n: 5 } });
  const { state } = await new SessionService({ store: store() }).getOrCreateSession(KEY);
  assert.deepEqual({ ...state }, { n: 5 });
});

test('who has taken an id is not known while its session is not there', async () => {
  const { vertex, store, wait } = slow({ creationDelay: NEVER });
  vertex.disturb({ kind: 'answer-lost', when: 'createSession' });
  assert.equal(await outcomeOf(store().commit(create('c1', KEY), context)), 'unknown');
  assert.equal(await outcomeOf(store().commit({ ...create('c1', KEY), attempt: 2 }, context)), 'unknown');
  // No try of this one can have taken it.
  assert.equal(await outcomeOf(store().commit(create('c2', KEY), context)), 'exists');
  const service = new SessionService({ store: store(), retry: { pause: 1, attempts: 2 } });
  vertex.disturb({ kind: 'answer-lost', when: 'createSession' });
  await assert.rejects(service.createSession(keyOf('s2')), { code: 'COMMIT_UNKNOWN' });
  wait();
  assert.deepEqual(await outcomeOf(store().commit({ ...create('c1', KEY), attempt: 3 }, context)), [0, true]);
});

test('without a label it is unknown whether a session is its own, unless another user has it', async () => {
  const id = 'x'.repeat(64);
  const { store } = slow({ creationDelay: 0 });
  await store().commit(create(id, KEY), context);
  assert.equal(await outcomeOf(store().commit(create(id, KEY), context)), 'exists');
  assert.equal(await outcomeOf(store().commit({ ...create(id, KEY), attempt: 2 }, context)), 'unknown');
  const theirs = keyOf('s1', 'bob', APP);
  assert.equal(await outcomeOf(store().commit({ ...create(id, theirs), attempt: 2 }, context)), 'exists');
});
