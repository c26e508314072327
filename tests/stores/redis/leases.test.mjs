// Leases of the store in Redis: what is kept of them, and what takes them away.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedis, whyNoRedis } from '../../support/redis.mjs';
import { clients } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { append, context, create, keyOf } from './words.mjs';

const why = whyNoRedis();

if (why) {
  test('redis: leases', { skip: why });
} else {
  const { admin, clientOf, withPrefix } = await serverForTests(startRedis);
  const key = keyOf('s');
  const withSession = (action, make) =>
    withPrefix(async (prefix) => {
      const store = redisStore(make ? await clientOf(make) : admin, { prefix });
      await store.commit(create('c', key), context);
      await action(store, `${prefix}:{app}:s:=s\0user`, prefix);
    });
  const ask = (store, request) => store.lease(key, { holder: 'one', ttl: 60_000, ...request }, context);
  const serverTime = async () => {
    const [seconds, micros] = await admin.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };

  for (const [name, make] of Object.entries(clients)) {
    test(`${name}: a lease lasts by the clock of the server, and its end is told`, () =>
      withSession(async (store) => {
        const before = await serverTime();
        const { fence, until } = await ask(store, {});
        const after = await serverTime();
        assert.equal(fence, 1);
        assert.ok(until >= before + 60_000 && until <= after + 60_000, `${until}`);
        await assert.rejects(ask(store, { holder: 'two' }), { name: 'StoreError', code: 'held', until });
        const longer = await ask(store, { fence, ttl: 90_000 });
        assert.ok(longer.fence === 1 && longer.until >= until + 30_000);
      }, make));
  }

  test('what is kept of a lease goes with its session', () =>
    withSession(async (store, hash, prefix) => {
      await ask(store, {});
      assert.deepEqual(await admin.hmget(hash, 'k', 'o'), ['1', '=one']);
      await ask(store, { fence: 1, ttl: 0 });
      assert.deepEqual(await admin.hmget(hash, 'k', 'o', 'x'), ['2', null, null]);
      await ask(store, { holder: 'two' });
      await store.remove(key, context);
      assert.deepEqual((await admin.keys(`${prefix}:*`)).map((each) => each.slice(prefix.length)).sort(), [
        ':apps',
        ':{app}:a',
        ':{app}:removed',
      ]);
      await assert.rejects(ask(store, { holder: 'two' }), { code: 'not-found' });
      await store.commit(create('again', key), context);
      const late = append('late', key, {}, { guard: { fence: 3, created: 'c' } });
      await assert.rejects(store.commit(late, context), { code: 'not-found' });
      assert.equal((await ask(store, {})).fence, 1);
    }));

  test('a lease that ended by time is taken by another one, and what is written with its token is refused then', () =>
    withSession(async (store) => {
      const { fence, until } = await ask(store, { ttl: 1 });
      while ((await serverTime()) < until);
      // Nobody has taken it yet.
      assert.equal((await store.commit(append('e1', key, {}, { guard: { fence } }), context)).rev, 1);
      assert.equal((await ask(store, { holder: 'two' })).fence, 2);
      await assert.rejects(store.commit(append('e2', key, {}, { guard: { fence } }), context), {
        code: 'fenced',
        actual: 2,
      });
      assert.equal((await store.commit(append('e1', key, {}, { guard: { fence } }), context)).duplicate, true);
    }));

  const { cases } = JSON.parse(readFileSync(new URL('../../cases/lease.json', import.meta.url), 'utf8'));
  for (const { name, row, ask: request, now, then, error } of cases) {
    test(`the script has the same rule: ${name}`, () =>
      withSession(async (store, hash) => {
        const { fence = 0, holder, until } = row;
        await admin.hset(hash, 'k', fence);
        if (holder !== undefined) await admin.hset(hash, 'o', `=${holder}`);
        // The clock of the cases stands still, that of the server does not: what is over is long over.
        if (until !== undefined) await admin.hset(hash, 'x', until > now ? (await serverTime()) + 600_000 : 1);
        const before = await admin.hgetall(hash);
        const answer = await store.lease(key, request, context).catch(({ code }) => code);
        const stored = await admin.hgetall(hash);
        if (error !== undefined) return assert.deepEqual([answer, stored], [error, before]);
        assert.equal(answer.fence, then.fence);
        const held = then.holder === undefined ? undefined : `=${then.holder}`;
        assert.deepEqual([stored.k, stored.o, 'x' in stored], [String(then.fence), held, then.until !== undefined]);
      }));
  }

  for (const { name, row, ask: request, now, then, error } of cases.filter(({ ask }) => ask.created === undefined)) {
    test(`the script for claims has the same rule: ${name}`, () =>
      withPrefix(async (prefix) => {
        const [store, hash] = [redisStore(admin, { prefix }), `${prefix}:claim:sweep`];
        const { fence = 0, holder, until } = row;
        const end = until === undefined ? 0 : until > now ? (await serverTime()) + 600_000 : 1;
        await admin.hset(hash, 'k', fence, 'o', holder === undefined ? '' : `=${holder}`, 'x', end);
        const before = await admin.hgetall(hash);
        const answer = await store.claim('sweep', request, context).catch(({ code }) => code);
        const stored = await admin.hgetall(hash);
        if (error !== undefined) return assert.deepEqual([answer, stored], [error, before]);
        assert.equal(answer.fence, then.fence);
        const held = then.holder === undefined ? '' : `=${then.holder}`;
        assert.deepEqual([stored.k, stored.o, stored.x !== '0'], [String(then.fence), held, then.until !== undefined]);
      }));
  }

  test('claims of different names, and of different prefixes, do not meet', () =>
    withPrefix(async (prefix) => {
      const stores = [prefix, `${prefix}:other`].map((each) => redisStore(admin, { prefix: each }));
      const names = ['sweep', '', '{a}', 'a:b', '\0', 'é'];
      for (const store of stores) {
        for (const name of names) {
          const claimed = await store.claim(name, { holder: name, ttl: 60_000 }, context);
          assert.equal(claimed.fence, 1, name);
          await assert.rejects(store.claim(name, { holder: 'another', ttl: 1 }, context), {
            code: 'held',
            until: claimed.until,
          });
        }
      }
    }));

  test('a claim whose token is no number is corrupt', () =>
    withPrefix(async (prefix) => {
      await admin.hset(`${prefix}:claim:sweep`, 'k', 'x');
      const store = redisStore(admin, { prefix });
      await assert.rejects(store.claim('sweep', { holder: 'one', ttl: 1 }, context), { code: 'corrupt' });
    }));

  for (const [what, damage] of Object.entries({
    'a token that is no number': (hash) => admin.hset(hash, 'k', 'x'),
    'no creation': (hash) => admin.hdel(hash, 'c'),
    'nothing but its place in the list': (hash) => admin.del(hash),
  })) {
    test(`a session with ${what} is corrupt, and is not leased`, () =>
      withSession(async (store, hash) => {
        await damage(hash);
        await assert.rejects(ask(store, {}), { name: 'StoreError', code: 'corrupt' });
        await assert.rejects(store.commit(append('e', key, {}, { guard: { fence: 1 } }), context), {
          code: 'corrupt',
        });
        assert.equal(await admin.hget(hash, 'o'), null);
      }));
  }

  test('something else in the place of a session is no session to lease', () =>
    withSession(async (store, hash) => {
      await admin.del(hash);
      await admin.set(hash, 'something');
      await assert.rejects(ask(store, {}), { name: 'StoreError', code: 'rejected' });
    }));
}
