// The grouping of changes on their way to a medium, and their dependencies.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callbackStore, journalStore } from 'statepad/stores/journal';
import { append, context, create, loaded, opened, textMedium, update } from './support.mjs';
import { all, idsOf, recorder, session } from './recorder.mjs';

test('changes that are made at once go together, in their order', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  const answers = await all(
    store,
    Array.from({ length: 64 }, (_, index) =>
      create(session(`s${index}`), `c${index}`, { app: { set: { [`k${index}`]: index } } }),
    ),
  );
  assert.deepEqual(
    answers.map(({ pos }) => pos.app),
    Array.from({ length: 64 }, (_, index) => index + 1),
  );
  assert.equal(medium.batches.length, 1);
  assert.deepEqual(
    medium.batches[0],
    Array.from({ length: 64 }, (_, index) => `c${index}`),
  );
  const again = await opened(callbackStore({ ...medium, restore: async () => medium.log }));
  assert.deepEqual(await loaded(again, session('s5')), await loaded(store, session('s5')));
});

test('what comes while others are written goes together behind them', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  const first = store.commit(create(session('a'), 'a0'), context);
  await null;
  await null;
  const later = all(store, [create(session('b'), 'b0'), append(session('a'), 'a1'), create(session('c'), 'c0')]);
  await first;
  assert.deepEqual(
    (await later).map(({ rev }) => rev),
    [0, 1, 0],
  );
  assert.deepEqual(medium.batches, [['a0'], ['b0', 'a1', 'c0']]);
});

test('a change that depends on one before it waits until that is made', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  const values = (n) => ({ app: { set: { n } } });
  const answers = await all(store, [
    create(session('a'), 'a0'),
    append(session('a'), 'a1'),
    append(session('a'), 'a1'),
    append(session('a'), 'a2', {}, { guard: { rev: 1 } }),
    append(session('a'), 'a3', {}, { guard: { rev: 1 } }),
    create(session('a'), 'other'),
    create(session('a'), 'a0'),
    update({ appName: 'x' }, 'u1', values(1)),
    update({ appName: 'x' }, 'u1', values(1)),
    update({ appName: 'x' }, 'u2', values(2), { guard: { pos: { app: 1 } } }),
    update({ appName: 'x' }, 'u3', values(3), { guard: { pos: { app: 1 } } }),
    update({ appName: 'x' }, 'u4', values(3), { guard: { keys: { app: { set: { n: 2 } } } } }),
    update({ appName: 'x' }, 'u5', values(4), { guard: { keys: { app: { set: { n: 2 } } } } }),
    create(session('b'), 'b0', values(5), { guard: { pos: { app: 3 } } }),
  ]);
  assert.deepEqual(
    answers.map((answer) => answer.code ?? (answer.duplicate ? 'duplicate' : `${answer.rev} ${answer.pos.app}`)),
    [
      '0 0',
      '1 0',
      'duplicate',
      '2 0',
      'conflict',
      'exists',
      'duplicate',
      '0 1',
      'duplicate',
      '0 2',
      'conflict',
      '0 3',
      'conflict',
      '0 4',
    ],
  );
  assert.deepEqual(idsOf(medium.log), ['a0', 'a1', 'a2', 'u1', 'u2', 'u4', 'b0']);
  const again = await opened(callbackStore(medium));
  assert.deepEqual(await loaded(again, session('a')), await loaded(store, session('a')));
});

test('removals keep their place among the changes', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  const answers = Promise.allSettled([
    store.removeScope({ app: 'x' }, context),
    store.commit(create(session('a'), 'a0', { app: { set: { n: 1 } } }), context),
    store.commit(append(session('a'), 'a1'), context),
    store.remove(session('a'), context),
    store.commit(append(session('a'), 'a2'), context),
    store.commit(create(session('a'), 'a3', { app: { set: { m: 1 } } }), context),
    store.removeScope({ app: 'x' }, context),
    store.commit(append(session('a'), 'a4', { app: { set: { k: 1 } } }), context),
    store.remove(session('nobody'), context),
  ]);
  assert.deepEqual(
    (await answers).map(({ reason }) => reason?.code ?? 'done').join(' '),
    'done done done done not-found done done done done',
  );
  assert.deepEqual(medium.batches.flat(), ['remove-scope', 'a0', 'a1', 'remove', 'a3', 'remove-scope', 'a4']);
  for (const reader of [store, await opened(callbackStore(medium))]) {
    const { created, rev, pos, state } = await loaded(reader, session('a'));
    assert.deepEqual(
      { created, rev, pos, app: state.app },
      { created: 'a3', rev: 1, pos: { app: 4, user: 0 }, app: { k: 1 } },
    );
  }
});

test('what is decided behind the removal of values knows that they are gone', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  await store.commit(update({ appName: 'x' }, 'u1', { app: { set: { n: 1 } } }), context);
  const guarded = (id, guard) =>
    store
      .commit(update({ appName: 'x' }, id, { app: { set: { m: 1 } } }, { guard }), context)
      .catch(({ code }) => code);
  const [, ...answers] = await Promise.all([
    store.removeScope({ app: 'x' }, context),
    guarded('u2', { pos: { app: 1 } }),
    guarded('u3', { keys: { app: { set: { n: 1 } } } }),
    guarded('u4', { pos: { app: 2 }, keys: { app: { unset: ['n'] } } }),
  ]);
  assert.deepEqual(answers, ['conflict', 'conflict', { rev: 0, prev: null, pos: { app: 3, user: 0 }, before: {} }]);
});

test('closing waits for what is being written', async () => {
  const medium = recorder();
  let isClosed = false;
  const store = await opened(
    journalStore({
      append: async () => await medium.persist([]),
      read: () => [],
      close: async () => void (isClosed = true),
    }),
  );
  const commit = store.commit(create(session('a'), 'a0'), context).then(() => assert.equal(isClosed, false));
  await store.close();
  assert.equal(isClosed, true);
  await commit;
});

test('a store over lines says what it is', () => {
  const { durability, exclusive, watch } = journalStore({ ...textMedium(), durability: 'replicated' });
  assert.deepEqual([durability, exclusive, watch], ['replicated', true, undefined]);
  assert.equal('durability' in journalStore(textMedium()), false);
});
