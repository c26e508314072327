// Random changes and questions: the store in Postgres answers as the reference does.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { postgresStore } from 'statepad/stores/postgres';
import { compareStores } from '../support/random.js';
import { context, withDatabase, withLite } from './database.mjs';

/**
 * The store, with events as they really are (JSON text has no lone surrogates, which UTF-8 cannot say) and creations
 * whose ids are unique everywhere, as the contract asks.
 */
function asService(store) {
  const of = ({ appName, userId, sessionId }, created) => JSON.stringify([created, appName, userId, sessionId]);
  const named = (key, guard) => (guard?.created ? { ...guard, created: of(key, guard.created) } : guard);
  const clean = ({ event, guard, ...change }) => ({
    ...change,
    ...(change.kind === 'create' && { id: of(change.key, change.id) }),
    ...(event && { event: { ...event, data: event.data.toWellFormed() } }),
    ...(guard && { guard: named(change.key, guard) }),
  });
  return {
    ...store,
    commit: (change, context) => store.commit(clean(change), context),
    commitMany: (changes, context) => store.commitMany(changes.map(clean), context),
    load: (key, { known, ...query }, context) =>
      store.load(key, { ...query, ...(known && { known: named(key, known) }) }, context),
    lease: (key, request, context) => store.lease(key, named(key, request), context),
  };
}

function randomTest(name, client, seed, schema) {
  test(`${name}: random changes and questions are answered as the reference answers them`, async () => {
    const store = postgresStore(client, { schema });
    await store.open({ migrate: 'create' }, context);
    const { difference, refusals } = await compareStores(asService(store), asService(memoryStore()), seed, 1_500);
    assert.equal(difference, undefined);
    // Otherwise they would say little.
    for (const refusal of ['conflict', 'exists', 'not-found', 'duplicate', 'fenced']) {
      assert.ok(refusals[refusal] > 25, `${refusal}: ${refusals[refusal]}`);
    }
    for (const refusal of ['held', 'rejected']) {
      assert.ok(refusals[refusal] > 3, `${refusal}: ${refusals[refusal]}`);
    }
  });
}

await withDatabase((database) => {
  // Nothing here depends on what is on disk.
  const pool = database.pool({ options: '-c synchronous_commit=off' });
  randomTest('postgres', pool, 11, database.schema());
});

await withLite((lite) => randomTest('postgres, PGlite', lite, 14, 'statepad'));
