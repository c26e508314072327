// The encrypted store: the store cases, what the inner store gets to see, and what is passed on.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { encryptedStore } from 'statepad/stores/encrypted';
import { journalStore } from 'statepad/stores/journal';
import { memoryStore } from 'statepad/stores/memory';
import {
  MARK,
  append,
  context,
  create,
  data,
  instead,
  key,
  keys,
  nameKey,
  overMemory,
  plain,
  recording,
  update,
  operators,
  codeOf,
} from './support.mjs';
import { storeTests } from '../support/run.mjs';

/** Two encrypted stores over one memory. */
function openOver(options) {
  return () => {
    const inner = memoryStore();
    const make = () => encryptedStore(inner, options);
    return { store: make(), another: make };
  };
}

storeTests('encrypted', openOver({ keys }), { without: ['reopen', 'sizes', ...operators] });
storeTests('encrypted, with names', openOver({ keys, names: 'encrypted', nameKey }), {
  without: ['reopen', 'changed', 'sizes', ...operators],
});
storeTests(
  'encrypted, in a journal',
  () => {
    const lines = [];
    const make = () =>
      encryptedStore(
        journalStore({ append: async (added) => void lines.push(...added), read: async () => [...lines] }),
        { keys },
      );
    return { store: make(), reopen: make };
  },
  { without: ['another', 'watch', 'sizes', ...operators] },
);

