// Random changes and questions, operators, leases and logs among them: the store in Redis answers as the reference.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { redisStore } from 'statepad/stores/redis';
import { startRedis, whyNoRedis } from '../../support/redis.mjs';
import { compareStores } from '../support/random.js';
import { clients } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { context } from './words.mjs';

/**
 * The store, with events as they really are (JSON text has no lone surrogates, which UTF-8 cannot say), and creations
 * and updates whose ids are unique everywhere, as the contract asks.
 */
function asService(store) {
  const of = ({ appName, userId, sessionId }, created) => JSON.stringify([created, appName, userId, sessionId]);
  const named = (key, guard) => (guard?.created ? { ...guard, created: of(key, guard.created) } : guard);
  const clean = ({ event, guard, ...change }) => ({
    ...change,
    ...(change.kind !== 'append' && { id: of(change.key, change.id) }),
    ...(event && { event: { ...event, data: event.data.toWellFormed() } }),
    ...(guard && { guard: named(change.key, guard) }),
  });
  return {
    ...store,
    commit: (change, context) => store.commit(clean(change), context),
    commitMany: (changes, context) => store.commitMany(changes.map(clean), context),
    load: (key, { known, ...query }, context) =>
      store.load(key, { ...query, ...(known && { known: named(key, known) }) }, context),
    // Of a scope that was never written to there is nothing to delete: the reference makes a move of it all the same.
    removeScope: async (scope, context) => {
      const { pos } = await store.loadScope(scope, context);
      return pos === 0 ? undefined : store.removeScope(scope, context);
    },
    lease: (key, request, context) => store.lease(key, named(key, request), context),
  };
}

const why = whyNoRedis();

if (why) {
  test('redis: random histories', { skip: why });
} else {
  const { clientOf, withPrefix } = await serverForTests(startRedis);

  for (const [name, make] of Object.entries(clients)) {
    for (const seed of [1, 2]) {
      test(`${name}: random changes and questions are answered as the reference answers them, seed ${seed}`, () =>
        withPrefix(async (prefix) => {
          const store = redisStore(await clientOf(make), { prefix });
          await store.open({ migrate: 'create' }, context);
          const { difference, refusals } = await compareStores(
            asService(store),
            asService(memoryStore()),
            seed,
            1_500,
          );
          assert.equal(difference, undefined);
          // Otherwise they would say little.
          for (const refusal of ['conflict', 'exists', 'not-found', 'duplicate', 'fenced']) {
            assert.ok(refusals[refusal] > 25, `${refusal}: ${refusals[refusal]}`);
          }
          for (const refusal of ['held', 'rejected']) {
            assert.ok(refusals[refusal] > 3, `${refusal}: ${refusals[refusal]}`);
          }
        }));
    }
  }
}
