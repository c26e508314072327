// Limits, ends and sweeps through the encrypted store: its inner store compares them with what it has: sealed values.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { append, context, count, create, key, keys, nameKey, overMemory, plain, refusal, update } from './support.mjs';

const PAST = 1_000;
const FAR = 9e12;

/** The sizes of what the inner store has, counted as plain text. */
async function innerSizes(inner) {
  const { state } = await inner.load(key, {}, context);
  const sizeOf = (values) =>
    Object.keys(values).reduce(
      (all, name) => all + Buffer.byteLength(name) + Buffer.byteLength(JSON.stringify(values[name])),
      0,
    );
  return Object.fromEntries(Object.entries(state).map(([scope, values]) => [scope, sizeOf(values)]));
}

describe('the size of a state is that of what is sealed', () => {
  for (const [what, options] of Object.entries({ visible: {}, encrypted: { names: 'encrypted', nameKey } })) {
    test(`with names that are ${what}`, async () => {
      for (const scope of ['app', 'user', 'session']) {
        const { inner, store } = overMemory(options);
        await store.commit(create('c', { [scope]: { set: { name: 'ä'.repeat(30) } } }), context);
        const sealed = (await innerSizes(inner))[scope];
        assert.ok(sealed > 2 * 64, `${sealed} bytes are more than those of the plain text`);
        const more = { [scope]: { set: { other: 1 } } };
        const refused = await refusal(store.commit(append('e', more, { limits: { state: sealed } }), context));
        const { code, exceeded, limit, size } = refused;
        assert.deepEqual([code, exceeded, refused.scope, limit], ['limit', 'state', scope, sealed]);
        assert.ok(size > sealed);
        assert.deepEqual(plain((await store.load(key, {}, context)).state[scope]), { name: 'ä'.repeat(30) });
        // What comes of it has always the same length.
        await store.commit(append('e', more, { limits: { state: size } }), context);
        assert.equal((await innerSizes(inner))[scope], size);
        // A state beyond a limit can still be made smaller.
        await store.commit(append('f', { [scope]: { unset: ['name'] } }, { limits: { state: 1 } }), context);
      }
    });
  }
});

test('names and events are counted as the caller has them, whatever the beginning of a session is', async () => {
  const { store } = overMemory({ names: 'encrypted', nameKey });
  await store.commit(create('c', { session: count(1) }, { limits: { keys: 1, events: 0 } }), context);
  await store.commit(append('e', { session: count(2) }, { limits: { keys: 1, events: 1 } }), context);
  const tooMany = await refusal(store.commit(append('f', {}, { limits: { events: 1 } }), context));
  assert.deepEqual([tooMany.code, tooMany.exceeded, tooMany.size, tooMany.scope], ['limit', 'events', 2, undefined]);
  const named = update('p', { user: { set: { a: 1, b: 2 } } }, { limits: { keys: 1 } });
  const { exceeded, scope, size } = await refusal(store.commit(named, context));
  assert.deepEqual([exceeded, scope, size], ['keys', 'user', 2]);
});

test('a change that was refused for a limit, and may be on its way once more, is refused for good', async () => {
  const { store } = overMemory();
  await store.commit(create('c', { session: count(1) }), context);
  const change = append('e', { session: { set: { m: 1 } } }, { limits: { keys: 1 }, attempt: 2 });
  assert.equal((await refusal(store.commit(change, context))).code, 'limit');
  assert.equal((await refusal(store.commit({ ...change, limits: undefined }, context))).code, 'conflict');
  assert.deepEqual(plain((await store.load(key, {}, context)).state.session), { n: 1 });
});

test('a change that is guarded by values, and by a limit, is refused for the values first', async () => {
  const { store } = overMemory();
  await store.commit(create('c', { session: count(1) }), context);
  const both = (n) =>
    append('e', { session: { set: { m: 1 } } }, { limits: { keys: 1 }, guard: { keys: { session: count(n) } } });
  assert.equal((await refusal(store.commit(both(2), context))).code, 'conflict');
  assert.equal((await refusal(store.commit(both(1), context))).code, 'limit');
});

test('a session that has expired makes way for another, which the events of the first do not belong to', async () => {
  const inner = memoryStore();
  const [store, other] = [encryptedStore(inner, { keys }), encryptedStore(inner, { keys })];
  await store.commit(create('c', { session: count(1) }, { expires: { at: PAST } }), context);
  assert.equal(await store.load(key, {}, context), null);
  assert.equal((await refusal(store.commit(append('e'), context))).code, 'not-found');
  await other.commit(create('d', { session: count(2) }, { expires: { at: FAR } }), context);
  // The first store still knows where the session was.
  const { rev, expires } = await store.commit(append('e', { session: count(3) }), context);
  assert.deepEqual([rev, expires], [1, FAR]);
  const loaded = await other.load(key, {}, context);
  assert.deepEqual([loaded.created, loaded.expires, plain(loaded.state.session)], ['d', FAR, { n: 3 }]);
});

test('sweeps and claims are those of the inner store', async () => {
  const { inner, store } = overMemory();
  await store.commit(create('c', { user: count(1) }, { expires: { at: PAST } }), context);
  assert.deepEqual(await store.sweep({ limit: 10 }, context), { sessions: 1, users: 0, more: false });
  assert.deepEqual(await inner.sweep({ limit: 10 }, context), { sessions: 0, users: 0, more: false });
  const { fence } = await store.claim('sweep', { holder: 'one', ttl: 1e6 }, context);
  assert.equal(fence, 1);
  assert.equal((await refusal(inner.claim('sweep', { holder: 'two', ttl: 1 }, context))).code, 'held');
});
