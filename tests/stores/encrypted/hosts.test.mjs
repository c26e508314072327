// The cipher of each host: Node's where it is there and works, WebCrypto's elsewhere and for keys that it has made.
// Either reads the values of the other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { MARK, append, bytes, context, create, data, key, keys, overMemory, plain, operators } from './support.mjs';
import { storeTests } from '../support/run.mjs';

const cryptoKey = await crypto.subtle.importKey('raw', bytes(1), 'AES-GCM', false, ['encrypt', 'decrypt']);
const ways = { 'by Node': keys, 'by WebCrypto': [{ id: 'k1', key: cryptoKey }] };
const pairs = Object.entries(ways).flatMap(([writer, one]) =>
  Object.entries(ways).map(([reader, other]) => ({ name: `${writer}, read ${reader}`, one, other })),
);

storeTests(
  'encrypted, by WebCrypto',
  () => {
    const inner = memoryStore();
    const make = () => encryptedStore(inner, { keys: ways['by WebCrypto'] });
    return { store: make(), another: make };
  },
  { without: ['reopen', 'sizes', ...operators] },
);

/** Calls a function while the host has other modules: `change` gets a name and what there is of it. */
async function withModules(change, run) {
  const { getBuiltinModule } = process;
  process.getBuiltinModule = (name) => change(name, getBuiltinModule(name));
  try {
    return await run();
  } finally {
    process.getBuiltinModule = getBuiltinModule;
  }
}

/** The number of times that a function asks WebCrypto to encrypt. */
async function encryptions(run) {
  const { subtle } = crypto;
  const { encrypt } = subtle;
  let count = 0;
  subtle.encrypt = (...given) => {
    count += 1;
    return encrypt.apply(subtle, given);
  };
  try {
    await run();
    return count;
  } finally {
    delete subtle.encrypt;
  }
}

const writeOne = async () => {
  const { inner, store } = overMemory();
  await store.commit(create('c', { app: { set: { a: 1 } } }), context);
  const { state } = await overMemory({ keys: ways['by WebCrypto'] }, inner).store.load(key, {}, context);
  assert.deepEqual(plain(state.app), { a: 1 });
};

test('32 bytes encrypt by Node where it is there, and by WebCrypto where it is not, or does something else', async () => {
  const wrong = (found) => ({
    ...found,
    createCipheriv: (...given) =>
      Object.assign(found.createCipheriv(...given), { getAuthTag: () => Buffer.alloc(16) }),
  });
  // A value, and that the session began with nothing.
  const hosts = [
    [0, (_, found) => found],
    [2, () => undefined],
    [2, (name, found) => (name === 'node:crypto' ? {} : found)],
    [2, (name, found) => (name === 'node:crypto' ? { ...found, createDecipheriv: undefined } : found)],
    [2, (name, found) => (name === 'node:crypto' ? wrong(found) : found)],
    [2, (name, found) => (name === 'node:crypto' ? { ...found, createCipheriv: () => assert.fail('no') } : found)],
  ];
  for (const [count, change] of hosts) {
    assert.equal(await withModules(change, () => encryptions(writeOne)), count);
  }
});

for (const { name, one, other } of pairs) {
  test(`any text comes back as it was: written ${name}`, async () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('', '\0', 'ü'.repeat(5000)));
    await fc.assert(
      fc.asyncProperty(text, text, async (value, event) => {
        const { inner, store } = overMemory({ keys: one });
        await store.commit(create('c', { session: { set: { value } } }), context);
        await store.commit({ ...append('e'), event: { id: 'e', time: 2, data: data('e', event) } }, context);
        const { state, events } = await overMemory({ keys: other }, inner).store.load(key, {}, context);
        assert.deepEqual([plain(state.session), events[0].data], [{ value }, data('e', event)]);
      }),
      { numRuns: 30 },
    );
  });

  test(`no part of it can be changed or left out: written ${name}`, async () => {
    const { inner, store } = overMemory({ keys: one });
    await store.commit(create('c', { app: { set: { a: 'text' } } }), context);
    const { a: sealed } = (await inner.loadScope({ app: 'app' }, context)).state;
    const [, , base64] = sealed.split(':');
    const whole = Buffer.from(base64, 'base64');
    const flipped = Array.from(whole, (byte, index) => whole.with(index, byte ^ 1));
    const cut = Array.from(whole, (_, index) => whole.subarray(0, index));
    for (const spoilt of [...flipped, ...cut, Buffer.concat([whole, Buffer.alloc(1)])]) {
      const value = `${MARK}k1:${Buffer.from(spoilt).toString('base64')}:k1`;
      const spoiling = { ...inner, loadScope: async () => ({ pos: 1, state: { a: value } }) };
      const reading = overMemory({ keys: other }, spoiling).store.loadScope({ app: 'app' }, context);
      await assert.rejects(reading, { code: 'corrupt' });
    }
  });
}

test('with the same nonce all ways write the same text', async () => {
  const { getRandomValues } = crypto;
  crypto.getRandomValues = (array) => array.fill(7);
  try {
    const written = async (given) => {
      const { inner, store } = overMemory({ keys: given });
      await store.commit(create('c', { app: { set: { a: 'ü', b: [1, 'x'.repeat(300)] } } }), context);
      return plain((await inner.loadScope({ app: 'app' }, context)).state);
    };
    const [node, web] = [await written(ways['by Node']), await written(ways['by WebCrypto'])];
    assert.deepEqual(node, web);
    assert.deepEqual(
      await withModules(
        () => undefined,
        () => written(keys),
      ),
      web,
    );
    assert.ok(web.a.startsWith(`${MARK}k1:BwcHBwcHBwcHBwcH`));
  } finally {
    crypto.getRandomValues = getRandomValues;
  }
});

test('only the canonical base64 of it is read, on any host', async () => {
  const { inner, store } = overMemory();
  await store.commit(create('c', { app: { set: { a: 'text' } } }), context);
  const { a: sealed } = (await inner.loadScope({ app: 'app' }, context)).state;
  const others = [
    sealed.replace(/=*:k1$/, ':k1') === sealed ? sealed.replace(/:k1$/, '=:k1') : sealed.replace(/=+:k1$/, ':k1'),
    sealed.replace(/(.):k1$/, ' $1:k1'),
    sealed.replace(`${MARK}k1:`, `${MARK}k1:\n`),
    sealed.replace(`${MARK}k1:`, `${MARK}k1:-_`),
  ];
  for (const value of others) {
    const spoiling = { ...inner, loadScope: async () => ({ pos: 1, state: { a: value } }) };
    const read = () => overMemory({}, spoiling).store.loadScope({ app: 'app' }, context);
    await assert.rejects(read(), { code: 'corrupt' });
    await withModules(
      () => undefined,
      () => assert.rejects(read(), { code: 'corrupt' }),
    );
  }
});
