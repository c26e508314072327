// Random changes and questions: the store in Postgres answers as the reference does.

import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { assertVaried, compareStores } from '../support/random.js';
import { context, withDatabase, withLite } from './database.mjs';

function randomTest(name, client, seed, schema) {
  test(`${name}: random changes and questions are answered as the reference answers them`, async () => {
    const store = postgresStore(client, { schema });
    await store.open({ migrate: 'create' }, context);
    const often = { conflict: 25, exists: 25, 'not-found': 25, duplicate: 25, fenced: 25 };
    assertVaried(await compareStores(store, { seed, length: 1_500 }), { ...often, held: 3, rejected: 3 });
  });
}

await withDatabase((database) => {
  // Nothing here depends on what is on disk.
  const pool = database.pool({ options: '-c synchronous_commit=off' });
  randomTest('postgres', pool, 11, database.schema());
});

await withLite((lite) => randomTest('postgres, PGlite', lite, 14, 'statepad'));
