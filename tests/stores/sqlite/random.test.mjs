// Random changes and questions: the SQLite store answers as the reference does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import { compareStores } from '../support/random.js';
import { libraries } from './libraries.mjs';

/**
 * The store, with events as they really are: JSON text has no lone surrogates, which UTF-8 cannot say; and with ids of
 * creations as they really are: no two sessions have the same one.
 */
function asReal(store) {
  const created = (id, key) => `${id} of ${JSON.stringify(key)}`;
  const named = (part, key) => (part?.created === undefined ? part : { ...part, created: created(part.created, key) });
  const clean = ({ id, event, guard, ...change }) => ({
    ...change,
    id: change.kind === 'create' ? created(id, change.key) : id,
    ...(event && { event: { ...event, data: event.data.toWellFormed() } }),
    ...(guard && { guard: named(guard, change.key) }),
  });
  return {
    ...store,
    commit: (change, context) => store.commit(clean(change), context),
    commitMany: (changes, context) => store.commitMany(changes.map(clean), context),
    load: (key, { known, ...query }, context) =>
      store.load(key, { ...query, ...(known && { known: named(known, key) }) }, context),
    lease: (key, request, context) => store.lease(key, named(request, key), context),
  };
}

for (const name of Object.keys(libraries)) {
  test(`${name}: random changes and questions are answered as the reference answers them`, async () => {
    const refusals = {};
    for (const seed of [1, 2, 3, 4]) {
      const database = libraries[name](':memory:');
      const store = sqliteStore(database);
      await store.open({ migrate: 'create' }, { signal: new AbortController().signal });
      const compared = await compareStores(asReal(store), asReal(memoryStore()), seed, 1500);
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
