// The answers and the content of the store in Redis when its server has no memory, is busy or is killed, or an answer
// is lost. With a server of its own.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { clients, openIoredis, openNodeRedis, openUpstash } from './clients.mjs';
import { startProxy } from './proxy.mjs';
import { serverForTests } from './servers.mjs';
import { append, context, create, keyOf, update, values } from './words.mjs';

const isStoreError = ({ name }) => name === 'StoreError';

const why = whyNoRedisServer();

if (why) {
  test('redis when something goes wrong', { skip: why });
} else {
  const { server, admin, clientOf, fresh, contentsOf } = await serverForTests(startRedisServer);

  for (const [name, make] of Object.entries(clients)) {
    test(`${name}: scripts that the server has forgotten are sent again`, async () => {
      const { store } = await fresh(await clientOf(make));
      await admin.script('FLUSH');
      assert.equal((await store.load(keyOf('s'), {}, context)).rev, 0);
      await admin.script('FLUSH');
      assert.equal((await store.commit(append('e', keyOf('s')), context)).rev, 1);
      await admin.script('FLUSH');
      assert.equal((await store.list({ app: 'app', descending: true }, context)).total, 1);
    });

    test(`${name}: a server without memory writes nothing, and reads and deletes`, async () => {
      const { store, prefix } = await fresh(await clientOf(make));
      await store.commit(create('other', keyOf('other')), context);
      const before = await contentsOf(prefix);
      const changes = [
        append('e', keyOf('s'), { session: values({ a: 2 }), app: { unset: ['b'] } }),
        create('new', keyOf('new')),
        update('u', { appName: 'app', userId: 'user' }, { app: { unset: ['b'] }, user: values({ x: 1 }) }),
      ];
      await admin.config('SET', 'maxmemory', '1');
      try {
        for (const change of changes) {
          await assert.rejects(store.commit(change, context), { name: 'StoreError', code: 'unavailable' });
        }
        await assert.rejects(store.commitMany(changes, context), { name: 'StoreError', code: 'unavailable' });
        assert.deepEqual(await contentsOf(prefix), before);
        assert.equal((await store.load(keyOf('s'), {}, context)).rev, 0);
        await store.remove(keyOf('other'), context);
        await store.removeScope({ app: 'app' }, context);
      } finally {
        await admin.config('SET', 'maxmemory', '0');
      }
      assert.equal(await store.load(keyOf('other'), {}, context), null);
      assert.deepEqual(await store.loadScope({ app: 'app' }, context), { pos: 2, state: Object.create(null) });
      const answers = await store.commitMany(changes, context);
      assert.deepEqual(
        answers.map(({ duplicate, pos }) => [duplicate, pos.app]),
        [
          [undefined, 3],
          [undefined, 3],
          [undefined, 4],
        ],
      );
    });

    test(`${name}: a server that is a replica, lacks replicas or is busy has not done it`, async () => {
      const { store, prefix } = await fresh(await clientOf(make));
      const before = await contentsOf(prefix);
      const refused = () =>
        assert.rejects(store.commit(append('e', keyOf('s')), context), { name: 'StoreError', code: 'unavailable' });
      await admin.replicaof('127.0.0.1', '1');
      await refused().finally(() => admin.replicaof('NO', 'ONE'));
      // Before version 7 scripts write whatever replicas there are.
      const version = Number.parseInt(/^redis_version:(.*)/m.exec(await admin.info('server'))[1], 10);
      if (version >= 7) {
        await admin.config('SET', 'min-replicas-to-write', '1');
        await refused().finally(() => admin.config('SET', 'min-replicas-to-write', '0'));
      }
      await admin.config('SET', 'lua-time-limit', '1');
      const spinner = await clientOf(openIoredis);
      await spinner.ping();
      const spun = spinner.eval('while true do end', 0).catch(() => 'ended');
      try {
        while ((await admin.ping().catch(() => 'busy')) !== 'busy');
        await refused();
      } finally {
        await admin.script('KILL');
        assert.equal(await spun, 'ended');
        await admin.config('SET', 'lua-time-limit', '5000');
      }
      assert.deepEqual(await contentsOf(prefix), before);
      assert.equal((await store.commit(append('e', keyOf('s')), context)).duplicate, undefined);
    });
  }

  test('a batch is written whole, also when memory ends in the middle of it', async () => {
    const { store } = await fresh();
    const used = Number(/^used_memory:(\d+)/m.exec(await admin.info('memory'))[1]);
    const changes = Array.from({ length: 64 }, (_, index) =>
      create(`c${index}`, keyOf(`${index}`), { session: values({ big: 'x'.repeat(50_000) }) }),
    );
    await admin.config('SET', 'maxmemory', `${used + 1_500_000}`);
    const outcome = await store.commitMany(changes, context).catch(({ code }) => code);
    await admin.config('SET', 'maxmemory', '0');
    const { total } = await store.list({ app: 'app', descending: false, limit: 0 }, context);
    assert.equal(total, outcome === 'unavailable' ? 1 : 65);
    for (const { key } of outcome === 'unavailable' ? [] : changes) {
      assert.equal((await store.load(key, {}, context)).state.session.big.length, 50_000);
    }
  });

  const cuts = {
    ioredis: { make: openIoredis, options: { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 } },
    'node-redis': { make: openNodeRedis, options: {} },
  };

  for (const [name, { make, options }] of Object.entries(cuts)) {
    test(`${name}: a change whose answer is lost is unknown, and once there when it is sent again`, async () => {
      const proxy = await startProxy(server.port);
      const { client, end } = await make(`redis://127.0.0.1:${proxy.port}`, options);
      try {
        const { store } = await fresh(client);
        const changes = [
          append('e', keyOf('s'), { app: values({ b: 2 }) }),
          create('new', keyOf('new'), { user: values({ x: 1 }) }),
          update('u', { appName: 'app' }, { app: values({ b: 3 }) }),
        ];
        // The scripts are known to the server from now on.
        for (const change of changes) {
          proxy.cutNextAnswer();
          await assert.rejects(store.commit(change, context), (error) => !isStoreError(error));
          const again = await store.commit(change, context);
          assert.equal(again.duplicate, true);
        }
        proxy.cutNextAnswer();
        await assert.rejects(
          store.commitMany([append('f', keyOf('s')), append('g', keyOf('new'))], context),
          (error) => !isStoreError(error),
        );
        const answers = await store.commitMany([append('f', keyOf('s')), append('g', keyOf('new'))], context);
        assert.deepEqual(
          answers.map(({ duplicate, rev }) => [duplicate, rev]),
          [
            [true, 2],
            [true, 1],
          ],
        );
        const { rev, pos, state } = await store.load(keyOf('s'), {}, context);
        assert.deepEqual([rev, pos, { ...state.app }], [2, { app: 3, user: 1 }, { b: 3 }]);
      } finally {
        await end();
        await proxy.stop();
      }
    });
  }

  test('ioredis: a change that the client sends again by itself is written once', async () => {
    const proxy = await startProxy(server.port);
    const { client, end } = await openIoredis(`redis://127.0.0.1:${proxy.port}`);
    try {
      const { store } = await fresh(client);
      proxy.cutNextAnswer();
      const { rev, duplicate } = await store.commit(append('e', keyOf('s')), context);
      assert.deepEqual([rev, duplicate], [1, true]);
    } finally {
      await end();
      await proxy.stop();
    }
  });

  test('a client that is closed, or that is to wait for no connection, has sent nothing', async () => {
    const { client, end } = await openNodeRedis(server.url);
    const store = redisStore(client);
    await end();
    await assert.rejects(store.commit(create('c', keyOf('s')), context), { name: 'StoreError', code: 'unavailable' });
    const offline = await clientOf(async () => openIoredis('redis://127.0.0.1:1', { enableOfflineQueue: false }));
    await assert.rejects(redisStore(offline).commit(create('c', keyOf('s')), context), {
      name: 'StoreError',
      code: 'unavailable',
    });
    const stranger = await clientOf(openUpstash, { token: 'another' });
    await assert.rejects(redisStore(stranger).commit(create('c', keyOf('s')), context), {
      name: 'StoreError',
      code: 'unavailable',
    });
  });

  test('what was acknowledged is there after the server was killed', async () => {
    const own = await startRedisServer();
    const { client, end } = await openIoredis(own.url, {
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => 20,
    });
    try {
      const store = redisStore(client);
      await Promise.all([0, 1, 2, 3].map((index) => store.commit(create(`c${index}`, keyOf(`${index}`)), context)));
      const acknowledged = new Map();
      let isKilled = false;
      const writers = [0, 1, 2, 3].map(async (index) => {
        for (let rev = 1; ; rev++) {
          const change = append(`e${rev}`, keyOf(`${index}`), { app: values({ [`n${index}`]: rev }) });
          const answer = await store.commit(change, context).catch(() => undefined);
          if (answer === undefined) return assert.ok(isKilled);
          acknowledged.set(index, rev);
        }
      });
      while ([0, 1, 2, 3].some((index) => (acknowledged.get(index) ?? 0) < 25))
        await new Promise((resolve) => setImmediate(resolve));
      isKilled = true;
      await own.kill();
      await Promise.all(writers);
      await own.restart();
      await new Promise((resolve) => (client.status === 'ready' ? resolve() : client.once('ready', resolve)));
      for (const [index, rev] of acknowledged) {
        const loaded = await store.load(keyOf(`${index}`), {}, context);
        assert.ok(loaded.rev >= rev, `session ${index} is at ${loaded.rev}, but ${rev} was acknowledged`);
        assert.equal(loaded.state.app[`n${index}`], loaded.rev);
        // The one that was on its way is there whole or not at all.
        const again = await store.commit(append(`e${rev + 1}`, keyOf(`${index}`)), context);
        assert.equal(again.duplicate === true, loaded.rev === rev + 1);
      }
    } finally {
      await end();
      await own.stop();
    }
  });

  test('a call that was refused before in its session is not refused in another one, nor in the next one under the key', async () => {
    const { store } = await fresh();
    const late = (key, more) => append('same', key, {}, { attempt: 2, ...more });
    await assert.rejects(store.commit(late(keyOf('s'), { guard: { created: 'c', rev: 7 } }), context), {
      code: 'conflict',
    });
    await assert.rejects(store.commit(append('same', keyOf('s'), {}, { guard: { created: 'c' } }), context), {
      code: 'conflict',
    });
    await store.commit(create('other', keyOf('other')), context);
    assert.equal((await store.commit(append('same', keyOf('other')), context)).rev, 1);
    await store.remove(keyOf('s'), context);
    await store.commit(create('next', keyOf('s')), context);
    assert.equal((await store.commit(append('same', keyOf('s'), {}, { guard: { created: 'next' } }), context)).rev, 1);
  });

  test('a user who is not allowed all commands is told at once', async () => {
    const rights = ['on', '>secret', '~*', '&*', '+@all'];
    await admin.acl('SETUSER', 'almost', ...rights, '-zadd', '-hdel');
    await admin.acl('SETUSER', 'mute', ...rights, 'resetchannels');
    await admin.acl('SETUSER', 'narrow', ...rights.filter((right) => right !== '~*'), '~elsewhere:*');
    const as = (username) => clientOf(openIoredis, { username, password: 'secret' });
    await assert.rejects(redisStore(await as('almost'), { prefix: 'acl' }).open({ migrate: 'create' }, context), {
      code: 'rejected',
      message: /HDEL, ZADD/,
    });
    await assert.rejects(redisStore(await as('narrow'), { prefix: 'acl' }).open({ migrate: 'create' }, context), {
      code: 'unavailable',
    });
    assert.equal(await admin.exists('acl:version'), 0);
    // Without the right to publish nobody hears of a change, and it is written all the same.
    const { store } = await fresh(await as('mute'));
    assert.equal((await store.commit(append('e', keyOf('s')), context)).rev, 1);
    await store.remove(keyOf('s'), context);
    await store.removeScope({ app: 'app' }, context);
    assert.equal((await store.loadScope({ app: 'app' }, context)).pos, 2);
  });
}
