// Journals in the storage of a browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build } from 'esbuild';
import { isStatepadError } from 'statepad';
import { localStorageJournal } from 'statepad/stores/journal';
import { KEY } from '../../support/fixtures.mjs';
import { append, context, create, loaded, memoryArea, memoryLocks, opened } from './support.mjs';

const session = (sessionId) => ({ ...KEY, sessionId });

test('each batch is an item, and other items are left alone', async () => {
  const storage = memoryArea();
  const others = [
    'x',
    'sessions',
    'sessions:',
    'sessions:1',
    'sessions:0000000',
    'sessions:00000001',
    'sessions:0000001x',
    'sessions2:0000001',
    'sessions:0000001:0000001',
  ];
  others.forEach((name) => storage.setItem(name, 'mine'));
  const options = { storage, locks: memoryLocks() };
  const store = await opened(localStorageJournal('sessions', options));
  await store.commit(create(KEY, 'c'), context);
  await store.commitMany([append(KEY, 'e1'), create(session('t'), 'c2'), create(session('r'), 'c3')], context);
  await store.close();
  assert.deepEqual([...storage.items.keys()].slice(others.length), ['sessions:0000001', 'sessions:0000002']);
  assert.equal(storage.getItem('sessions:0000002').split('\n').length, 3);
  const again = await opened(localStorageJournal('sessions', options));
  assert.equal((await loaded(again, KEY)).rev, 1);
  await again.commit(append(KEY, 'e2'), context);
  assert.ok(storage.items.has('sessions:0000003'));
  await again.close();
  others.forEach((name) => assert.equal(storage.getItem(name), 'mine'));
});

test('items are read in the order of their numbers, also when these have become longer', async () => {
  const storage = memoryArea();
  const options = { storage, locks: memoryLocks() };
  const store = await opened(localStorageJournal('j', options));
  await store.commit(create(KEY, 'c'), context);
  await store.commit(append(KEY, 'e1'), context);
  await store.close();
  const [first, second] = ['j:0000001', 'j:0000002'].map((name) => storage.getItem(name));
  storage.items.clear();
  storage.setItem('j:10000000', second);
  storage.setItem('j:9999999', first);
  const again = await opened(localStorageJournal('j', options));
  assert.equal((await loaded(again, KEY)).rev, 1);
  await again.commit(append(KEY, 'e2'), context);
  assert.ok(storage.items.has('j:10000001'));
});

test('what finds no room is unavailable, and can be written when there is some', async () => {
  for (const name of ['QuotaExceededError', 'NS_ERROR_DOM_QUOTA_REACHED']) {
    const storage = memoryArea(6000);
    const { setItem } = storage;
    storage.setItem = (item, value) => {
      try {
        setItem(item, value);
      } catch {
        throw Object.assign(new Error('full'), { name });
      }
    };
    storage.setItem('other', 'x'.repeat(3000));
    const options = { storage, locks: memoryLocks() };
    const store = await opened(localStorageJournal('sessions', options));
    await store.commit(create(KEY, 'c'), context);
    const acknowledged = [];
    let error;
    for (let number = 1; error === undefined; number++) {
      await store.commit(append(KEY, `e${number}`, { session: { set: { number } } }), context).then(
        () => acknowledged.push(number),
        (reason) => (error = reason),
      );
    }
    assert.equal(error.code, 'unavailable');
    assert.equal(error.cause.name, name);
    const next = append(KEY, `e${acknowledged.length + 1}`);
    storage.removeItem('other');
    assert.equal((await store.commit(next, context)).duplicate, undefined);
    await store.close();
    const again = await opened(localStorageJournal('sessions', options));
    const { rev, state } = await loaded(again, KEY);
    assert.deepEqual([rev, state.session.number], [acknowledged.length + 1, acknowledged.length]);
    await again.close();
  }
});

test('an error that says nothing leaves the outcome unknown, and the change is stored once', async () => {
  const storage = memoryArea();
  const store = await opened(localStorageJournal('sessions', { storage, locks: memoryLocks() }));
  await store.commit(create(KEY, 'c'), context);
  const { setItem } = storage;
  storage.setItem = (item, value) => {
    setItem(item, value);
    storage.setItem = setItem;
    throw new Error('odd');
  };
  await assert.rejects(store.commit(append(KEY, 'e1'), context), /odd/);
  assert.equal((await store.commit(append(KEY, 'e1'), context)).duplicate, true);
  assert.equal((await loaded(store, KEY)).rev, 1);
});

