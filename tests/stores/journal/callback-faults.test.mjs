// Changes when the medium fails.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreError, callbackStore, journalStore } from 'statepad/stores/journal';
import { append, context, create, loaded, opened, textMedium } from './support.mjs';
import { idsOf, recorder, session } from './recorder.mjs';

const throwing = (error) => () => {
  throw error;
};

for (const code of ['unavailable', 'rejected']) {
  test(`what the medium says is ${code} is not made, and not read again`, async () => {
    const medium = recorder();
    const store = await opened(callbackStore(medium));
    await store.commit(create(session('a'), 'a0'), context);
    medium.fail.push({ before: throwing(new StoreError(code, 'no')) });
    await assert.rejects(store.commit(append(session('a'), 'a1', { session: { set: { n: 1 } } }), context), { code });
    assert.equal((await loaded(store, session('a'))).rev, 0);
    const answer = await store.commit(append(session('a'), 'a1', { session: { set: { n: 1 } } }), context);
    assert.deepEqual([answer.rev, answer.duplicate], [1, undefined]);
    assert.equal(medium.restored, 1);
    assert.deepEqual(idsOf(medium.log), ['a0', 'a1']);
  });
}

test('of several that are rejected together, only those that are to blame are', async () => {
  const medium = recorder();
  const store = await opened(
    callbackStore({
      ...medium,
      persist: async (records) => {
        if (records.some(({ id }) => id.startsWith('big'))) {
          medium.batches.push(idsOf(records));
          throw new StoreError('rejected', 'too big', { size: 9, limit: 8 });
        }
        await medium.persist(records);
      },
    }),
  );
  const answers = await store.commitMany(
    [
      create(session('a'), 'a0'),
      create(session('b'), 'big1'),
      create(session('c'), 'c0'),
      create(session('d'), 'big2'),
    ],
    context,
  );
  assert.deepEqual(
    answers.map((answer) => answer.code ?? answer.rev),
    [0, 'rejected', 0, 'rejected'],
  );
  assert.equal(answers[1].limit, 8);
  assert.deepEqual(medium.batches, [['a0', 'big1', 'c0', 'big2'], ['a0'], ['big1'], ['c0'], ['big2']]);
});

test('a change whose outcome is unknown is a duplicate when it is sent again, if it was written', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  await store.commit(create(session('a'), 'a0'), context);
  const lost = new Error('the connection is lost');
  medium.fail.push({ after: throwing(lost) });
  const change = append(session('a'), 'a1', { session: { set: { n: 1 } }, app: { set: { n: 1 } } });
  await assert.rejects(store.commit(change, context), (error) => error === lost);
  assert.equal((await loaded(store, session('a'))).rev, 1);
  const { rev, duplicate, data } = await store.commit(change, context);
  assert.deepEqual([rev, duplicate, data], [1, true, change.event.data]);
  assert.deepEqual(idsOf(medium.log), ['a0', 'a1']);
});

test('a change whose outcome is unknown is made when it is sent again, if it was not written', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  medium.fail.push({ before: throwing(new Error('the connection is lost')) });
  const change = create(session('a'), 'a0', { app: { set: { n: 1 } } });
  await assert.rejects(store.commit(change, context), /the connection is lost/);
  assert.equal(await loaded(store, session('a')), null);
  assert.deepEqual(await store.commit(change, context), { rev: 0, prev: null, pos: { app: 1, user: 0 }, before: {} });
  assert.deepEqual(idsOf(medium.log), ['a0']);
});

