// The store in a cluster of Redis: two servers that share the slots.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { whyNoRedisServer } from '../../support/redis.mjs';
import { clusterForTests } from './servers.mjs';
import { append, context, create, keyOf, update } from './words.mjs';
import { storeTests } from '../support/run.mjs';

const why = whyNoRedisServer();

if (why) {
  test('redis in a cluster', { skip: why });
} else {
  const {
    cluster: { servers, admins },
    clients,
  } = await clusterForTests();

  let count = 0;
  storeTests(
    'redis in a cluster',
    () => {
      const prefix = `case${(count += 1)}`;
      const make = () => redisStore(clients.ioredis, { prefix });
      return { store: make(), reopen: make, another: () => redisStore(clients['node-redis'], { prefix }) };
    },
    { without: ['watch'] },
  );

  for (const [name, client] of Object.entries(clients)) {
    test(`${name}: all keys of an app lie in one slot, those of other apps elsewhere`, async () => {
      const prefix = `slots-${name}`;
      const store = redisStore(client, { prefix });
      await store.open({ migrate: 'create' }, context);
      const apps = ['', 'a', 'b', 'c', '{', '}', '{}', 'a}b'];
      for (const app of apps) {
        const key = keyOf('{s}', '}u{', app);
        await store.commit(create(`c${app}`, key, { app: { set: { a: 1 } }, user: { set: { a: 1 } } }), context);
        await store.commit(append('e', key), context);
        await store.commit(update(`u${app}`, { appName: app }, { app: { set: { a: 2 } } }), context);
        assert.equal((await store.load(key, {}, context)).rev, 1);
        assert.equal((await store.list({ app, descending: true }, context)).rows.length, 1);
      }
      const slots = new Map();
      for (const admin of admins) {
        for (const key of await admin.keys(`${prefix}:{*`)) {
          const base = key.slice(0, key.indexOf('}:'));
          slots.set(base, (slots.get(base) ?? new Set()).add(await admin.cluster('KEYSLOT', key)));
        }
      }
      assert.deepEqual(
        [...slots.values()].map(({ size }) => size),
        apps.map(() => 1),
      );
      assert.ok(new Set([...slots.values()].flatMap((set) => [...set])).size > 1);
    });

    test(`${name}: a batch over apps on both servers is answered in its order`, async () => {
      const store = redisStore(client, { prefix: `batch-${name}` });
      const apps = Array.from({ length: 24 }, (_, index) => `app${index % 8}`);
      const changes = apps.map((appName, index) => update(`u${index}`, { appName }, { app: { set: { index } } }));
      const answers = await store.commitMany(changes, context);
      assert.deepEqual(
        answers.map(({ pos }) => pos.app),
        apps.map((_, index) => Math.floor(index / 8) + 1),
      );
    });

    test(`${name}: while a slot moves to another server, nothing is written by halves`, async () => {
      const prefix = 'move';
      const app = name;
      const store = redisStore(client, { prefix });
      const keys = ['s', 't'].map((id) => keyOf(id, 'user', app));
      await store.commitMany(
        keys.map((key) => create(key.sessionId, key, { app: { set: { [key.sessionId]: 1 } } })),
        context,
      );
      await store.commit(append('e1', keys[0]), context);
      const slot = await admins[0].cluster('KEYSLOT', `${prefix}:{${app}}:a`);
      const [from, to] = slot < 8_192 ? [0, 1] : [1, 0];
      const ids = await Promise.all(admins.map((admin) => admin.cluster('MYID')));
      await admins[to].cluster('SETSLOT', slot, 'IMPORTING', ids[from]);
      await admins[from].cluster('SETSLOT', slot, 'MIGRATING', ids[to]);
      const names = await admins[from].cluster('GETKEYSINSLOT', slot, 1_000);
      assert.ok(names.length >= 8);
      // One key after the other; between any two of them somebody writes.
      let written = 1;
      for (const [index, name] of names.entries()) {
        await admins[from].migrate('127.0.0.1', servers[to].port, name, 0, 5_000);
        const outcome = await store.commit(append(`e${index + 2}`, keys[0]), context).catch(({ code }) => code);
        if (outcome === 'unavailable') continue;
        assert.equal(outcome.rev, (written += 1));
      }
      for (const admin of [admins[to], admins[from]]) await admin.cluster('SETSLOT', slot, 'NODE', ids[to]);
      const loaded = await store.load(keys[0], {}, context);
      assert.equal(loaded.rev, written);
      assert.deepEqual({ ...loaded.state.app }, { s: 1, t: 1 });
      assert.equal((await store.commit(append('last', keys[0], { app: { set: { z: 1 } } }), context)).pos.app, 3);
      assert.equal((await store.list({ app, descending: false }, context)).rows.length, 2);
    });
  }
}
