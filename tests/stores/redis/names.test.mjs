// The indexes of the store in Redis: users by the ids of sessions, the users of an app, the apps.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { openIoredis } from './clients.mjs';
import { clusterForTests, serverForTests } from './servers.mjs';
import { context, create, keyOf, update, values } from './words.mjs';

const why = whyNoRedisServer();
const all = (names) => ({ names, more: false });

if (why) {
  test('redis: owners, users and apps', { skip: why });
} else {
  const { admin, clientOf, newPrefix, fresh } = await serverForTests(startRedisServer);

  test('a user leaves the list with the last session, unless there ever were values', async () => {
    const { store, prefix } = await fresh();
    const users = () => admin.zrange(`${prefix}:{app}:users`, 0, -1);
    await store.commit(create('c1', keyOf('s1', 'none')), context);
    await store.commit(create('c2', keyOf('s2', 'none')), context);
    await store.commit(create('c3', keyOf('s3', 'some'), { user: values({ a: 1 }) }), context);
    await store.commit(update('u', { appName: 'app', userId: 'updated' }, { user: values({ a: 1 }) }), context);
    for (const [session, user] of [
      ['s1', 'none'],
      ['s3', 'some'],
    ]) {
      await store.remove(keyOf(session, user), context);
    }
    assert.deepEqual(await users(), ['=none', '=some', '=updated', '=user']);
    await store.remove(keyOf('s2', 'none'), context);
    await store.remove(keyOf('s2', 'nobody'), context);
    assert.deepEqual(await users(), ['=some', '=updated', '=user']);
    // Their values are deleted; the position stays, and with it the name.
    await store.removeScope({ app: 'app', user: 'some' }, context);
    assert.deepEqual(await store.listUsers('app', {}, context), all(['some', 'updated', 'user']));
  });

  for (const [name, key, read] of [
    ['the ids', 'ids', (store) => store.owners('app', 's', context)],
    ['the users', 'users', (store) => store.listUsers('app', {}, context)],
  ]) {
    test(`where ${name} were dropped, or something else sits in their place, none is said to be there`, async () => {
      const { store, prefix } = await fresh();
      await admin.del(`${prefix}:{app}:${key}`);
      await assert.rejects(read(store), { name: 'StoreError', code: 'corrupt' });
      await admin.set(`${prefix}:{app}:${key}`, 'something');
      await assert.rejects(read(store), { name: 'StoreError', code: 'corrupt' });
      await assert.rejects(store.commit(create('n', keyOf('n')), context), { code: 'rejected' });
      await assert.rejects(store.remove(keyOf('s'), context), { code: 'rejected' });
      assert.equal((await store.load(keyOf('s'), {}, context)).created, 'c');
    });
  }

  test('an owner of whom nothing else is left goes with a removal', async () => {
    const { store, prefix } = await fresh();
    await admin.zadd(`${prefix}:{app}:ids`, 0, '=s\0stale');
    assert.deepEqual(await store.owners('app', 's', context), ['stale', 'user']);
    await store.remove(keyOf('s', 'stale'), context);
    assert.deepEqual(await store.owners('app', 's', context), ['user']);
  });

  test('an app is registered before there is any key of it: where it cannot be, nothing is written', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    await admin.set(`${prefix}:apps`, 'something else');
    const keys = () => admin.keys(`${prefix}:{*`);
    await assert.rejects(store.commit(create('c', keyOf('s')), context), { name: 'StoreError', code: 'rejected' });
    assert.deepEqual(await keys(), []);
    await assert.rejects(store.listApps({}, context), { name: 'StoreError', code: 'corrupt' });
    await admin.del(`${prefix}:apps`);
    await store.commit(create('c', keyOf('s')), context);
    assert.deepEqual(await store.listApps({}, context), all(['app']));
  });

  test('names that a client puts a prefix before are listed without it', async () => {
    const client = await clientOf(openIoredis, { keyPrefix: 'before:' });
    const store = redisStore(client, { prefix: newPrefix() });
    await store.commit(create('c', keyOf('s', 'ana'), { user: values({ a: 1 }) }), context);
    await store.commit(create('d', keyOf('t', 'bob')), context);
    assert.deepEqual(await store.listUsers('app', {}, context), all(['ana', 'bob']));
    assert.deepEqual(await store.owners('app', 't', context), ['bob']);
    await store.remove(keyOf('t', 'bob'), context);
    assert.deepEqual(await store.listUsers('app', {}, context), all(['ana']));
    assert.deepEqual(await store.listApps({}, context), all(['app']));
  });

  const { clients: clusterClients } = await clusterForTests();

  for (const [name, client] of Object.entries(clusterClients)) {
    test(`${name}: the apps on all servers of a cluster are one list`, async () => {
      const store = redisStore(client, { prefix: `cluster-${name}` });
      const apps = Array.from({ length: 12 }, (_, index) => `app ${String.fromCharCode(97 + index)}`);
      await store.commitMany(
        apps.map((app) => create(`c ${app}`, keyOf('s', `user of ${app}`, app))),
        context,
      );
      assert.deepEqual(await store.listApps({}, context), all(apps));
      assert.deepEqual(await store.listApps({ after: apps[2], limit: 2 }, context), {
        names: apps.slice(3, 5),
        more: true,
      });
      assert.deepEqual(await store.owners(apps[5], 's', context), [`user of ${apps[5]}`]);
      assert.deepEqual(await store.listUsers(apps[6], {}, context), all([`user of ${apps[6]}`]));
    });
  }
}