test('of several whose outcome is unknown, each is stored once', async () => {
  const changes = Array.from({ length: 5 }, (_, index) =>
    create(session(`s${index}`), `c${index}`, { app: { set: { [index]: 1 } } }),
  );
  for (let keep = 0; keep <= 5; keep++) {
    const medium = recorder();
    const store = await opened(callbackStore(medium));
    medium.fail.push({ keep: keep + 1, after: throwing(new Error('lost')) });
    await assert.rejects(store.commitMany(changes, context), /lost/);
    const answers = await store.commitMany(changes, context);
    assert.deepEqual(
      answers.map(({ duplicate }) => duplicate === true),
      changes.map((_, index) => index < keep),
    );
    assert.deepEqual(
      answers.map(({ pos }) => pos.app),
      [...Array(keep).fill(keep), ...Array.from({ length: 5 - keep }, (_, index) => keep + 1 + index)],
    );
    assert.deepEqual(
      idsOf(medium.log),
      changes.map(({ id }) => id),
    );
  }
});

test('a conflict that a medium speaks of says nothing about a change', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  medium.fail.push({ after: throwing(new StoreError('conflict', 'odd')) });
  await assert.rejects(
    store.commit(create(session('a'), 'a0'), context),
    (error) => error.code === undefined && error.cause.code === 'conflict',
  );
  assert.equal((await store.commit(create(session('a'), 'a0'), context)).duplicate, true);
});

test('as long as a log cannot be read again, nobody is told that nothing was written', async () => {
  const medium = recorder();
  let isDown = false;
  const store = await opened(
    callbackStore({
      ...medium,
      restore: () => {
        if (isDown) {
          throw new StoreError('unavailable', 'down');
        }
        return medium.restore();
      },
    }),
  );
  medium.fail.push({ after: throwing(new Error('lost')) });
  isDown = true;
  const change = create(session('a'), 'a0');
  await assert.rejects(store.commit(change, context), /lost/);
  for (const attempt of [
    () => store.commit(change, context),
    () => store.load(session('a'), {}, context),
    () => store.list({ app: 'x', descending: false }, context),
  ]) {
    await assert.rejects(attempt(), (error) => error.code === undefined && error.cause.code === 'unavailable');
  }
  isDown = false;
  assert.equal((await store.commit(change, context)).duplicate, true);
});

test('a log that cannot be read the first time can be read later', async () => {
  const medium = recorder();
  let isDown = true;
  const store = callbackStore({
    ...medium,
    restore: () => {
      if (isDown) {
        throw new StoreError('unavailable', 'down');
      }
      return medium.restore();
    },
  });
  await assert.rejects(opened(store), { code: 'unavailable' });
  await assert.rejects(store.commit(create(session('a'), 'a0'), context), { code: 'unavailable' });
  isDown = false;
  assert.equal((await store.commit(create(session('a'), 'a0'), context)).rev, 0);
});

test('a journal writes what it was told once, whatever its medium says', async () => {
  const medium = textMedium();
  const { append: write } = medium;
  // The medium fails in every way, one after the other.
  const ways = [
    async () => throwing(new StoreError('unavailable', 'busy'))(),
    async (lines) => {
      await write(lines);
      throw new Error('lost behind it');
    },
    async () => throwing(new Error('lost before it'))(),
    async (lines) => {
      await write(lines);
      medium.text = medium.text.slice(0, -1 - Math.floor(lines.at(-1).length / 2));
      throw new Error('lost in the middle');
    },
    async (lines) => {
      await write(lines);
      await write(lines);
    },
  ];
  let turn = 0;
  medium.append = (lines) => ways[turn++ % ways.length](lines);
  const store = await opened(journalStore(medium));
  const until = async (change) => {
    for (;;) {
      try {
        return await store.commit(change, context);
      } catch (error) {
        assert.match(error.message, /busy|lost/);
      }
    }
  };
  await until(create(session('a'), 'a0'));
  for (let index = 1; index <= 40; index++) {
    assert.equal((await until(append(session('a'), `a${index}`, { app: { set: { n: index } } }))).rev, index);
  }
  for (const reader of [store, await opened(journalStore(textMedium(medium.text)))]) {
    const { rev, events, pos } = await loaded(reader, session('a'));
    assert.deepEqual([rev, pos.app], [40, 40]);
    assert.deepEqual(
      events.map(({ data }) => JSON.parse(data).id),
      Array.from({ length: 40 }, (_, index) => `a${index + 1}`),
    );
  }
});
