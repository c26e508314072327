// Encrypted changes that are sent again, and those that are tried again.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
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
  nameKey,
  ofApp,
  outcome,
  overMemory,
  refusal,
  update,
} from './support.mjs';

describe('a change that is sent again', () => {
  for (const options of [{}, { names: 'encrypted', nameKey }]) {
    test(`is a duplicate though its guard does not hold any more${options.names ? ', with encrypted names' : ''}`, async () => {
      const { inner, store } = overMemory(options);
      await store.commit(create('c', { app: count(1), user: count(1), session: count(1) }), context);
      const guard = {
        created: 'c',
        rev: 0,
        pos: { app: 1 },
        keys: { app: count(1), user: count(1), session: { set: { n: 1 }, unset: ['m'] } },
      };
      const change = append('e', { app: count(2), user: count(2), session: count(2) }, { guard });
      const alone = update('p', { app: count(3) }, { ...ofApp, guard: { keys: { app: count(2) } } });
      const made = create(
        'd',
        { app: count(4) },
        { key: { ...key, sessionId: 's2' }, guard: { keys: { app: count(3) } } },
      );
      assert.deepEqual(outcome(await store.commit(change, context)), { rev: 1, prev: 0, pos: { app: 2, user: 2 } });
      await store.commit(alone, context);
      await store.commit(made, context);
      for (const again of [store, overMemory(options, inner).store]) {
        assert.deepEqual(outcome(await again.commit(change, context)), {
          rev: 1,
          prev: 1,
          pos: { app: 4, user: 2 },
          duplicate: true,
          data: data('e'),
        });
        assert.deepEqual(outcome(await again.commit(alone, context)), {
          rev: 0,
          prev: null,
          pos: { app: 4, user: 0 },
          duplicate: true,
        });
        assert.deepEqual(outcome(await again.commit(made, context)), {
          rev: 0,
          prev: 0,
          pos: { app: 4, user: 2 },
          duplicate: true,
        });
      }
      assert.equal(
        (await refusal(store.commit({ ...change, id: 'f', event: { ...change.event, id: 'f' } }, context))).code,
        'conflict',
      );
      assert.equal((await refusal(store.commit({ ...alone, id: 'q' }, context))).code, 'conflict');
      assert.equal((await refusal(store.commit({ ...made, id: 'q' }, context))).code, 'exists');
      assert.equal((await store.loadScope(home, context)).state.n, 4);
    });
  }

  test('is written once, whenever the answer is lost', async () => {
    let losses = 0;
    const lossy = instead(memoryStore(), {
      commit: async (method, ...args) => {
        const committed = await method(...args);
        if (losses-- > 0) throw new Error('connection lost');
        return committed;
      },
      commitMany: async (method, ...args) => {
        const committed = await method(...args);
        if (losses-- > 0) throw new Error('connection lost');
        return committed;
      },
    });
    const { store } = overMemory({}, lossy);
    const until = async (send) => {
      losses = 3;
      for (let attempt = 1; ; attempt++) {
        try {
          const sent = await send();
          return [attempt, Array.isArray(sent) ? sent : outcome(sent)];
        } catch (error) {
          assert.equal(error.message, 'connection lost');
        }
      }
    };
    const duplicate = { duplicate: true };
    const made = create('c', { app: count(1) });
    assert.deepEqual(await until(() => store.commit(made, context)), [
      4,
      { rev: 0, prev: 0, pos: { app: 1, user: 0 }, ...duplicate },
    ]);
    const change = append('e', { app: count(2) }, { guard: { keys: { app: count(1) } } });
    assert.deepEqual(await until(() => store.commit(change, context)), [
      4,
      { rev: 1, prev: 1, pos: { app: 2, user: 0 }, ...duplicate, data: data('e') },
    ]);
    const unguarded = append('f', { app: count(3) });
    assert.deepEqual(await until(() => store.commit(unguarded, context)), [
      4,
      { rev: 2, prev: 2, pos: { app: 3, user: 0 }, ...duplicate, data: data('f') },
    ]);
    const alone = update('p', { app: count(4) }, { ...ofApp, guard: { keys: { app: count(3) } } });
    assert.deepEqual(await until(() => store.commit(alone, context)), [
      4,
      { rev: 0, prev: null, pos: { app: 4, user: 0 }, ...duplicate },
    ]);
    const many = [append('g', { app: count(5) }), update('q', { app: count(6) }, ofApp)];
    const [attempts, answers] = await until(() => store.commitMany(many, context));
    assert.deepEqual([attempts, answers.map(({ duplicate }) => duplicate)], [4, [true, true]]);
    const { rev, state } = await store.load(key, {}, context);
    assert.deepEqual([rev, state.app.n], [3, 6]);
  });

  test('goes on where the request was lost', async () => {
    let losses = 0;
    const lose = async (method, ...args) => {
      if (losses-- > 0) throw new Error('connection refused');
      return method(...args);
    };
    const { store } = overMemory(
      {},
      instead(memoryStore(), { commit: lose, commitMany: lose, load: lose, loadScope: lose }),
    );
    await store.commit(create('c', { app: count(1) }), context);
    const change = append('e', { app: count(2) }, { guard: { keys: { app: count(1), session: { unset: ['n'] } } } });
    losses = 3;
    while (losses > 0) {
      await assert.rejects(store.commit(change, context), { message: 'connection refused' });
    }
    assert.deepEqual(outcome(await store.commit(change, context)), { rev: 1, prev: 0, pos: { app: 2, user: 0 } });
  });
});

