// Random changes and questions: the SQLite store answers as the reference does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import { compareStores } from '../support/random.js';
import { libraries } from './libraries.mjs';

/** The store, with events as they really are: JSON text has no lone surrogates, which UTF-8 cannot say. */
function ofJson(store) {
  const clean = (change) =>
    change.event ? { ...change, event: { ...change.event, data: change.event.data.toWellFormed() } } : change;
  return {
    ...store,
    commit: (change, context) => store.commit(clean(change), context),
    commitMany: (changes, context) => store.commitMany(changes.map(clean), context),
  };
}

for (const name of Object.keys(libraries)) {
  test(`${name}: random changes and questions are answered as the reference answers them`, async () => {
    const refusals = {};
    for (const seed of [1, 2, 3, 4]) {
      const database = libraries[name](':memory:');
      const store = sqliteStore(database);
      await store.open({ migrate: 'create' }, { signal: new AbortController().signal });
      const compared = await compareStores(ofJson(store), ofJson(memoryStore()), seed, 1500);
      assert.equal(compared.difference, undefined, `seed ${seed}`);
      Object.entries(compared.refusals).forEach(
        ([refusal, count]) => (refusals[refusal] = (refusals[refusal] ?? 0) + count),
      );
      await store.close();
      database.close();
    }
    // Otherwise they would say little.
    for (const refusal of ['conflict', 'exists', 'not-found', 'duplicate']) {
      assert.ok(refusals[refusal] > 100, `${refusal}: ${refusals[refusal]}`);
    }
  });
}
