// The ids that a database remembers: for a day at least, and not for ever.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sqliteStore } from 'statepad/stores/sqlite';
import { checkRememberedByMocks } from '../support/remembered.js';
import { create, libraries, rows } from './libraries.mjs';

for (const name of Object.keys(libraries)) {
  test(`${name}: updates, refusals and removed creations are remembered for 24 hours, with their digests`, async (t) => {
    const database = libraries[name](':memory:');
    const store = sqliteStore(database);
    await store.open(create, { signal: new AbortController().signal });
    await checkRememberedByMocks(t, store);
    const kept = ['updates', 'calls', 'creations'].map(
      (table) => rows(database, `SELECT count(*) AS n FROM statepad_${table}`)[0].n,
    );
    assert.deepEqual(kept, [1, 1, 1]);
    await store.close();
    database.close();
  });
}