test('an item that is damaged makes its session corrupt, one that is missing as well', async () => {
  const storage = memoryArea();
  const options = { storage, locks: memoryLocks() };
  const store = await opened(localStorageJournal('j', options));
  await store.commit(create(KEY, 'c'), context);
  await store.commit(create(session('t'), 'c2'), context);
  await store.commit(append(KEY, 'e1'), context);
  await store.commit(append(KEY, 'e2'), context);
  await store.close();
  for (const change of [
    () => storage.setItem('j:0000003', storage.getItem('j:0000003').replace('e1', 'x1')),
    () => storage.setItem('j:0000004', storage.getItem('j:0000004').slice(0, 150)),
    () => storage.removeItem('j:0000003'),
  ]) {
    const before = new Map(storage.items);
    change();
    const again = await opened(localStorageJournal('j', options));
    assert.deepEqual([await loaded(again, KEY), (await loaded(again, session('t'))).rev], ['corrupt', 0]);
    await again.close();
    storage.items.clear();
    before.forEach((value, name) => storage.items.set(name, value));
  }
});

test('with locks of the browser a journal is open once, until it is closed', async () => {
  const options = { storage: memoryArea(), locks: memoryLocks() };
  const store = await opened(localStorageJournal('j', options));
  assert.deepEqual([...options.locks.held], ['statepad:j']);
  await assert.rejects(opened(localStorageJournal('j', options)), {
    code: 'rejected',
    message: /this page already has the journal open/,
  });
  // Another page asks for the same locks.
  const theirs = { ...options, locks: { request: options.locks.request } };
  await assert.rejects(opened(localStorageJournal('j', theirs)), {
    code: 'rejected',
    message: /another page has the journal open/,
  });
  const other = await opened(localStorageJournal('k', options));
  await store.close();
  await opened(localStorageJournal('j', options));
  await other.close();
  assert.deepEqual([...options.locks.held], ['statepad:j']);
});

test('without locks nothing is opened, and nothing written', async () => {
  const storage = memoryArea();
  await withHost({ localStorage: storage, navigator: {} }, async () => {
    await assert.rejects(
      opened(localStorageJournal('j')),
      (error) => error.code === 'rejected' && /"j" needs navigator.locks.*https.*indexedDBStore/.test(error.message),
    );
    await assert.rejects(opened(localStorageJournal('j', { storage })), {
      code: 'rejected',
      message: /navigator.locks/,
    });
  });
  await assert.rejects(opened(localStorageJournal('j', { storage })), {
    code: 'rejected',
    message: /needs locks that all users of its storage share/,
  });
  assert.equal(storage.items.size, 0);
});

test('a storage that a page has for itself needs no locks, and has one store at a time', async () => {
  const storage = memoryArea();
  await withHost({ sessionStorage: storage }, async () => {
    const store = await opened(localStorageJournal('j', { storage }));
    await store.commit(create(KEY, 'c'), context);
    await assert.rejects(opened(localStorageJournal('j', { storage })), {
      code: 'rejected',
      message: /this page already has the journal open/,
    });
    await (await opened(localStorageJournal('k', { storage }))).close();
    await store.close();
    const again = await opened(localStorageJournal('j', { storage }));
    assert.equal((await loaded(again, KEY)).rev, 0);
    await again.close();
  });
});

test('a lock of the browser that was taken away ends the journal', async () => {
  const locks = memoryLocks();
  const storage = memoryArea();
  let steal;
  const request = (name, options, callback) =>
    Promise.race([locks.request(name, options, callback), new Promise((_, reject) => (steal = reject))]);
  const store = await opened(localStorageJournal('j', { storage, locks: { request } }));
  await store.commit(create(KEY, 'c'), context);
  steal(new Error('stolen'));
  await new Promise((resolve) => setTimeout(resolve));
  const before = [...storage.items];
  await assert.rejects(store.commit(append(KEY, 'e1'), context), {
    code: 'rejected',
    message: /another page has taken the lock "statepad:j"/,
  });
  assert.deepEqual([...storage.items], before);
});

for (const [what, change] of [
  ['all items are deleted', ({ items }) => items.clear()],
  ['the last item is deleted', (storage) => storage.removeItem('j:0000003')],
  ['the first item is deleted', (storage) => storage.removeItem('j:0000001')],
]) {
  test(`when ${what} while it is open, nothing more is written and acknowledged`, async () => {
    const options = { storage: memoryArea(), locks: memoryLocks() };
    const first = await opened(localStorageJournal('j', options));
    await first.commit(create(KEY, 'c'), context);
    await first.commit(append(KEY, 'e1'), context);
    await first.close();
    for (const isWritten of [false, true]) {
      const store = await opened(localStorageJournal('j', options));
      // It has been written by this store, or read.
      await store.commit(append(KEY, 'e2'), context);
      const before = new Map(options.storage.items);
      change(options.storage);
      const [count, after] = [options.storage.items.size, isWritten ? 'e3' : 'e4'];
      for (let attempt = 0; attempt < 3; attempt++) {
        await assert.rejects(store.commit(append(KEY, after), context), {
          code: 'rejected',
          message: /"j" was deleted while it was open: reload the page/,
        });
      }
      assert.equal(options.storage.items.size, count);
      // Nor does it go on when the items are back.
      before.forEach((value, name) => options.storage.setItem(name, value));
      await assert.rejects(store.commit(append(KEY, after), context), { code: 'rejected' });
      await store.close();
    }
    const again = await opened(localStorageJournal('j', options));
    assert.equal((await loaded(again, KEY)).rev, 2);
    await again.close();
  });
}

