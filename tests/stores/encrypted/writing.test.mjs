// How encrypted changes are written: guards, several writers, changes that are sent again, faults.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import {
  append,
  context,
  create,
  data,
  instead,
  key,
  nameKey,
  outcome,
  overMemory,
  plain,
  recording,
  refusal,
  update,
} from './support.mjs';

const ofApp = { key: { appName: 'app' } };
const count = (n) => ({ set: { n } });
const home = { app: 'app' };

/** Adds one to a value until nothing came between. */
async function increment(store, id, scope, read) {
  for (let attempt = 1; ; attempt++) {
    const n = await read(store);
    const guard = { keys: { [scope]: n === undefined ? { unset: ['n'] } : count(n) } };
    const delta = { [scope]: count((n ?? 0) + 1) };
    const change = scope === 'session' ? append(id, delta, { guard }) : update(id, delta, { guard });
    const error = await refusal(store.commit(change, context));
    if (error === undefined) return attempt;
    assert.equal(error.code, 'conflict');
  }
}

describe('two stores over one', () => {
  const reads = {
    app: async (store) => (await store.loadScope(home, context)).state.n,
    user: async (store) => (await store.loadScope({ app: 'app', user: 'ana' }, context)).state.n,
    session: async (store) => (await store.load(key, {}, context)).state.session.n,
  };
  for (const options of [{}, { names: 'encrypted', nameKey }]) {
    for (const [scope, read] of Object.entries(reads)) {
      test(`lose no guarded update of the ${scope}${options.names ? ', with encrypted names' : ''}`, async () => {
        const { inner, store } = overMemory(options);
        const { store: other } = overMemory(options, inner);
        await store.commit(create('c'), context);
        const unrelated = Array.from({ length: 20 }, (_, index) =>
          other.commit(
            update(`u${index}`, { [scope === 'user' ? 'user' : 'app']: { set: { [`x${index}`]: 1 } } }),
            context,
          ),
        );
        await Promise.all([
          ...unrelated,
          ...Array.from({ length: 20 }, (_, index) => increment(index % 2 ? store : other, `i${index}`, scope, read)),
        ]);
        assert.equal(await read(store), 20);
      });
    }
  }

  test('append to one session, in whatever order, and read each other', async () => {
    const { inner, store } = overMemory();
    const { store: other } = overMemory({}, inner);
    await store.commit(create('c'), context);
    await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        (index % 2 ? store : other).commit(
          append(`e${index}`, { session: { set: { [`s${index}`]: index } } }),
          context,
        ),
      ),
    );
    const { rev, events, state } = await other.load(key, {}, context);
    assert.equal(rev, 60);
    assert.deepEqual(
      new Set(events.map(({ data }) => JSON.parse(data).id)),
      new Set(Array.from({ length: 60 }, (_, index) => `e${index}`)),
    );
    assert.equal(Object.keys(state.session).length, 60);
  });

  test('follow a session that the other one has deleted and created anew', async () => {
    const { inner, store } = overMemory();
    const { store: other } = overMemory({}, inner);
    await store.commit(create('c1'), context);
    await store.commit(append('e1'), context);
    await other.remove(key, context);
    assert.equal((await refusal(store.commit(append('e2'), context))).code, 'not-found');
    await store.commit(create('c2'), context);
    await other.remove(key, context);
    await other.commit(create('c3'), context);
    assert.deepEqual(outcome(await store.commit(append('e2', { session: count(1) }), context)), {
      rev: 1,
      prev: 0,
      pos: { app: 0, user: 0 },
    });
    assert.equal(
      (await refusal(store.commit(append('e3', {}, { guard: { created: 'c2' } }), context))).code,
      'not-found',
    );
    assert.equal((await other.load(key, {}, context)).state.session.n, 1);
  });
});

