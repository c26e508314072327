// The log of the store in Redis: when it is switched off and on, when it is long, and when something else is there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { redisStore } from 'statepad/stores/redis';
import { deleteKeys, startRedis, whyNoRedis } from '../../support/redis.mjs';
import { logTests } from '../support/run.mjs';
import { serverForTests } from './servers.mjs';
import { append, assertSame, context, create, keyOf, update, values } from './words.mjs';

const why = whyNoRedis();

test('whether a log is kept is true or false', () => {
  const client = { defineCommand() {}, eval: async () => null, evalsha: async () => null };
  for (const log of ['yes', 0, null]) {
    assert.throws(() => redisStore(client, { log }), {
      code: 'INVALID_ARGUMENT',
      message: /log must be true or false/,
    });
  }
  const { keeps, readLog, trimLog } = redisStore(client, { log: false });
  assert.deepEqual([keeps.includes('log'), readLog, trimLog], [false, undefined, undefined]);
});

if (why) {
  test('redis: the log', { skip: why });
} else {
  const { admin, newPrefix, withPrefix } = await serverForTests(startRedis);
  const scope = { app: 'app' };
  let count = 0;
  const set = (store, delta, key = { appName: 'app' }) =>
    store.commit(update(`u${(count += 1)}`, key, delta), context);
  const sets = (n) => ({ app: values({ n }) });
  const read = (store, query = {}, of = scope) => store.readLog(of, query, context);
  const places = ({ pos, base, entries }) => [pos, base, entries.map((entry) => entry.pos)];

  logTests('redis', async () => {
    const prefix = newPrefix();
    const log = `${prefix}:{app}:changes`;
    return {
      logged: redisStore(admin, { prefix }),
      unlogged: redisStore(admin, { prefix, log: false }),
      stored: () => admin.llen(log),
      // An entry ends with the JSON of its last value, here one digit.
      spoil: async (position) => {
        const entry = await admin.lindexBuffer(log, position - 1);
        await admin.lset(log, position - 1, Buffer.concat([entry.subarray(0, -1), Buffer.from('{')]));
      },
      dispose: () => deleteKeys(admin, `${prefix}:`),
    };
  });

  test('events tell where the scopes were if they were written while a log was kept', () =>
    withPrefix(async (prefix) => {
      const [on, off] = [redisStore(admin, { prefix }), redisStore(admin, { prefix, log: false })];
      const key = keyOf('s');
      const operators = { session: { n: { increment: 1 } } };
      await on.commit(create('c', key, { app: values({ a: 1 }) }), context);
      await on.commit(append('e1', key, { user: values({ b: 1 }) }, { operators }), context);
      await off.commit(append('e2', key, {}, { operators, data: '\n{"no":"header"}\n=' }), context);
      await off.commit(append('e3', key), context);
      const { events } = await on.load(key, {}, context);
      assertSame(events, [
        {
          rev: 1,
          data: '{"id":"e1"}',
          id: 'e1',
          results: { session: { n: 1 } },
          pos: { app: 1, user: 1 },
        },
        { rev: 2, data: '\n{"no":"header"}\n=', id: 'e2', results: { session: { n: 2 } } },
        { rev: 3, data: '{"id":"e3"}', id: 'e3' },
      ]);
      const again = await off.commit(append('e2', key), context);
      assertSame([again.data, again.results], ['\n{"no":"header"}\n=', { session: { n: 2 } }]);
    }));

  test('a log that was dropped, or has lost a part, is as if it had been trimmed', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(admin, { prefix });
      const log = `${prefix}:{app}:changes`;
      for (let n = 1; n <= 3; n++) await set(store, sets(n));
      await admin.lpop(log);
      assert.deepEqual(places(await read(store)), [3, 3, []]);
      await set(store, sets(4));
      assert.deepEqual(places(await read(store)), [4, 3, [4]]);
      await admin.del(log);
      assert.deepEqual(places(await read(store)), [4, 4, []]);
      await set(store, sets(5));
      assert.deepEqual(places(await read(store)), [5, 4, [5]]);
    }));

  test('where something else sits in the place of the log, changes are written, and reading the log is corrupt', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(admin, { prefix });
      await set(store, sets(1));
      const log = `${prefix}:{app}:changes`;
      await admin.del(log);
      await admin.set(log, 'something');
      await set(store, sets(2));
      assert.deepEqual((await store.loadScope(scope, context)).pos, 2);
      await assert.rejects(read(store), { name: 'StoreError', code: 'corrupt' });
      await assert.rejects(store.trimLog(scope, 1, context), { name: 'StoreError', code: 'rejected' });
      await store.removeScope(scope, context);
      assert.equal(await admin.get(log), 'something');
      await admin.del(log);
      await set(store, sets(4));
      assert.deepEqual(places(await read(store)), [4, 3, [4]]);
    }));

  test('a log of thousands of entries is read some at a time, as it was at one moment', () =>
    withPrefix(async (prefix) => {
      const [store, memory] = [redisStore(admin, { prefix }), memoryStore()];
      const total = 12_000;
      for (let first = 0; first < total; first += 1_000) {
        const changes = Array.from({ length: 1_000 }, (_, index) => {
          const n = first + index;
          return update(`n${n}`, { appName: 'app' }, { app: values({ [n % 1_000 === 7 ? 'rare' : 'often']: n }) });
        });
        await Promise.all([store, memory].map((each) => each.commitMany(changes, context)));
      }
      const both = async (query) => assertSame(await read(store, query), await read(memory, query));
      await both({});
      for (const after of [0, 1, 4_999, 5_000, 11_999, 12_000, 12_001]) {
        for (const limit of [undefined, 0, 1, 6_000]) await both({ after, ...(limit !== undefined && { limit }) });
        await both({ after, to: 10_007, name: 'rare' });
        await both({ after, name: 'rare', limit: 9 });
        await both({ after, name: 'no such name' });
      }
      // It is written to, and then trimmed, between two scripts.
      let step = 0;
      const between = {
        defineCommand() {},
        eval: (...args) => admin.eval(...args),
        evalsha: async (...args) => {
          const answer = await admin.evalsha(...args);
          step += 1;
          if (step === 1) await set(store, sets(1));
          if (step === 2) await store.trimLog(scope, 11_990, context);
          return answer;
        },
      };
      const { pos, base, entries } = await read(redisStore(between, { prefix }));
      assert.deepEqual(
        [pos, base, entries.length, entries[0].pos, entries.at(-1).pos],
        [12_000, 11_990, 10, 11_991, 12_000],
      );
    }));

  test('a scope that is removed says in its log what was there, in its order', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(admin, { prefix });
      const user = { app: 'app', user: 'user' };
      const key = { appName: 'app', userId: 'user' };
      await set(store, { user: values({ b: 1, a: [2], '': null }) }, key);
      await set(store, { user: { set: { b: 3 }, unset: ['b', 'b', 'a'] } }, key);
      const [seconds] = (await admin.time()).map(Number);
      await store.removeScope(user, context);
      const { entries } = await read(store, { after: 1 }, user);
      assert.deepEqual(entries[0].writes, [
        { name: 'a', from: [2] },
        { name: 'b', from: 1, to: 3 },
      ]);
      assert.deepEqual(entries[1].writes, [
        { name: '', from: null },
        { name: 'b', from: 3 },
      ]);
      assert.ok(Math.abs(entries[1].time - seconds * 1_000) < 60_000);
    }));
}
