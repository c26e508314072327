// How changes are put together, and what becomes of them when the medium fails.

import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { StoreError, callbackStore, journalStore } from 'statepad/stores/journal';
import { append, context, create, loaded, opened, textMedium, update } from './support.mjs';

const session = (sessionId, appName = 'x', userId = 'u') => ({ appName, userId, sessionId });

/** What records are about: ids, and kinds of removals. That a log says its version is looked at elsewhere. */
const idsOf = (records) =>
  records.filter(({ kind }) => kind !== 'version').map(({ id, kind }) => (kind.startsWith('remove') ? kind : id));

/** Two functions over a list, which can be told to fail, with the calls that were made. */
function recorder() {
  const medium = {
    log: [],
    batches: [],
    restored: 0,
    fail: [],
    persist: async (records) => {
      medium.batches.push(idsOf(records));
      await null;
      const fail = medium.fail.shift();
      fail?.before?.(records);
      medium.log.push(...JSON.parse(JSON.stringify(records)).slice(0, fail?.keep));
      fail?.after?.(records);
    },
    restore: () => {
      medium.restored += 1;
      return medium.log.values();
    },
  };
  return medium;
}

const all = (store, changes) =>
  Promise.all(changes.map((change) => store.commit(change, context).catch((error) => error)));
const throwing = (error) => () => {
  throw error;
};

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
  // What goes together is counted as well.
  await all(store, [
    create(session('d'), 'd0', { app: { set: { n: 1 } } }),
    create(session('e'), 'e0', { app: { set: { n: 2 } } }),
  ]);
  assert.deepEqual(await without('none'), [2, 0, 1]);
  assert.deepEqual(await without('d0'), ['corrupt', 'corrupt', 1]);
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
      mock.timers.tick(3_600_001);
      // What is forgotten goes when something is added.
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
