// Records that are given back: in any usual way, with one missing, with some twice.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { callbackStore } from 'statepad/stores/journal';
import { append, context, create, loaded, opened, update } from './support.mjs';
import { all, idsOf, recorder, session } from './recorder.mjs';

test('records may be given back in any of the usual ways', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  await all(store, [create(session('a'), 'a0'), append(session('a'), 'a1')]);
  const { log } = medium;
  const ways = [
    () => log,
    () => log.values(),
    async () => log,
    async function* () {
      yield* log;
    },
    async () =>
      (async function* () {
        yield* log;
      })(),
  ];
  for (const restore of ways) {
    const reader = await opened(callbackStore({ persist: async () => undefined, restore }));
    assert.equal((await loaded(reader, session('a'))).rev, 1);
  }
});

test('a record that is missing makes its session corrupt, and what it changed elsewhere', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  await all(store, [create(session('a'), 'a0'), create(session('b'), 'b0'), create(session('c', 'y'), 'c0')]);
  await all(store, [append(session('a'), 'a1', { user: { set: { n: 1 } } }), append(session('c', 'y'), 'c1')]);
  await all(store, [append(session('a'), 'a2')]);
  const without = async (id) => {
    const reader = await opened(
      callbackStore({ ...medium, restore: () => medium.log.filter((record) => record.id !== id) }),
    );
    const sessions = [session('a'), session('b'), session('c', 'y')];
    return (await Promise.all(sessions.map((key) => loaded(reader, key)))).map((answer) => answer?.rev ?? answer);
  };
  assert.deepEqual(await without('none'), [2, 0, 1]);
  assert.deepEqual(await without('a0'), ['corrupt', 0, 1]);
  assert.deepEqual(await without('a1'), ['corrupt', 'corrupt', 1]);
  assert.deepEqual(await without('c0'), [2, 0, 'corrupt']);
  // Changes in one group are counted as well.
  await all(store, [
    create(session('d'), 'd0', { app: { set: { n: 1 } } }),
    create(session('e'), 'e0', { app: { set: { n: 2 } } }),
  ]);
  assert.deepEqual(await without('none'), [2, 0, 1]);
  assert.deepEqual(await without('d0'), ['corrupt', 'corrupt', 1]);
});

/** All that a store tells of some sessions, of their apps and users, and of what was sent. */
async function told(store, changes) {
  const sessions = [session('a'), session('b'), session('c', 'y'), session('d')];
  const names = [{ app: 'x' }, { app: 'x', user: 'u' }, { app: 'y' }, { app: 'y', user: 'u' }];
  const scopes = await Promise.all(names.map((name) => store.loadScope(name, context)));
  const answers = await all(store, changes);
  return JSON.parse(
    JSON.stringify([
      await Promise.all(sessions.map((key) => loaded(store, key, { events: { from: 0 } }))),
      scopes.map(({ state, ...rest }) => ({ ...rest, state: Object.entries(state) })),
      answers.map(({ code, duplicate, rev, pos }) => [code, duplicate, rev, pos]),
    ]),
  );
}