test('any value, name and event comes back as it was', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '__proto__', 'constructor', '\0', '1', `${MARK}k1:AAAA:k1`, 'sealed2:k1:AAAA:k1', '\ud800'),
  );
  const scope = fc.dictionary(text, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: false });
  const ids = fc.record({ appName: text, userId: text, sessionId: text });
  const property = fc.asyncProperty(
    ids,
    scope,
    scope,
    scope,
    fc.string({ unit: 'binary' }),
    text,
    fc.boolean(),
    async (key, app, user, session, event, id, isNamed) => {
      const { store } = overMemory(isNamed ? { names: 'encrypted', nameKey } : {});
      const reference = memoryStore();
      const made = create(`${id}c`, { app: { set: app }, session: { set: session } }, { key });
      const added = append(
        id,
        { user: { set: user }, session: { set: app } },
        { key, event: { id, time: 2, data: event } },
      );
      for (const each of [store, reference]) {
        await each.commit(made, context);
        await each.commit(added, context);
      }
      const [actual, expected] = await Promise.all([store.load(key, {}, context), reference.load(key, {}, context)]);
      assert.deepEqual(JSON.parse(JSON.stringify(actual)), JSON.parse(JSON.stringify(expected)));
      for (const part of ['app', 'user', 'session']) {
        assert.deepEqual(Object.keys(actual.state[part]), Object.keys(expected.state[part]));
        assert.equal(Object.getPrototypeOf(actual.state[part]), null);
      }
      assert.equal((await store.commit(added, context)).data, event);
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

test('an event that UTF-8 cannot write is rejected', async () => {
  const { store } = overMemory();
  await store.commit(create('c'), context);
  const lone = append('e', {}, { event: { id: 'e', time: 2, data: '"\ud800"' } });
  await assert.rejects(store.commit(lone, context), { code: 'rejected', message: /"e" is not well-formed/ });
  await store.commit(append('e2', {}, { event: { id: 'e2', time: 2, data: '"\u{1f44d}"' } }), context);
  assert.deepEqual((await store.load(key, {}, context)).events, [
    { rev: 1, id: 'e2', data: '"👍"', pos: { app: 0, user: 0 } },
  ]);
});

describe('nothing of the plain text reaches the inner store', () => {
  const canary = 'canary';
  for (const names of ['visible', 'encrypted']) {
    test(`with names that are ${names}`, async () => {
      const { asked, store: inner } = recording(memoryStore());
      const { store } = overMemory(names === 'encrypted' ? { names, nameKey } : {}, inner);
      const name = names === 'encrypted' ? `${canary} of a name` : 'name';
      const delta = { set: { [name]: { deep: [`${canary} of a value`] } }, unset: [`${name} 2`] };
      const guard = { keys: { app: delta, user: delta, session: delta } };
      const all = { app: delta, user: delta, session: delta };
      const event = { id: 'e', time: 2, data: data('e', canary) };
      const digest = `${canary} of a request`;
      await store.commit(create('c', all, { event: { ...event, id: 'c' }, digest }), context);
      await store.commit(append('e', all, { event }), context);
      await store.commit(append('e', all, { event }), context);
      await store.commit(append('f', all, { event: { ...event, id: 'f' }, guard }), context);
      await store.commit(
        update('p', { app: delta, user: delta }, { guard: { keys: { app: delta, user: delta } }, digest }),
        context,
      );
      await store.commitMany(
        [append('g', all, { event: { ...event, id: 'g' } }), update('q', { app: delta })],
        context,
      );
      const never = { ...guard, keys: { app: { set: { [name]: 'other canary' } } } };
      assert.equal(
        await codeOf(store.commit(append('h', all, { event: { ...event, id: 'h' }, guard: never }), context)),
        'conflict',
      );
      assert.equal(
        await codeOf(
          store.commit(
            append('h', all, { key: { ...key, sessionId: 'none' }, event: { ...event, id: 'h' }, guard }),
            context,
          ),
        ),
        'not-found',
      );
      await store.load(key, {}, context);
      await store.list({ app: 'app', descending: true }, context);
      await store.loadScope({ app: 'app' }, context);
      const log = await store.readLog({ app: 'app' }, { name, limit: 1 }, context);
      assert.deepEqual(log.entries[0].writes, [{ name, to: delta.set[name] }]);
      assert.ok(asked.length > 10);
      assert.deepEqual(
        asked.filter((text) => text.includes(canary)),
        [],
      );
      // And what is equal does not look equal.
      const sealed = asked.join('').match(/sealed1[^"]*/g);
      assert.ok(sealed.length > 10);
      assert.equal(new Set(sealed).size, sealed.length);
      const {
        state,
        events: [beginning],
      } = await store.load(key, { events: { from: 0 } }, context);
      assert.deepEqual(plain(state.app), delta.set);
      assert.deepEqual(beginning, { rev: 0, data: event.data, pos: { app: 1, user: 1 } });
    });
  }
});

test('encrypted names are the same each time, and other ones at every other place', async () => {
  const { inner, store } = overMemory({ names: 'encrypted', nameKey });
  const delta = { set: { name: 1 } };
  const all = { app: delta, user: delta, session: delta };
  const places = [key, { ...key, sessionId: 's2' }, { ...key, userId: 'bob' }, { ...key, appName: 'other' }];
  for (const [index, place] of places.entries()) {
    await store.commit(create(`c${index}`, all, { key: place }), context);
    await store.commit(append(`e${index}`, all, { key: place }), context);
  }
  const tokens = new Set();
  for (const place of places) {
    const { state } = await inner.load(place, {}, context);
    for (const scope of ['app', 'user', 'session']) {
      const [token, ...others] = Object.keys(state[scope]);
      assert.match(token, /^[\w-]{22}$/);
      assert.deepEqual(others, []);
      tokens.add(token);
    }
  }
  // Two apps, three users, four sessions.
  assert.equal(tokens.size, 2 + 3 + 4);
  await store.remove(key, context);
  await store.commit(create('again', all), context);
  const { state } = await inner.load(key, {}, context);
  assert.ok(tokens.has(Object.keys(state.session)[0]));
});

test('where there is neither Node nor WebCrypto it says so', async () => {
  const { store } = overMemory();
  const { crypto } = globalThis;
  const { getBuiltinModule } = process;
  process.getBuiltinModule = () => undefined;
  Object.defineProperty(globalThis, 'crypto', { value: { getRandomValues: (array) => array }, configurable: true });
  try {
    await assert.rejects(store.commit(create('c', { app: { set: { a: 1 } } }), context), {
      code: 'rejected',
      message: /no WebCrypto/,
    });
  } finally {
    Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true, writable: true });
    process.getBuiltinModule = getBuiltinModule;
  }
  await store.commit(create('c', { app: { set: { a: 1 } } }), context);
});

test('it has the members that the inner store has, and no others', async () => {
  const whole = encryptedStore(
    {
      ...memoryStore(),
      open: async () => {},
      close: async () => {},
      durability: 'disk',
      exclusive: true,
      parallelCommits: 2,
    },
    { keys },
  );
  assert.deepEqual([whole.durability, whole.exclusive, whole.parallelCommits], ['disk', true, 2]);
  const { commit, load, list, remove, loadScope } = memoryStore();
  const members = ['commit', 'load', 'list', 'remove', 'loadScope'];
  assert.deepEqual(
    Object.keys(encryptedStore({ commit, load, list, remove, loadScope }, { keys })).sort(),
    [...members].sort(),
  );
  assert.deepEqual(
    Object.keys(whole).sort(),
    [
      ...members,
      ...[
        'removeScope',
        'commitMany',
        'parallelCommits',
        'watch',
        'open',
        'close',
        'durability',
        'exclusive',
        'keeps',
        'lacks',
        'sweep',
        'claim',
        'lease',
        'readLease',
        'readLog',
        'trimLog',
        'owners',
        'listApps',
        'listUsers',
      ],
    ].sort(),
  );
  const opened = {};
  const later = encryptedStore(
    {
      ...memoryStore(),
      get durability() {
        return opened.durability;
      },
    },
    { keys },
  );
  opened.durability = 'os';
  assert.equal(later.durability, 'os', 'a store may know it only when it is open');
  const asked = [];
  const spied = instead(memoryStore(), {});
  const passing = encryptedStore(
    {
      ...spied,
      open: async (...args) => void asked.push(['open', ...args]),
      close: async () => void asked.push(['close']),
      removeScope: async (...args) => void asked.push(['removeScope', ...args]),
    },
    { keys },
  );
  await passing.open({ migrate: 'check' }, context);
  await passing.removeScope({ app: 'app' }, context);
  await passing.close();
  assert.deepEqual(asked, [
    ['open', { migrate: 'check' }, context],
    ['removeScope', { app: 'app' }, context],
    ['close'],
  ]);
});
