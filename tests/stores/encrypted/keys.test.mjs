// The keys of an encrypted store: new ones and old ones, wrong ones, and what was written before there was any.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import {
  MARK,
  isSealed,
  append,
  bytes,
  context,
  create,
  data,
  key,
  keys,
  nameKey,
  overMemory,
  plain,
  recording,
  refusal,
  update,
} from './support.mjs';

describe('keys', () => {
  const delta = (value) => ({
    app: { set: { [`a${value}`]: value } },
    session: { set: { [`s${value}`]: value, last: value } },
  });
  const two = [...keys, { id: 'k2', key: bytes(2) }];

  test('a new key encrypts, and the old one still reads', async () => {
    for (const names of [{}, { names: 'encrypted', nameKey }]) {
      const { inner, store: before } = overMemory(names);
      await before.commit(create('c', delta(1)), context);
      await before.commit(append('e1', delta(2)), context);
      const { asked, store: watched } = recording(inner);
      const { store: after } = overMemory({ ...names, keys: two, current: 'k2' }, watched);
      await after.commit(append('e2', delta(3), { guard: { keys: { session: { set: { last: 2 } } } } }), context);
      assert.deepEqual([...new Set(asked.join('').match(/sealed1[^:]*:k\d/g))], [`${MARK}k2`]);
      const { state, events } = await after.load(key, {}, context);
      assert.deepEqual(plain(state.session), { s1: 1, last: 3, s2: 2, s3: 3 });
      assert.deepEqual(plain(state.app), { a1: 1, a2: 2, a3: 3 });
      assert.deepEqual(
        events.map(({ data }) => data),
        [data('e1'), data('e2')],
      );
    }
  });

  test('a key that is not there is no damage: rejected, with its id', async () => {
    const { inner, store: before } = overMemory();
    await before.commit(create('c', { app: { set: { a: 1 } }, user: { set: { u: 1 } } }), context);
    await before.commit(append('e', { session: { set: { s: 1 } } }), context);
    const { store } = overMemory({ keys: [two[1]] }, inner);
    const expected = { code: 'rejected', message: /"k1"/ };
    await assert.rejects(store.load(key, {}, context), expected);
    await assert.rejects(store.list({ app: 'app', descending: false }, context), expected);
    await assert.rejects(store.loadScope({ app: 'app', user: 'ana' }, context), expected);
    await assert.rejects(store.commit(append('e', {}), context), expected);
    await assert.rejects(
      store.commit(update('p', {}, { guard: { keys: { app: { set: { a: 1 } } } } }), context),
      expected,
    );
    assert.equal((await before.load(key, {}, context)).rev, 1);
  });

  test('a wrong key under the right id reads nothing: corrupt', async () => {
    const { inner, store: before } = overMemory();
    await before.commit(create('c', { session: { set: { s: 1 } } }), context);
    await before.commit(create('d', {}, { key: { ...key, sessionId: 's2' } }), context);
    const { store } = overMemory({ keys: [{ id: 'k1', key: bytes(9) }] }, inner);
    await assert.rejects(store.load(key, {}, context), { code: 'corrupt', message: /"s" of session "s1"/ });
    const { rows, corrupt } = await store.list({ app: 'app', descending: false }, context);
    assert.deepEqual(
      rows.map(({ key }) => key.sessionId),
      ['s2'],
    );
    assert.deepEqual(corrupt, [key]);
  });

  test('another name key is told from damage', async () => {
    const { inner, store: before } = overMemory({ names: 'encrypted', nameKey });
    await before.commit(create('c', { app: { set: { a: 1 } } }), context);
    const { store } = overMemory({ names: 'encrypted', nameKey: bytes(201) }, inner);
    await assert.rejects(store.load(key, {}, context), { code: 'rejected', message: /another name key/ });
    const { store: visible } = overMemory({}, inner);
    await assert.rejects(visible.load(key, {}, context), { code: 'corrupt' });
  });

  test('CryptoKeys are taken, and one that only decrypts as an old one', async () => {
    const make = (number, usages) => crypto.subtle.importKey('raw', bytes(number), 'AES-GCM', false, usages);
    const { inner, store: before } = overMemory();
    await before.commit(create('c', { app: { set: { a: 1 } } }), context);
    const old = { id: 'k1', key: await make(1, ['decrypt']) };
    const hkdf = await crypto.subtle.importKey('raw', bytes(3), 'HKDF', false, ['deriveKey']);
    const { store } = overMemory(
      { keys: [old, { id: 'k2', key: await make(2, ['encrypt', 'decrypt']) }], current: 'k2' },
      inner,
    );
    await store.commit(append('e', { app: { set: { b: 2 } } }), context);
    assert.deepEqual(plain((await store.loadScope({ app: 'app' }, context)).state), { a: 1, b: 2 });
    const named = overMemory({ names: 'encrypted', nameKey: hkdf }).store;
    await named.commit(create('c', { app: { set: { a: 1 } } }), context);
    assert.deepEqual(plain((await named.loadScope({ app: 'app' }, context)).state), { a: 1 });
    assert.throws(() => overMemory({ keys: [old] }), {
      code: 'INVALID_ARGUMENT',
      message: /"k1" may not be used to encrypt/,
    });
  });

  test('a function is asked for each key once, and again when it failed', async () => {
    const asked = [];
    let isDown = true;
    const find = async (id) => {
      asked.push(id);
      if (isDown) throw new Error('no network');
      return two.find((each) => each.id === id)?.key;
    };
    const { inner, store } = overMemory({ keys: find, current: 'k2' });
    const error = await refusal(store.commit(create('c', delta(1)), context));
    assert.equal(error.code, 'unavailable');
    assert.equal(error.cause.message, 'no network');
    assert.equal(await inner.load(key, {}, context), null);
    isDown = false;
    await store.commit(create('c', delta(1)), context);
    await store.load(key, {}, context);
    assert.deepEqual([asked.length > 1, new Set(asked)], [true, new Set(['k2'])]);
    const count = asked.length;
    await encryptedStore(inner, { keys: [two[0]] }).commit(update('p', { app: { set: { z: 1 } } }), context);
    await store.load(key, {}, context);
    await store.load(key, {}, context);
    assert.deepEqual(asked.slice(count), ['k1']);
    const { store: fewer } = overMemory({ keys: () => undefined, current: 'k2' }, inner);
    await assert.rejects(fewer.load(key, {}, context), { code: 'rejected' });
    const { store: short } = overMemory({ keys: () => bytes(1).slice(1), current: 'k2' }, inner);
    await assert.rejects(short.load(key, {}, context), { code: 'rejected', message: /32 bytes/ });
  });

  test('keys may be overwritten once they are given', async () => {
    const [mine, names] = [Buffer.from(bytes(5)), Buffer.from(bytes(6))];
    const options = () => ({ keys: [{ id: 'k1', key: mine }], names: 'encrypted', nameKey: names });
    const { inner, store } = overMemory(options());
    const other = encryptedStore(inner, {
      keys: [{ id: 'k1', key: bytes(5) }],
      names: 'encrypted',
      nameKey: bytes(6),
    });
    mine.fill(0);
    names.fill(0);
    await store.commit(create('c', { app: { set: { a: 1 } } }), context);
    assert.deepEqual(plain((await other.loadScope({ app: 'app' }, context)).state), { a: 1 });
  });

  const refused = {
    'no keys': { keys: [] },
    'two keys without a current one': { keys: two },
    'a current key that is not there': { keys, current: 'k2' },
    'two keys under one id': { keys: [...keys, ...keys], current: 'k1' },
    'a key that is too short': { keys: [{ id: 'k', key: new Uint8Array(16) }] },
    'an empty id': { keys: [{ id: '', key: bytes(1) }] },
    'an id with a colon': { keys: [{ id: 'a:b', key: bytes(1) }] },
    'a function without a current key': { keys: () => bytes(1) },
    'encrypted names without a name key': { keys, names: 'encrypted' },
    'a name key for visible names': { keys, nameKey },
    'a short name key': { keys, names: 'encrypted', nameKey: new Uint8Array(31) },
    'plain text with encrypted names': { keys, names: 'encrypted', nameKey, plaintext: 'read' },
    'a key that is a text': { keys: [{ id: 'k', key: 'secret'.repeat(8) }] },
    'a key of two bytes an element': { keys: [{ id: 'k', key: new Uint16Array(32) }] },
    'a key of two bytes an element, 32 bytes in all': { keys: [{ id: 'k', key: new Uint16Array(16) }] },
    'a key of signed bytes': { keys: [{ id: 'k', key: new Int8Array(32) }] },
    'a key of clamped bytes': { keys: [{ id: 'k', key: new Uint8ClampedArray(32) }] },
    'a key of floats': { keys: [{ id: 'k', key: new Float64Array(32) }] },
    'a view of a key': { keys: [{ id: 'k', key: new DataView(new ArrayBuffer(32)) }] },
    'a buffer of a key': { keys: [{ id: 'k', key: new ArrayBuffer(32) }] },
    'a name key of two bytes an element': { keys, names: 'encrypted', nameKey: new Uint16Array(32) },
    'a name key that is a view': { keys, names: 'encrypted', nameKey: new DataView(new ArrayBuffer(32)) },
    'a key without an id': { keys: [bytes(1)] },
    'a key in place of keys': { keys: bytes(1) },
    'keys that are a text': { keys: 'secret' },
    'a name key that is a text': { keys, names: 'encrypted', nameKey: 'secret' },
    'no options': undefined,
    'options that are null': null,
    'an option by another name': { keys, key: bytes(1) },
    'names of another kind': { keys, names: 'hidden' },
    'plain text of another kind': { keys, plaintext: true },
  };
  for (const [what, options] of Object.entries(refused)) {
    test(`${what} are refused at once`, () =>
      assert.throws(() => encryptedStore(memoryStore(), options), { code: 'INVALID_ARGUMENT' }));
  }

  for (const [what, inner] of [
    ['no store', undefined],
    ['null', null],
    ['a path', 'sessions.db'],
    ['a function', memoryStore],
  ]) {
    test(`${what} in place of the store to encrypt is refused at once`, () =>
      assert.throws(() => encryptedStore(inner, { keys }), { code: 'INVALID_ARGUMENT', path: 'inner' }));
  }

  test('a store that compares no revisions is refused at once: events are bound to theirs', () => {
    for (const guards of ['keys', 'none']) {
      assert.throws(() => encryptedStore({ ...memoryStore(), guards }, { keys }), {
        code: 'INVALID_ARGUMENT',
        path: 'inner',
      });
    }
  });
});

