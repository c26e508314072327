// Sweeps that only count, in the store in Redis: they write nothing, and come to what a sweep removes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { openIoredis } from './clients.mjs';
import { clusterForTests, serverForTests } from './servers.mjs';
import { context, create, keyOf, update, values } from './words.mjs';

const OVER = { at: 1 };
const LATER = { at: 4e12 };
const ending = (id, key, expires, delta) => ({ ...create(id, key, delta), expires });

const why = whyNoRedisServer();

if (why) {
  test('redis: sweeps that only count', { skip: why });
} else {
  const { admin, clientOf, newPrefix, contentsOf } = await serverForTests(startRedisServer);
  const setUser = (appName, userId) => update(`of ${userId}`, { appName, userId }, { user: values({ a: 1 }) });

  /**
   * Fills two apps: 1,300 expired sessions of ten users, and one of each of 700 more, half of whom have no values;
   * users without a session, one of them without values; and two sessions that have not expired.
   */
  const fill = async (store) => {
    const changes = [];
    const add = (app, index, userId, delta) =>
      changes.push(ending(`c${index}`, keyOf(`s${index}`, userId, app), OVER, delta));
    for (let index = 0; index < 1_300; index++) add('app', index, `u${index % 10}`, { user: values({ a: 1 }) });
    for (let index = 0; index < 700; index++) {
      add('app', index, `one${index}`, index % 2 === 0 ? { user: values({ a: 1 }) } : {});
    }
    for (let index = 0; index < 5; index++) add('other', index, 'user', {});
    changes.push(setUser('app', 'idle'), setUser('other', 'idle'), setUser('other', 'empty'));
    changes.push(update('unset', { appName: 'other', userId: 'empty' }, { user: { unset: ['a'] } }));
    changes.push(ending('d', keyOf('living', 'u3'), LATER), create('e', keyOf('living', 'one2')));
    for (let first = 0; first < changes.length; first += 250) {
      await store.commitMany(changes.slice(first, first + 250), context);
    }
  };

  test('what is counted is what a sweep removes, in one app or all, whatever the limit, and nothing is written', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    await fill(store);
    const before = await contentsOf(prefix);
    const count = (query) => store.sweep({ limit: Number.MAX_SAFE_INTEGER, ...query, dry: true }, context);
    // All but one of the ten users, and of the 350 with values, have no other session; two never had any.
    const all = { sessions: 2_005, users: 9 + 349 + 2, more: false };
    assert.deepEqual(await count({}), { ...all, users: 0 });
    assert.deepEqual(await count({ userTtl: 0 }), all);
    assert.deepEqual(await count({ userTtl: 1e9 }), { ...all, users: 0 });
    assert.deepEqual(await count({ app: 'other', userTtl: 0 }), { sessions: 5, users: 1, more: false });
    assert.deepEqual(await count({ app: 'none', userTtl: 0 }), { sessions: 0, users: 0, more: false });
    assert.deepEqual(await count({ limit: 7, userTtl: 0 }), { sessions: 7, users: 0, more: true });
    assert.deepEqual(await count({ limit: 2_015, userTtl: 0 }), { sessions: 2_005, users: 10, more: true });
    assert.deepEqual(await contentsOf(prefix), before);
    assert.deepEqual(await store.sweep({ limit: 10_000, userTtl: 0 }, context), all);
    assert.deepEqual(await count({ userTtl: 0 }), { sessions: 0, users: 0, more: false });
  });

  test('a count over the users stops between two parts when nobody waits for it any longer', async () => {
    const store = redisStore(admin, { prefix: newPrefix() });
    await fill(store);
    const controller = new AbortController();
    let answers = 0;
    const answered = () => {
      answers += 1;
      if (answers === 2) controller.abort();
    };
    const query = { app: 'app', limit: 10_000, userTtl: 0, dry: true };
    const { sessions, users, more } = await store.sweep(query, { signal: controller.signal, answered });
    assert.deepEqual([sessions, more, answers], [2_000, true, 2]);
    assert.ok(users < 358);
  });

  test('a user of the server who may not write anything is told what a sweep would remove', async () => {
    const prefix = newPrefix();
    await fill(redisStore(admin, { prefix }));
    await admin.acl('SETUSER', 'reader', 'on', '>secret', '~*', '+@all', '-@write', '+@scripting');
    const store = redisStore(await clientOf(openIoredis, { username: 'reader', password: 'secret' }), { prefix });
    const swept = await store.sweep({ limit: 10_000, userTtl: 0, dry: true }, context);
    assert.deepEqual(swept, { sessions: 2_005, users: 360, more: false });
    await assert.rejects(store.sweep({ limit: 10 }, context), { code: 'unavailable' });
  });

  const { clients: clusterClients } = await clusterForTests();

  for (const [name, client] of Object.entries(clusterClients)) {
    test(`${name}: the apps of a cluster are counted on all its servers`, async () => {
      const store = redisStore(client, { prefix: `count-${name}` });
      for (const app of ['a', 'b', 'c', 'd', 'e', 'f']) {
        await store.commit(ending('x', keyOf('x', 'user', app), OVER, { user: values({ a: 1 }) }), context);
      }
      const query = { limit: 1_000, userTtl: 0 };
      const counted = await store.sweep({ ...query, dry: true }, context);
      assert.deepEqual(counted, { sessions: 6, users: 6, more: false });
      assert.deepEqual(await store.sweep(query, context), counted);
    });
  }
}
