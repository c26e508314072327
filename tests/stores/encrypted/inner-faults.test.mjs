// Encrypted changes when the inner store fails or is late, or others are always faster.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import {
  append,
  context,
  count,
  create,
  data,
  home,
  instead,
  key,
  ofApp,
  outcome,
  overMemory,
  refusal,
  update,
} from './support.mjs';

describe('when others are always faster', () => {
  /** Somebody writes another name just before each commit. */
  function busy() {
    let writes = 0;
    const inner = memoryStore();
    const store = instead(inner, {
      commit: async (method, change, ctx) => {
        const id = `other${writes++}`;
        await inner.commit(
          change.kind === 'append' ? append(id, { app: { set: { x: 1 } } }) : update(id, { app: { set: { x: 1 } } }),
          ctx,
        );
        return method(change, ctx);
      },
    });
    return { inner, store, writes: () => writes };
  }

  test('a guarded change is a conflict in the end', async () => {
    const { inner, store: slow, writes } = busy();
    const { store } = overMemory({}, slow);
    const change = update('p', { app: count(1) }, { ...ofApp, guard: { keys: { app: { unset: ['n'] } } } });
    assert.equal((await refusal(store.commit(change, context))).code, 'conflict');
    assert.equal(writes(), 100);
    assert.equal((await inner.loadScope(home, context)).state.n, undefined);
  });

  test('an append that nobody waits for any more is unavailable: it is not written', async () => {
    const { inner, store: slow, writes } = busy();
    const { store } = overMemory({}, slow);
    await inner.commit(create('c'), context);
    const controller = new AbortController();
    const answer = refusal(store.commit(append('e'), { signal: controller.signal }));
    controller.abort();
    assert.equal((await answer).code, 'unavailable');
    assert.equal(writes(), 1);
    assert.ok((await inner.load(key, {}, context)).events.every(({ data }) => data.includes('other')));
  });
});

test('a session that is only there for those who write is found on the second look', async () => {
  const inner = memoryStore();
  let lags = 0;
  const late = instead(inner, { load: async (method, ...args) => (lags-- > 0 ? null : method(...args)) });
  const make = () => overMemory({}, late).store;
  await make().commit(create('c', { session: count(1) }), context);
  const change = append('e', { session: count(2) }, { guard: { keys: { session: count(1) } } });
  lags = 1;
  assert.deepEqual(outcome(await make().commit(change, context)), { rev: 1, prev: 0, pos: { app: 0, user: 0 } });
  for (const again of [change, append('e')]) {
    lags = 1;
    assert.deepEqual(outcome(await make().commit(again, context)), {
      rev: 1,
      prev: 1,
      pos: { app: 0, user: 0 },
      duplicate: true,
      data: data('e'),
    });
  }
  lags = 1;
  assert.equal(
    (await refusal(make().commit(append('f', {}, { key: { ...key, sessionId: 'none' } }), context))).code,
    'not-found',
  );
  assert.equal((await make().load(key, {}, context)).state.session.n, 2);
});

test('what the inner store throws comes through as it is', async () => {
  const errors = [
    new Error('connection lost'),
    new StoreError('unavailable', 'no disk'),
    new StoreError('rejected', 'too big', { size: 2, limit: 1 }),
  ];
  const fail = () => Promise.reject(errors[0]);
  const { store } = overMemory(
    {},
    { ...memoryStore(), commit: fail, commitMany: fail, load: fail, list: fail, loadScope: fail, remove: fail },
  );
  while (errors.length > 0) {
    const calls = [
      store.commit(create('c'), context),
      store.commitMany([create('c')], context),
      store.load(key, {}, context),
      store.list({ app: 'app', descending: false }, context),
      store.loadScope(home, context),
      store.remove(key, context),
    ];
    for (const call of calls) {
      assert.equal(await refusal(call), errors[0]);
    }
    errors.shift();
  }
});

test('when the second part of many changes fails, what is known of the first is not taken back', async () => {
  let error = new StoreError('unavailable', 'no disk');
  const inner = memoryStore();
  const { store } = overMemory(
    {},
    instead(inner, {
      commit: (method, change, ctx) => (change.id === 'p' && error ? Promise.reject(error) : method(change, ctx)),
      commitMany: (method, changes, ctx) =>
        changes[0].id === 'f' && error ? Promise.reject(error) : method(changes, ctx),
    }),
  );
  await store.commit(create('c', { app: count(0) }), context);
  const guarded = update('p', { app: count(1) }, { ...ofApp, guard: { keys: { app: count(0) } } });
  const many = [append('e', { app: { set: { x: 1 } } }), guarded, append('f', { app: { set: { y: 1 } } })];
  const answers = await store.commitMany(many, context);
  assert.deepEqual(
    answers.map(({ code, rev }) => code ?? rev),
    [1, 'unavailable', 'unavailable'],
  );
  error = new Error('connection lost');
  assert.equal(await refusal(store.commitMany(many, context)), error);
  error = undefined;
  assert.deepEqual(
    (await store.commitMany(many, context)).map(({ rev, duplicate }) => duplicate ?? rev),
    [true, 0, 2],
  );
});
