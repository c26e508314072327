// The fingerprint of what is encrypted: of the texts, of what each is bound to, and of the tokens of names.

import { mock, test } from 'node:test';
import { assertLayout } from '../../support/layout.mjs';
import { source } from '../../support/source.mjs';
import { append, bytes, context, create, data, key, nameKey, overMemory, recording, update } from './support.mjs';
import { memoryStore } from 'statepad/stores/memory';

const { LAYOUT } = await source('stores/encrypted/version.ts');
const webKey = await crypto.subtle.importKey('raw', bytes(1), 'AES-GCM', false, ['encrypt', 'decrypt']);

/** Writes what takes a text of each kind. */
async function write(store) {
  const both = { app: { set: { a: [1] } }, user: { set: { b: null }, unset: ['c'] } };
  const event = { id: 'c', time: 1, data: data('c') };
  await store.commit(create('c', { ...both, session: { set: { d: 'é' } } }, { event }), context);
  await store.commit(append('e', both, { guard: { pos: { app: 1, user: 1 } } }), context);
  await store.commit(create('n', {}, { key: { ...key, sessionId: 's2' } }), context);
  await store.commit(update('u', { user: { set: { b: 1 } } }, { digest: 'ü' }), context);
}

test('the fingerprint of what is encrypted is that of its layout', async () => {
  const sealed = [];
  const texts = new TextDecoder();
  // In place of each text: what it says, what it is bound to, and how long the nonce is.
  mock.method(crypto.subtle, 'encrypt', async ({ name, iv, additionalData }, _, content) => {
    sealed.push(JSON.stringify([name, iv.length, texts.decode(additionalData), texts.decode(content)]));
    return new Uint8Array(content).buffer;
  });
  mock.method(crypto, 'getRandomValues', (array) => array.fill(7));
  try {
    for (const names of [{}, { names: 'encrypted', nameKey }]) {
      const { asked, store } = recording(memoryStore());
      await write(overMemory({ keys: [{ id: 'k1', key: webKey }], ...names }, store).store);
      sealed.push(...asked);
    }
  } finally {
    mock.restoreAll();
  }
  // Texts that go together are sealed in any order.
  assertLayout(LAYOUT, sealed.sort().join('\n'));
});