test('records that a retry has written twice count once', async () => {
  const medium = recorder();
  const store = await opened(callbackStore(medium));
  const both = (n) => ({ app: { set: { n } }, user: { set: { n }, unset: ['m'] } });
  const begun = { event: { id: 'a0', time: 1, data: '"begun"' } };
  const rounds = [
    [
      create(session('a'), 'a0', { ...both(0), session: { set: { n: 0 } } }, begun),
      create(session('b'), 'b0'),
      create(session('c', 'y'), 'c0', both(1)),
    ],
    [
      append(session('a'), 'a1', both(2)),
      append(session('b'), 'b1'),
      update({ appName: 'y', userId: 'u' }, 'u1', both(3)),
      update({ appName: 'x' }, 'u2', { app: { set: { n: 4 } } }),
    ],
    [
      update({ appName: 'x', userId: 'u' }, 'u3', { user: { set: { m: 5 } } }),
      append(session('c', 'y'), 'c1', { session: { set: { n: 1 } } }),
    ],
    [() => store.removeScope({ app: 'x', user: 'u' }, context), () => store.removeScope({ app: 'y' }, context)],
    [
      append(session('a'), 'a2', both(6)),
      () => store.remove(session('b'), context),
      create(session('d'), 'd0', both(7)),
    ],
    [
      create(session('b'), 'b2', both(8)),
      append(session('d'), 'd1'),
      update({ appName: 'x' }, 'u4', { app: { set: { n: 9 } } }),
    ],
    [append(session('b'), 'b3', both(10)), update({ appName: 'x', userId: 'u' }, 'u5', both(11))],
  ];
  const written = [];
  const { persist } = medium;
  medium.persist = async (records) => {
    await persist(records);
    written.push(JSON.parse(JSON.stringify(records)));
  };
  for (const round of rounds) {
    await Promise.all(round.map((each) => (typeof each === 'function' ? each() : store.commit(each, context))));
  }
  const sent = rounds.flat().filter((each) => typeof each !== 'function' && each.id !== 'b0' && each.id !== 'b1');
  assert.ok(written.length > rounds.length && written.some((records) => records.length > 2));
  const restored = async (records) =>
    await told(await opened(callbackStore({ persist: async () => {}, restore: () => records })), sent);
  const expected = await restored(written.flat());
  assert.deepEqual(expected, await told(store, sent));
  for (const [index, records] of written.entries()) {
    for (let kept = 1; kept <= records.length; kept++) {
      const log = [...written.slice(0, index).flat(), ...records.slice(0, kept), ...written.slice(index).flat()];
      assert.deepEqual(await restored(log), expected, `${kept} of ${idsOf(records)} are there twice`);
    }
  }
});

test('what is done again when nobody remembers it any more is done again when it is restored', async () => {
  mock.timers.enable({ apis: ['Date'], now: 1_700_000_000_000 });
  try {
    const medium = recorder();
    const store = await opened(callbackStore(medium));
    const changes = [
      create(session('a'), 'a0', { session: { set: { n: 1 } } }),
      update({ appName: 'x' }, 'of the app', { app: { set: { n: 1 } } }),
      update({ appName: 'x', userId: 'u' }, 'of the user', { user: { set: { n: 1 } } }),
      update({ appName: 'x', userId: 'u' }, 'of both', { app: { set: { n: 2 } }, user: { set: { n: 2 } } }),
    ];
    const refused = append(session('b'), 'b1', {}, { guard: { rev: 5 }, attempt: 2 });
    await store.commit(create(session('b'), 'b0'), context);
    for (const time of [1, 2, 3]) {
      for (const change of changes) {
        const { duplicate, pos } = await store.commit(change, context);
        assert.equal(duplicate, undefined, `${change.id}, ${time}`);
        assert.ok(pos.app >= time - 1);
      }
      await assert.rejects(store.commit(refused, context), { code: 'conflict' });
      if (time < 3) {
        await store.remove(session('a'), context);
      }
      mock.timers.tick(24 * 3_600_000 + 1);
      // A forgotten record goes when something is added.
      await store.commit(create(session(`c${time}`), `c${time}`), context);
      await store.remove(session(`c${time}`), context);
      await store.commit(update({ appName: 'x' }, `u${time}`, { app: { set: { time } } }), context);
      await store.commit(update({ appName: 'x', userId: 'u' }, `v${time}`, { user: { set: { time } } }), context);
      await assert.rejects(store.commit({ ...refused, id: `r${time}` }, context), { code: 'conflict' });
    }
    // The call was refused, and that is forgotten; the log tells both.
    assert.equal((await store.commit(append(session('b'), 'b1'), context)).rev, 1);
    const actual = await opened(callbackStore(medium));
    const read = async (from) => [
      await loaded(from, session('a')),
      await loaded(from, session('b')),
      await Promise.all(
        [{ app: 'x' }, { app: 'x', user: 'u' }].map(async (name) =>
          JSON.parse(JSON.stringify(await from.loadScope(name, context))),
        ),
      ),
    ];
    assert.deepEqual(await read(actual), await read(store));
    assert.equal((await loaded(actual, session('a'))).created, 'a0');
  } finally {
    mock.timers.reset();
  }
});
