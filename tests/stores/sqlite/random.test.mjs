// Random changes and questions: the SQLite store answers as the reference does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqliteStore } from 'statepad/stores/sqlite';
import { assertVaried, compareStores } from '../support/random.js';
import { libraries, miscounted } from './libraries.mjs';

for (const name of Object.keys(libraries)) {
  test(`${name}: random changes and questions are answered as the reference answers them, and all sizes are those of the values`, async () => {
    const counts = {};
    for (const seed of [1, 2, 3, 4]) {
      const database = libraries[name](':memory:');
      const store = sqliteStore(database);
      await store.open({ migrate: 'create' }, { signal: new AbortController().signal });
      const outcomes = await compareStores(store, { seed, length: 1_500 });
      assert.deepEqual(miscounted(database), []);
      Object.entries(outcomes).forEach(([outcome, count]) => (counts[outcome] = (counts[outcome] ?? 0) + count));
      await store.close();
      database.close();
    }
    assertVaried(counts, { conflict: 100, exists: 100, 'not-found': 100, duplicate: 100 });
  });
}