test('two services over it lose nothing', async () => {
  for (const options of [{}, { names: 'encrypted', nameKey }]) {
    const { inner, store } = overMemory(options);
    const services = [new SessionService({ store }), new SessionService({ store: overMemory(options, inner).store })];
    const [first, second] = services;
    const ids = { appName: 'app', userId: 'ana' };
    const session = await first.createSession({ ...ids, sessionId: 's1', state: { 'app:n': 0, n: 0 } });
    const handles = [session, await second.getSession(key)];
    const each = (run) =>
      Promise.all(Array.from({ length: 20 }, (_, index) => run(services[index % 2], handles[index % 2], index)));
    await each((service) => service.updateState(ids, (state) => ({ 'app:n': state['app:n'] + 1 })));
    await each((service) => service.updateState(key, (state) => ({ n: state.n + 1, 'app:n': state['app:n'] + 1 })));
    await each((service, handle, index) =>
      service.appendEvent({ session: handle, event: { actions: { stateDelta: { [`x${index}`]: index } } } }),
    );
    const { state, revision } = await first.getSession(key);
    assert.deepEqual([state['app:n'], state.n, revision, Object.keys(state).length], [40, 20, 40, 22]);
    const { sessions } = await second.listSessions({ appName: 'app' });
    assert.deepEqual(
      sessions.map(({ id, state }) => [id, plain(state)]),
      [['s1', plain(state)]],
    );
  }
});

describe('what is asked of the inner store', () => {
  const names = (asked) => asked.splice(0).map((text) => JSON.parse(text)[0]);

  test('is one commit for a session that is known, and one more look for one that is not', async () => {
    const { asked, store: inner } = recording(memoryStore());
    const { store } = overMemory({}, inner);
    await store.commit(create('c'), context);
    await store.commit(append('e1'), context);
    await store.commit(append('e2', { app: count(1) }, { guard: { rev: 1 } }), context);
    assert.deepEqual(names(asked), ['commit', 'commit', 'commit']);
    const { store: other } = overMemory({}, inner);
    await other.commit(append('e3'), context);
    assert.deepEqual(names(asked), ['load', 'commit']);
    await store.commit(append('e4'), context);
    assert.deepEqual(names(asked), ['commit', 'commit']);
    const { store: third } = overMemory({}, inner);
    await third.commit(append('e5', {}, { guard: { created: 'c' } }), context);
    assert.deepEqual(names(asked), ['commit', 'commit']);
    await third.load(key, {}, context);
    await store.commit(append('e6'), context);
    await third.load(key, {}, context);
    await third.commit(append('e7'), context);
    assert.deepEqual(names(asked), ['load', 'commit', 'commit', 'load', 'commit']);
    await store.commit(update('p', { app: count(1) }), context);
    await store.commit(update('q', { app: count(2) }, { guard: { keys: { app: count(1) } } }), context);
    assert.deepEqual(names(asked), ['commit', 'loadScope', 'commit']);
    assert.deepEqual(
      (await store.load(key, {}, context)).events.map(({ data }) => JSON.parse(data).id),
      ['e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'],
    );
  });

  test('never is a guard by values', async () => {
    const { asked, store: inner } = recording(memoryStore());
    const { store } = overMemory({}, inner);
    const guard = { keys: { app: { unset: ['n'] }, user: { unset: ['n'] }, session: { unset: ['n'] } } };
    await store.commit(create('c', { app: { set: { m: 1 } } }, { guard }), context);
    await store.commit(append('e', { session: count(1) }, { guard }), context);
    assert.equal((await refusal(store.commit(append('f', {}, { guard }), context))).code, 'conflict');
    await store.commit(update('p', {}, { guard: { keys: { app: guard.keys.app } } }), context);
    assert.deepEqual(
      asked.filter((text) => text.includes('"keys"')),
      [],
    );
  });

  test('is little for many changes at once', async () => {
    const { asked, store: inner } = recording(memoryStore());
    const { store } = overMemory({}, inner);
    const place = (index) => ({ ...key, sessionId: `s${index}` });
    const made = Array.from({ length: 5 }, (_, index) => create(`c${index}`, {}, { key: place(index) }));
    assert.deepEqual(
      (await store.commitMany(made, context)).map(({ rev }) => rev),
      [0, 0, 0, 0, 0],
    );
    assert.deepEqual(names(asked), ['commitMany']);
    await overMemory({}, inner).store.commit(append('other', {}, { key: place(2) }), context);
    names(asked);
    const appends = made.map(({ key }, index) =>
      append(`e${index}`, { app: { set: { [`a${index}`]: index } } }, { key }),
    );
    const answers = await store.commitMany(appends, context);
    assert.deepEqual(
      answers.map(({ rev, prev }) => [rev, prev]),
      [
        [1, 0],
        [1, 0],
        [2, 1],
        [1, 0],
        [1, 0],
      ],
    );
    assert.deepEqual(names(asked), ['commitMany', 'commit']);
    assert.deepEqual(
      (await store.commitMany(appends, context)).map(({ duplicate, data }) => [duplicate, data]),
      appends.map(({ event }) => [true, event.data]),
    );
  });
});

