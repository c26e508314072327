// Writes of encrypted changes: guards, several writers, many at once, and the calls of the inner store.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import {
  append,
  context,
  count,
  create,
  home,
  key,
  nameKey,
  ofApp,
  outcome,
  overMemory,
  plain,
  recording,
  refusal,
  update,
} from './support.mjs';

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
    // A guard that can never hold is not tried again and again.
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