describe('what was there before the encryption', () => {
  const delta = { app: { set: { a: 1 } }, session: { set: { s: 1 } } };

  test('is corrupt', async () => {
    const { inner, store } = overMemory();
    await inner.commit(create('c', delta), context);
    await assert.rejects(store.load(key, {}, context), { code: 'corrupt', message: /is not encrypted/ });
    await assert.rejects(store.loadScope({ app: 'app' }, context), { code: 'corrupt' });
  });

  test('is read when that is asked for, and encrypted when it is written again', async () => {
    const { inner, store } = overMemory({ plaintext: 'read' });
    await inner.commit(create('c', delta), context);
    await inner.commit(append('e1', {}), context);
    await store.commit(
      append(
        'e2',
        { app: { set: { a: 2 } } },
        { guard: { keys: { app: { set: { a: 1 } }, session: { set: { s: 1 } } } } },
      ),
      context,
    );
    const { state, events } = await store.load(key, {}, context);
    assert.deepEqual([plain(state.app), plain(state.session)], [{ a: 2 }, { s: 1 }]);
    assert.deepEqual(events, [
      { rev: 1, id: 'e1', data: data('e1'), pos: { app: 1, user: 0 } },
      { rev: 2, id: 'e2', data: data('e2'), pos: { app: 2, user: 0 } },
    ]);
    assert.ok(isSealed((await inner.load(key, {}, context)).state.app.a));
    assert.equal((await store.commit(append('e1'), context)).data, data('e1'));
  });
});
