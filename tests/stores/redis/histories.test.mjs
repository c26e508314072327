// Random changes and questions, operators, leases and logs among them: the store in Redis answers as the reference.

import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { redisStore } from 'statepad/stores/redis';
import { startRedis, whyNoRedis } from '../../support/redis.mjs';
import { assertVaried, compareStores } from '../support/random.js';
import { clients } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { context } from './words.mjs';

/** A store of which no scope is removed that was never written to: the reference makes a move of it all the same. */
const written = (store) => ({
  ...store,
  removeScope: async (scope, context) => {
    const { pos } = await store.loadScope(scope, context);
    return pos === 0 ? undefined : store.removeScope(scope, context);
  },
});

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
          const reference = written(memoryStore());
          const outcomes = await compareStores(written(store), { seed, length: 1_500, reference });
          const often = { conflict: 25, exists: 25, 'not-found': 25, duplicate: 25, fenced: 25, changed: 50 };
          assertVaried(outcomes, { ...often, held: 3, rejected: 3 });
        }));
    }
  }
}