describe('a later try of a change', () => {
  for (const options of [{}, { names: 'encrypted', nameKey }]) {
    const way = options.names ? ', with encrypted names' : '';

    test(`is not refused for what the wrapper has guessed${way}`, async () => {
      const { inner, store } = overMemory(options);
      const { store: other } = overMemory(options, inner);
      await store.commit(create('c'), context);
      await other.commit(append('e1'), context);
      const change = append('e2', { app: count(1) }, { attempt: 2, guard: { keys: { app: { unset: ['n'] } } } });
      assert.deepEqual(outcome(await store.commit(change, context)), { rev: 2, prev: 1, pos: { app: 1, user: 0 } });
      await other.commit(append('e3'), context);
      const batch = [append('e4', {}, { attempt: 3 }), update('p', { app: count(2) }, { ...ofApp, attempt: 2 })];
      assert.deepEqual(
        (await store.commitMany(batch, context)).map(({ rev }) => rev),
        [4, 0],
      );
    });

    test(`that is refused for good is remembered, however it was refused${way}`, async () => {
      const { inner, store } = overMemory(options);
      await store.commit(create('c', { app: count(1) }), context);
      const late = append('e1', { app: count(2) }, { guard: { keys: { app: count(7) } } });
      assert.equal((await refusal(store.commit({ ...late, attempt: 2 }, context))).code, 'conflict');
      await store.commit(update('p', { app: count(7) }, ofApp), context);
      for (const each of [store, overMemory(options, inner).store]) {
        assert.equal((await refusal(each.commit(late, context))).code, 'conflict');
      }
      assert.equal((await store.load(key, {}, context)).rev, 0);
    });

    test(`that has come through while it was refused is told as done${way}`, async () => {
      let isLate = true;
      const inner = memoryStore();
      const held = [];
      const slow = instead(inner, {
        commit: async (method, change, ctx) => {
          if (change.kind === 'append' && isLate) {
            isLate = false;
            held.push(change);
            throw new Error('connection lost');
          }
          if (change.attempt !== undefined) {
            // The first try arrives at last.
            await method(held.pop(), ctx);
          }
          return method(change, ctx);
        },
      });
      const { store } = overMemory(options, slow);
      await store.commit(create('c', { app: count(1) }), context);
      const change = append('e1', { session: count(1) }, { guard: { keys: { app: count(1) } } });
      await assert.rejects(store.commit(change, context), { message: 'connection lost' });
      // The guard of the retry does not hold; the guard of the first attempt did.
      const retry = { ...change, attempt: 2, guard: { keys: { app: count(2) } } };
      assert.equal((await store.commit(retry, context)).duplicate, true);
      assert.equal((await store.load(key, {}, context)).rev, 1);
    });
  }
});
