// The reference, and whether the cases can fail: each of many broken stores has to be caught by one of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { runStoreCase, storeCases } from 'statepad/testing';
import { broken } from './broken.mjs';
import { storeTests } from '../support/run.mjs';

function open() {
  const store = memoryStore();
  return { store, another: () => store };
}

storeTests('memory', open, { without: ['reopen'] });

test('a store without a log has no method for it, keeps nothing, and says so', async () => {
  const context = { signal: new AbortController().signal };
  const store = memoryStore({ log: false });
  assert.deepEqual([store.readLog, store.trimLog, store.keeps.includes('log')], [undefined, undefined, false]);
  const key = { appName: 'app', userId: 'user', sessionId: 's' };
  const event = { id: 'e', time: 1, data: '{}' };
  await store.commit({ id: 'c', kind: 'create', key, time: 1, delta: {} }, context);
  await store.commit({ id: 'e', kind: 'append', key, time: 1, event, delta: { app: { set: { a: 1 } } } }, context);
  assert.deepEqual((await store.load(key, {}, context)).events, [{ rev: 1, id: 'e', data: '{}' }]);
  const options = { code: 'INVALID_ARGUMENT', message: /options\.log/ };
  assert.throws(() => memoryStore({ log: 'no' }), options);
  assert.throws(() => memoryStore({ logs: true }), { code: 'INVALID_ARGUMENT', message: /logs is not known/ });
});

test('cases are plain data: they are the same cases after they were written down as JSON', async () => {
  const text = JSON.stringify(storeCases);
  assert.equal(JSON.stringify(JSON.parse(text)), text);
  for (const storeCase of JSON.parse(text)) {
    // The storage of a store in memory is the store itself.
    await runStoreCase(storeCase, () => {
      const store = memoryStore();
      return { store, another: () => store, reopen: () => store };
    });
  }
});

test('each case has a name of its own', () => {
  const names = storeCases.map(({ name }) => name);
  assert.deepEqual(names, [...new Set(names)]);
});

test('a failure names the case, the step and the difference', async () => {
  const steps = [{ list: { app: 'a', descending: false }, answer: { rows: [], app: {}, users: {}, total: 0 } }];
  await runStoreCase({ name: 'it is empty', needs: [], steps }, open);
  const wrong = [...steps, { loadScope: { app: 'a' }, answer: { pos: 1, state: {} } }];
  await assert.rejects(runStoreCase({ name: 'it has something', needs: [], steps: wrong }, open), {
    message: 'store case "it has something": step 2 (loadScope): pos is 0, not 1',
  });
});

test('what a case needs and there is not is a failure', async () => {
  const storeCase = { name: 'it stays', needs: ['reopen', 'watch'], steps: [] };
  await assert.rejects(runStoreCase(storeCase, open), { message: 'store case "it stays": needs: there is no reopen' });
});

test('every store is opened and closed once, and the storage is disposed of last, whatever fails', async () => {
  const calls = [];
  const make = (name) => ({
    ...memoryStore(),
    open: async ({ migrate }) => void calls.push(`open ${name} ${migrate}`),
    close: async () => void calls.push(`close ${name}`),
  });
  const harness = () => ({
    store: make('first'),
    reopen: () => make('again'),
    another: () => make('another'),
    dispose: () => void calls.push('dispose'),
  });
  const steps = [{ reopen: 'check' }, { remove: { appName: 'a', userId: 'u', sessionId: 's' }, by: 'another' }];
  await runStoreCase({ name: 'x', needs: [], steps }, harness);
  const all = [
    'open first create',
    'close first',
    'open again check',
    'open another create',
    'close another',
    'close again',
    'dispose',
  ];
  assert.deepEqual(calls.splice(0), all);
  const failing = [...steps, { loadScope: { app: 'a' }, answer: { pos: 1, state: {} } }];
  await assert.rejects(
    runStoreCase({ name: 'x', needs: [], steps: failing }, harness),
    /^Error: store case "x": step 3/,
  );
  assert.deepEqual(calls, all);
});

/** The same store, whose clock goes on before each lease: a request takes its time. */
function timed(store, timers) {
  return {
    ...store,
    lease: (...args) => {
      timers.tick(20);
      return store.lease(...args);
    },
  };
}

/** Lets the clock of stores stand still but for the waits of steps, which take no time. */
function turnClock({ mock }) {
  mock.timers.enable({ apis: ['Date'], now: 1_750_000_000_000 });
  const { setTimeout: later } = globalThis;
  mock.method(globalThis, 'setTimeout', (run, delay) =>
    later(() => {
      mock.timers.tick(delay);
      run();
    }, 0),
  );
  return mock.timers;
}

/** All cases, the shortest first, those that wait for hints last: most broken stores are caught before. */
const costOf = ({ needs, steps }) => JSON.stringify(steps).length + (needs.includes('watch') ? 1e9 : 0);
const quickFirst = storeCases
  .map((storeCase) => ({ storeCase, cost: costOf(storeCase) }))
  .sort((a, b) => a.cost - b.cost)
  .map(({ storeCase }) => storeCase);

test('a store that is not broken passes all cases by the clock that broken ones have', async (t) => {
  const timers = turnClock(t);
  for (const storeCase of storeCases) {
    await runStoreCase(storeCase, () => {
      const store = timed(memoryStore(), timers);
      return { store, another: () => store, reopen: () => store };
    });
  }
});

for (const [fault, make] of Object.entries(broken)) {
  test(`a store that ${fault} is caught`, async (t) => {
    const timers = turnClock(t);
    const openBroken = () => {
      const store = timed(memoryStore(), timers);
      const made = make(store, timers);
      const { store: first, another = first, reopened = first } = made.store ? made : { store: { ...store, ...made } };
      return { store: first, another: () => another, reopen: () => reopened };
    };
    const failures = [];
    for (const storeCase of quickFirst) {
      await runStoreCase(storeCase, openBroken).catch((error) => failures.push(error));
      if (failures.length > 0) {
        break;
      }
    }
    assert.match(String(failures[0]), /^Error: store case "/);
  });
}
