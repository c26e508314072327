// Services that hand out tickets from one counter: no two are the same, and each call is told its own. Over every
// store, and in memory.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService, append, increment } from 'statepad';
import { planOf } from '../faults/faulty.mjs';
import { storages } from '../faults/storages.mjs';
import { plain } from '../contract/read.mjs';
import { COUNTERS } from '../support/fixtures.mjs';

const { stores, skipped } = await storages();
let apps = 0;

/**
 * So many services over new storage; one where nobody else can write, or where there is no store. Their commits go
 * according to the `plan`, if there is one.
 */
async function servicesOver(make, count, plan) {
  if (make === undefined) {
    return { services: [new SessionService()], end: async () => undefined };
  }
  const storage = make();
  const services = [];
  for (let number = 0; number < count; number++) {
    const store = storage.open(plan);
    services.push(new SessionService({ store, timeout: 60_000, retry: { attempts: 4, pause: 1 } }));
    if (store.exclusive) break;
  }
  const end = async () => {
    for (const service of services) await service.close();
    await storage.drop();
  };
  return { services, end };
}

const targetsOf = (key) => ({
  session: key,
  user: { appName: key.appName, userId: key.userId },
  app: { appName: key.appName },
});
const sorted = (numbers) => numbers.toSorted((a, b) => a - b);

for (const [name, make] of [['no store', undefined], ...Object.entries(stores)]) {
  test(`${name}: of all tickets that several services hand out no two are the same`, async () => {
    const { services, end } = await servicesOver(make, 4);
    try {
      for (const [by, counter] of COUNTERS) {
        const key = { appName: `tickets ${process.pid} ${apps++}`, userId: 'u', sessionId: 's' };
        await services[0].createSession({ ...key, state: { [counter]: 0 } });
        const target = targetsOf(key)[by];
        const take = async (service, index) => {
          const taken = await service.updateState(target, (state) => ({
            [counter]: state[counter] + 1,
            [`app:${index}`]: true,
          }));
          assert.equal(taken[`app:${index}`], true);
          return taken[counter];
        };
        const each = 32 / services.length;
        const tickets = await Promise.all(
          services.flatMap((service, index) => Array.from({ length: each }, () => take(service, index))),
        );
        assert.deepEqual(
          sorted(tickets),
          Array.from({ length: 32 }, (_, index) => index + 1),
          `${counter} through the ${by}`,
        );
        for (const service of services) assert.equal((await service.getSession(key)).state[counter], 32);
      }
    } finally {
      await end();
    }
  });

  test(`${name}: an update resolves to the values right after it, for all that it read or wrote`, async () => {
    const step = fc.record({
      by: fc.nat(2),
      target: fc.constantFrom('session', 'session', 'user', 'app'),
      reads: fc.array(fc.constantFrom('a', 'user:a', 'app:a', 'app:b'), { maxLength: 3 }),
      writes: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'user:a', 'app:a', 'app:b'), fc.boolean()), {
        minLength: 1,
        maxLength: 3,
      }),
    });
    const { services, end } = await servicesOver(make, 3);
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
          const key = { appName: `answers ${process.pid} ${apps++}`, userId: 'u', sessionId: 's' };
          await services[0].createSession({ ...key, state: { a: 0, 'user:a': 0, 'app:a': 0 } });
          let count = 0;
          await Promise.all(
            steps.map(async ({ by, target: through, reads, writes }) => {
              const belongs = (name) =>
                through === 'session' || name.startsWith('app:') || (through === 'user' && name.startsWith('user:'));
              let seen;
              const delta = Object.fromEntries(
                writes
                  .filter(([name]) => belongs(name))
                  .map(([name, isDeletion]) => [name, isDeletion ? DELETED : `${(count += 1)}`]),
              );
              const result = await services[by % services.length].updateState(targetsOf(key)[through], (state) => {
                seen = Object.fromEntries(reads.filter(belongs).map((name) => [name, state[name]]));
                return delta;
              });
              if (Object.keys(delta).length === 0) return;
              for (const [name, value] of Object.entries({ ...seen, ...delta })) {
                assert.deepEqual(
                  plain(result[name]),
                  value === DELETED ? undefined : value,
                  `${name} through the ${through}`,
                );
              }
              assert.ok(Object.isFrozen(result));
            }),
          );
        }),
        { numRuns: 5, endOnFailure: true },
      );
    } finally {
      await end();
    }
  });

  test(`${name}: whatever answers are lost, an operator's result is that of its own call`, async () => {
    const fault = fc.constantFrom(undefined, 'refused', 'before', 'after', 'after', 'cut');
    const plan = planOf();
    const { services, end } = await servicesOver(make, 2, plan);
    try {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fault, { minLength: 10, maxLength: 60 }),
          fc.constantFrom(...COUNTERS),
          async (faults, [by, counter]) => {
            const key = { appName: `cut ${process.pid} ${apps++}`, userId: 'u', sessionId: 's' };
            await services[0].createSession(key);
            const target = targetsOf(key)[by];
            const list = `${counter}s`;
            const taken = [];
            const unknown = [];
            const take = async (service, id) => {
              try {
                const after = await service.updateState(target, () => ({
                  [counter]: increment(),
                  [list]: append(id),
                }));
                assert.deepEqual([after[counter], after[list].at(-1)], [after[list].length, id]);
                taken.push(after[counter]);
              } catch (error) {
                if (error.code !== 'COMMIT_UNKNOWN' && error.code !== 'STORE_UNAVAILABLE') throw error;
                if (error.code === 'COMMIT_UNKNOWN') unknown.push(id);
              }
            };
            plan.next.push(...faults);
            await Promise.all(
              services.map(async (service, place) => {
                for (let round = 0; round < 3; round++) {
                  await Promise.all([0, 1].map((index) => take(service, `${place} ${round} ${index}`)));
                }
              }),
            );
            plan.next.length = 0;
            assert.deepEqual(sorted(taken), [...new Set(sorted(taken))], 'a number was handed out twice');
            const { [counter]: total, [list]: ids = [] } = (await services[0].getSession(key)).state;
            const written = unknown.filter((id) => ids.includes(id));
            assert.deepEqual([total ?? 0, new Set(ids).size], [taken.length + written.length, ids.length]);
          },
        ),
        { numRuns: 10, endOnFailure: true },
      );
    } finally {
      await end();
    }
  });
}

for (const [name, skip] of Object.entries(skipped)) {
  test(name, { skip }, () => {});
}
