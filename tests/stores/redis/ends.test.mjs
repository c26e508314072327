// Random changes of sessions that end, with limits, and sweeps among them: redis answers as the reference answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { redisStore } from 'statepad/stores/redis';
import { startRedis, whyNoRedis } from '../../support/redis.mjs';
import { serverForTests } from './servers.mjs';
import { append, assertSame, context, create, keyOf, numbers, update } from './words.mjs';

const why = whyNoRedis();

if (why) {
  test('redis: random ends', { skip: why });
} else {
  const { admin, withPrefix } = await serverForTests(startRedis);
  const NAMES = ['a', 'é', '😀'];
  const VALUES = [1, 'ü', 'some text', [1, 2]];

  for (const seed of [1, 2, 3]) {
    test(`sessions that end, limits and sweeps are answered as the reference answers them, seed ${seed}`, () =>
      withPrefix(async (prefix) => {
        const [store, memory] = [redisStore(admin, { prefix }), memoryStore()];
        const random = numbers(seed);
        const pick = (list) => list[random(list.length)];
        const often = (part, make) => (random(100) < part ? make() : {});
        const delta = () => ({
          set: Object.fromEntries(Array.from({ length: random(3) }, () => [pick(NAMES), pick(VALUES)])),
          unset: random(10) < 3 ? [pick(NAMES)] : [],
        });
        const deltas = (...scopes) => Object.fromEntries(scopes.map((scope) => [scope, delta()]));
        const limits = () => ({
          limits: { state: 10 + random(40), keys: 1 + random(3), events: 1 + random(6), value: 8 },
        });
        const expires = () => ({ expires: pick([{ at: 1 + random(50) }, { at: 4e12 }]) });
        const operators = () => ({ operators: { [pick(['app', 'session'])]: { list: { append: [pick(VALUES)] } } } });
        const made = [];
        const actions = [
          (step) => {
            const change = {
              ...create(`c${step}`, key(), deltas('app', 'user', 'session'), random(20)),
              ...often(70, expires),
              ...often(30, limits),
            };
            made.push(change);
            return (each) => each.commit(change, context);
          },
          (step) => {
            const change = made.length > 0 ? pick(made) : create(`c${step}`, key());
            return (each) => each.commit(change, context);
          },
          (step) => {
            const change = {
              ...append(`e${step}`, key(), deltas('app', 'user', 'session'), { time: random(20) }),
              ...often(40, limits),
              ...often(30, operators),
            };
            return (each) => each.commit(change, context);
          },
          (step) => {
            const scope = { appName: 'app', userId: pick(['u', 'v']) };
            const change = { ...update(`u${step}`, scope, deltas('app', 'user')), ...often(30, limits) };
            return (each) => each.commit(change, context);
          },
          () => {
            const query = {
              app: 'app',
              descending: random(2) === 0,
              limit: random(5),
              ...often(40, () => ({ user: 'u' })),
            };
            const place = often(50, () => ({ offset: random(4) }));
            return (each) => each.list({ ...query, ...place }, context);
          },
          () => {
            const one = key();
            return (each) => each.load(one, {}, context);
          },
          () => {
            const one = key();
            return async (each) => {
              // The store may leave an expired session to a sweep, or not.
              if ((await each.load(one, {}, context)) !== null) await each.remove(one, context);
              return 'removed';
            };
          },
          () => {
            const id = pick(['s', 't', 'x']);
            return (each) => each.owners('app', id, context);
          },
          () => {
            // The order of users is up to the store.
            const query = pick([{ limit: 1 }, { limit: 2 }, { limit: 100 }, { limit: 100, userTtl: 0 }]);
            return async (each) => {
              const counted = each === store && (await each.sweep({ ...query, dry: true }, context));
              const { more, ...swept } = await each.sweep(query, context);
              if (counted) assert.deepEqual(counted, { ...swept, more });
              assert.equal(typeof more, 'boolean');
              return swept;
            };
          },
        ];
        const key = () => keyOf(pick(['s', 't', 'x']), pick(['u', 'v']));
        const seen = new Map();
        for (let step = 0; step < 1_000; step++) {
          const act = pick(actions)(step);
          const [actual, expected] = await Promise.all(
            [store, memory].map((each) =>
              act(each).catch(({ code, exceeded, size, limit, scope, key }) => ({
                code,
                exceeded,
                size,
                limit,
                scope,
                key,
              })),
            ),
          );
          assertSame(actual, expected, `step ${step}`);
          const word =
            expected?.code ?? (expected?.duplicate ? 'duplicate' : expected?.sessions > 0 ? 'swept' : 'other');
          seen.set(word, (seen.get(word) ?? 0) + 1);
        }
        for (const word of ['limit', 'exists', 'not-found', 'duplicate', 'swept']) assert.ok(seen.get(word) > 5, word);
      }));
  }
}