test('when it has to be read again and is gone, it is not taken for a new one', async () => {
  const options = { storage: memoryArea(), locks: memoryLocks() };
  const store = await opened(localStorageJournal('j', options));
  await store.commit(create(KEY, 'c'), context);
  const { setItem } = options.storage;
  options.storage.setItem = () => {
    options.storage.setItem = setItem;
    options.storage.items.clear();
    throw new Error('odd');
  };
  await assert.rejects(store.commit(append(KEY, 'e1'), context), /odd/);
  await assert.rejects(
    store.commit(create(KEY, 'c'), context),
    (error) => /cannot be read again/.test(error.message) && /was deleted/.test(error.cause.message),
  );
  await assert.rejects(store.load(KEY, {}, context));
  assert.equal(options.storage.items.size, 0);
});

test('an item that another page has written is never overwritten', async () => {
  const options = { storage: memoryArea(), locks: memoryLocks() };
  const store = await opened(localStorageJournal('j', options));
  await store.commit(create(KEY, 'c'), context);
  options.storage.setItem('j:0000002', 'theirs');
  await assert.rejects(store.commit(append(KEY, 'e1'), context), {
    code: 'rejected',
    message: /written by another page/,
  });
  options.storage.removeItem('j:0000002');
  await assert.rejects(store.commit(append(KEY, 'e1'), context), { code: 'rejected' });
});

test('a name or options that can be none are refused at once', () => {
  const storage = memoryArea();
  for (const args of [
    [],
    [''],
    [5],
    [null],
    ['j', null],
    ['j', 5],
    ['j', { storge: storage }],
    ['j', { storage: {} }],
    ['j', { storage: 5 }],
    ['j', { storage, locks: {} }],
    ['j', { locks: null }],
  ]) {
    assert.throws(
      () => localStorageJournal(...args),
      (error) => isStatepadError(error) && error.code === 'INVALID_ARGUMENT' && error.path !== undefined,
      JSON.stringify(args),
    );
  }
});

/** Runs a task where the host has these properties. */
async function withHost(properties, task) {
  const before = Object.keys(properties).map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);
  Object.entries(properties).forEach(([name, value]) =>
    Object.defineProperty(globalThis, name, { value, configurable: true }),
  );
  try {
    await task();
  } finally {
    before.forEach(([name, descriptor]) =>
      descriptor === undefined ? delete globalThis[name] : Object.defineProperty(globalThis, name, descriptor),
    );
  }
}

test('the storage is that of the page, unless told otherwise; where there is none, opening is rejected', async () => {
  const before = ['localStorage', 'navigator'].map((name) => [
    name,
    Object.getOwnPropertyDescriptor(globalThis, name),
  ]);
  const put = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true });
  try {
    put('localStorage', undefined);
    await assert.rejects(opened(localStorageJournal('j')), { code: 'rejected' });
    put('localStorage', memoryArea());
    put('navigator', { locks: memoryLocks() });
    const store = await opened(localStorageJournal('j'));
    await store.commit(create(KEY, 'c'), context);
    assert.deepEqual([...globalThis.localStorage.items.keys()], ['j:0000001']);
    assert.deepEqual([...globalThis.navigator.locks.held], ['statepad:j']);
    await store.close();
  } finally {
    before.forEach(([name, descriptor]) =>
      descriptor === undefined ? delete globalThis[name] : Object.defineProperty(globalThis, name, descriptor),
    );
  }
});

test('a bundle for browsers has nothing of Node in it', async () => {
  for (const [contents, isPlain] of [
    ["import { localStorageJournal } from 'statepad/stores/journal'; console.log(localStorageJournal('x'));", true],
    ["import * as journals from 'statepad/stores/journal'; console.log(journals);", false],
  ]) {
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: import.meta.dirname },
      bundle: true,
      platform: 'browser',
      format: 'esm',
      write: false,
      logLevel: 'silent',
    });
    const [{ text }] = outputFiles;
    assert.doesNotMatch(text, /(import|require)\W[^\n]*node:/);
    assert.equal(!text.includes('node:'), isPlain);
  }
});
