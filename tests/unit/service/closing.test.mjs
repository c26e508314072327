// Closing a service whose store does not answer: it ends within the time that one answer may take.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, hasCode, setting } from '../../support/fixtures.mjs';

const TIMEOUT = 1_000;
/** A call that never answers, and a promise of its first call. */
function hanging() {
  let called;
  const isCalled = new Promise((resolve) => (called = resolve));
  return [() => (called(), new Promise(() => undefined)), isCalled];
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Returns true if a promise is settled, once everything else is that can be. */
async function isDone(promise) {
  let done = false;
  const end = () => (done = true);
  promise.then(end, end);
  await settled();
  return done;
}

/** Closes a service, and lets so much time go by that it is done. Answers how much that was. */
async function closed(service, timers) {
  const closing = service.close();
  let time = 0;
  for (; !(await isDone(closing)) && time < 10 * TIMEOUT; time += 100) timers.tick(100);
  await closing;
  return time;
}

test('close() ends in time although persist never resolves, and each write is told what is known of it', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [persist, isCalled] = hanging();
  const service = new SessionService({ persist, restore: () => [], timeout: TIMEOUT });
  const writes = ['one', 'two', 'one'].map((sessionId) => service.createSession({ ...KEY, sessionId }));
  const outcomes = Promise.allSettled(writes);
  await isCalled;
  t.mock.timers.tick(300);
  assert.ok((await closed(service, t.mock.timers)) <= TIMEOUT);
  assert.deepEqual(
    (await outcomes).map(({ reason }) => reason.code),
    ['COMMIT_UNKNOWN', 'COMMIT_UNKNOWN', 'STORE_UNAVAILABLE'],
  );
  await assert.rejects(service.getSession(KEY), hasCode('CLOSED'));
});

test('close() ends in time when all writes have been told before', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const retry = { attempts: 1 };
  const [persist, isCalled] = hanging();
  const service = new SessionService({ persist, restore: () => [], timeout: TIMEOUT, retry });
  const write = service.createSession(KEY).catch((error) => error);
  await isCalled;
  t.mock.timers.tick(TIMEOUT);
  assert.ok(hasCode('COMMIT_UNKNOWN')(await write));
  assert.ok((await closed(service, t.mock.timers)) <= TIMEOUT);
});

test('close() ends in time although restore never resolves', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const [restore, isCalled] = hanging();
  const service = new SessionService({ persist: async () => undefined, restore, timeout: TIMEOUT });
  const read = service.getSession(KEY).catch((error) => error);
  await isCalled;
  assert.ok((await closed(service, t.mock.timers)) <= TIMEOUT);
  assert.ok(hasCode('STORE_UNAVAILABLE')(await read));
});

test('close() waits for a store that answers in time, however long all writes take', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = memoryStore();
  let called;
  const isCalled = new Promise((resolve) => (called = resolve));
  const slow = async (change, context) => {
    called();
    await new Promise((resolve) => setTimeout(resolve, TIMEOUT - 100));
    return await store.commit(change, context);
  };
  const service = new SessionService({ store: { ...store, commit: slow, commitMany: undefined }, timeout: TIMEOUT });
  const created = service.createSession(KEY);
  await isCalled;
  t.mock.timers.tick(TIMEOUT - 100);
  const session = await created;
  const writes = [1, 2, 3, 4].map((n) => service.appendEvent({ session, event: setting({ n }) }));
  assert.ok((await closed(service, t.mock.timers)) > 3 * TIMEOUT);
  await Promise.all(writes);
  assert.equal((await new SessionService({ store }).getSession(KEY)).revision, 4);
});

test('close() ends in time although the store does not close, and throws what the store throws', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const service = new SessionService({ store: { ...memoryStore(), close: hanging()[0] }, timeout: TIMEOUT });
  await service.createSession(KEY);
  assert.ok((await closed(service, t.mock.timers)) <= TIMEOUT);
  const failure = new Error('it cannot be closed');
  const close = async () => {
    throw failure;
  };
  const other = new SessionService({ store: { ...memoryStore(), close } });
  await other.createSession(KEY);
  await assert.rejects(other.close(), failure);
});