test('of many at once each rests on those before it, and a refusal is an answer', async () => {
  const { store } = overMemory();
  await store.commit(create('c', { app: count(0) }), context);
  const next = (n) => update(`p${n}`, { app: count(n) }, { ...ofApp, guard: { keys: { app: count(n - 1) } } });
  const none = append('e', { app: count(99) }, { key: { ...key, sessionId: 'none' } });
  const answers = await store.commitMany(
    [next(1), next(2), none, append('e', { app: { set: { x: 1 } } }), next(4), next(3), next(2)],
    context,
  );
  assert.deepEqual(
    answers.map(({ code, pos, duplicate }) => code ?? (duplicate ? 'duplicate' : pos.app)),
    [2, 3, 'not-found', 4, 'conflict', 5, 'duplicate'],
  );
  assert.deepEqual(plain((await store.loadScope(home, context)).state), { n: 3, x: 1 });
});

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
      // What the retry looks at does not hold; what the first try looked at does.
      const retry = { ...change, attempt: 2, guard: { keys: { app: count(2) } } };
      assert.equal((await store.commit(retry, context)).duplicate, true);
      assert.equal((await store.load(key, {}, context)).rev, 1);
    });
  }
});

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

test('what was looked at is what the caller has guarded besides', async () => {
  const { store } = overMemory();
  await store.commit(create('c', { app: count(1), session: count(1) }), context);
  await store.commit(append('e1'), context);
  const refused = [
    { rev: 0, keys: { session: count(1) } },
    { rev: 2, keys: { session: count(1) } },
    { pos: { app: 2 }, keys: { session: count(1) } },
    { pos: { user: 1 }, keys: { app: count(1) } },
    { pos: { app: 0 }, keys: { app: count(1) } },
  ];
  for (const guard of refused) {
    const error = await refusal(store.commit(append('e2', {}, { guard }), context));
    assert.deepEqual([error?.code, error?.actual], ['conflict', guard.rev === undefined ? undefined : 1]);
    // What can never hold is not tried again and again.
    assert.doesNotMatch(error.message, /attempts/);
  }
  await store.commit(
    append('e2', {}, { guard: { rev: 1, pos: { app: 1, user: 0 }, keys: { app: count(1), session: count(1) } } }),
    context,
  );
});

test('it remembers ten thousand sessions and no more', async () => {
  const { asked, store: inner } = recording(memoryStore());
  const { store } = overMemory({}, inner);
  const place = (index) => ({ ...key, sessionId: `s${index}` });
  for (let index = 0; index <= 10_000; index++) {
    await store.commit(create('c', {}, { key: place(index) }), context);
  }
  asked.length = 0;
  await store.commit(append('e', {}, { key: place(1) }), context);
  await store.commit(append('e', {}, { key: place(0) }), context);
  assert.deepEqual(
    asked.map((text) => JSON.parse(text)[0]),
    ['commit', 'load', 'commit'],
  );
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
