// What the store in Redis says, and has, when something goes wrong. All of it with a server of its own.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { clients, openIoredis, openNodeRedis, openUpstash } from './clients.mjs';
import { startProxy } from './proxy.mjs';
import { append, context, create, keyOf, update } from './words.mjs';

const values = (set) => ({ set });
const isStoreError = ({ name }) => name === 'StoreError';

/** A client that answers every command with this error. */
function failing(error) {
  const fail = async () => {
    throw error;
  };
  return { defineCommand() {}, eval: fail, evalsha: fail };
}

for (const [text, code] of [
  ["OOM command not allowed when used memory > 'maxmemory'.", 'unavailable'],
  ['ERR Error running script (call to f_0): @user_script:7: @user_script: 7: -OOM command not allowed', 'unavailable'],
  ["READONLY You can't write against a read only replica.", 'unavailable'],
  ['LOADING Redis is loading the dataset in memory', 'unavailable'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'unavailable'],
  [
    'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
    'unavailable',
  ],
  ['TRYAGAIN Multiple keys request during rehashing of slot', 'unavailable'],
  ['CLUSTERDOWN The cluster is down', 'unavailable'],
  ['BUSY Redis is busy running a script.', 'unavailable'],
  ['ERR Script killed by user with SCRIPT KILL...', 'unavailable'],
  ['NOAUTH Authentication required.', 'unavailable'],
  ['Too many Cluster redirections. Last error: MOVED', 'unavailable'],
  ['ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.', 'unavailable'],
  ['ERR Protocol error: invalid bulk length', 'rejected'],
  ['ERR string exceeds maximum allowed size (512MB)', 'rejected'],
  ['ERR max request size exceeded. Limit: 1048576 bytes, Actual: 2000000 bytes', 'rejected'],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'rejected'],
]) {
  test(`nothing is written, and that is certain: ${text}`, async () => {
    const store = redisStore(failing(new Error(text)));
    await assert.rejects(store.commit(create('c', keyOf('s')), context), { name: 'StoreError', code });
    const upstash = redisStore(failing(new Error(`Command failed: ${text}`)));
    await assert.rejects(upstash.commit(create('c', keyOf('s')), context), { name: 'StoreError', code });
  });
}

test('one that is too big tells how big it is, and how big it may be', async () => {
  const error = new Error(
    'ERR max request size exceeded. Limit: 1048576 bytes, Actual: 2000000 bytes, command was: ["eval"]',
  );
  await assert.rejects(redisStore(failing(error)).commit(create('c', keyOf('s')), context), {
    limit: 1_048_576,
    size: 2_000_000,
  });
});

for (const text of [
  'Command timed out',
  'Connection is closed.',
  'Socket closed unexpectedly',
  'read ECONNRESET',
  'fetch failed',
  'Reached the max retries per request limit (which is 20).',
  'ERR DB capacity quota exceeded',
  'ERR something that nobody has seen, command was: ["eval", "OOM command not allowed", "WRONGTYPE", "\nREADONLY "]',
]) {
  test(`what became of a change is not known: ${JSON.stringify(text)}`, async () => {
    const error = new Error(text);
    const store = redisStore(failing(error));
    await assert.rejects(store.commit(create('c', keyOf('s')), context), (thrown) => thrown === error);
    await assert.rejects(store.commitMany([create('c', keyOf('s'))], context), (thrown) => thrown === error);
  });
}

test('of a batch over several apps, one that is certain to have failed does not hide what became of the others', async () => {
  const client = {
    defineCommand() {},
    eval: async () => assert.fail(),
    evalsha: async (_, count, ...rest) => {
      if (rest[0].includes('{down}')) throw new Error('CLUSTERDOWN The cluster is down');
      if (rest[0].includes('{lost}')) throw new Error('Connection is closed.');
      return [['written', 0, 1, 0]];
    },
  };
  const store = redisStore(client);
  const changeOf = (appName) => update(appName, { appName }, { app: values({ a: 1 }) });
  const answers = await store.commitMany(['up', 'down'].map(changeOf), context);
  assert.deepEqual(answers[0], { rev: 0, prev: null, pos: { app: 1, user: 0 }, before: {} });
  assert.equal(isStoreError(answers[1]) && answers[1].code, 'unavailable');
  await assert.rejects(store.commitMany(['up', 'lost'].map(changeOf), context), { message: 'Connection is closed.' });
});

const why = whyNoRedisServer();

if (why) {
  test('redis when something goes wrong', { skip: why });
} else {
  const server = await startRedisServer();
  const opened = [];
  const open = async (make, ...args) => {
    const one = await make(server.url, ...args);
    opened.push(one);
    return one.client;
  };
  const admin = await open(openIoredis);
  after(async () => {
    await Promise.all(opened.map(({ end }) => end()));
    await server.stop();
  });

  let count = 0;
  /** A store under a prefix of its own, with a session. */
  const fresh = async (client = admin) => {
    const prefix = `faults${(count += 1)}`;
    const store = redisStore(client, { prefix });
    await store.open({ migrate: 'create' }, context);
    await store.commit(create('c', keyOf('s'), { session: values({ a: 1 }), app: values({ b: 1 }) }), context);
    return { store, prefix };
  };
  /** Everything under a prefix. */
  const contentsOf = async (prefix) => {
    const keys = (await admin.keys(`${prefix}:*`)).sort();
    return Object.fromEntries(
      await Promise.all(keys.map(async (key) => [key, (await admin.dumpBuffer(key)).toString('base64')])),
    );
  };

  for (const [name, make] of Object.entries(clients)) {
    test(`${name}: scripts that the server has forgotten are sent again`, async () => {
      const { store } = await fresh(await open(make));
      await admin.script('FLUSH');
      assert.equal((await store.load(keyOf('s'), {}, context)).rev, 0);
      await admin.script('FLUSH');
      assert.equal((await store.commit(append('e', keyOf('s')), context)).rev, 1);
      await admin.script('FLUSH');
      assert.equal((await store.list({ app: 'app', descending: true }, context)).total, 1);
    });

    test(`${name}: a server without memory writes nothing, and reads and deletes`, async () => {
      const { store, prefix } = await fresh(await open(make));
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
      const { store, prefix } = await fresh(await open(make));
      const before = await contentsOf(prefix);
      const refused = () =>
        assert.rejects(store.commit(append('e', keyOf('s')), context), { name: 'StoreError', code: 'unavailable' });
      await admin.replicaof('127.0.0.1', '1');
      await refused().finally(() => admin.replicaof('NO', 'ONE'));
      await admin.config('SET', 'min-replicas-to-write', '1');
      await refused().finally(() => admin.config('SET', 'min-replicas-to-write', '0'));
      await admin.config('SET', 'busy-reply-threshold', '1');
      const spinner = await open(openIoredis);
      await spinner.ping();
      const spun = spinner.eval('while true do end', 0).catch(() => 'ended');
      try {
        while ((await admin.ping().catch(() => 'busy')) !== 'busy');
        await refused();
      } finally {
        await admin.script('KILL');
        assert.equal(await spun, 'ended');
        await admin.config('SET', 'busy-reply-threshold', '5000');
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
    const offline = await open(async () => openIoredis('redis://127.0.0.1:1', { enableOfflineQueue: false }));
    await assert.rejects(redisStore(offline).commit(create('c', keyOf('s')), context), {
      name: 'StoreError',
      code: 'unavailable',
    });
    const stranger = await open(openUpstash, { token: 'another' });
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

  const damages = {
    'a value that is no JSON': (prefix) => admin.hset(`${prefix}:{app}:s:=bad\0user`, '=a', '1:{"a'),
    'no revision': (prefix) => admin.hdel(`${prefix}:{app}:s:=bad\0user`, 'r'),
    'a revision that is no number': (prefix) => admin.hset(`${prefix}:{app}:s:=bad\0user`, 'r', 'x'),
    'no creation': (prefix) => admin.hdel(`${prefix}:{app}:s:=bad\0user`, 'c'),
    'no values and no creation at all': (prefix) => admin.del(`${prefix}:{app}:s:=bad\0user`),
    'values of another type': async (prefix) => {
      await admin.del(`${prefix}:{app}:s:=bad\0user`);
      await admin.set(`${prefix}:{app}:s:=bad\0user`, 'x');
    },
  };
  for (const [name, damage] of Object.entries(damages)) {
    test(`a session with ${name} is corrupt, and the others go on`, async () => {
      const { store, prefix } = await fresh();
      const bad = keyOf('bad');
      await store.commit(create('bad', bad, { session: values({ a: 1 }) }), context);
      await store.commit(append('e', bad), context);
      await damage(prefix);
      await assert.rejects(store.load(bad, {}, context), { name: 'StoreError', code: 'corrupt' });
      const { rows, corrupt, total } = await store.list({ app: 'app', descending: false }, context);
      assert.deepEqual([rows.map(({ key }) => key), corrupt, total], [[keyOf('s')], [bad], 2]);
      assert.equal((await store.commit(append('e', keyOf('s')), context)).rev, 1);
    });
  }

  for (const [name, key] of [
    ['events', 'e'],
    ['times', 't'],
    ['ids', 'i'],
    ['values', 's'],
  ]) {
    test(`a session whose ${name} were dropped is corrupt, and is not written to`, async () => {
      const { store, prefix } = await fresh();
      await store.commit(append('e', keyOf('s')), context);
      await admin.del(`${prefix}:{app}:${key}:=s\0user`);
      const before = await contentsOf(prefix);
      await assert.rejects(store.load(keyOf('s'), {}, context), { code: 'corrupt' });
      await assert.rejects(store.commit(append('f', keyOf('s')), context), { code: 'corrupt' });
      await assert.rejects(store.commit(create('new', keyOf('s')), context), {
        code: key === 's' ? 'corrupt' : /corrupt|exists/,
      });
      assert.deepEqual(await contentsOf(prefix), before);
      await store.remove(keyOf('s'), context);
      assert.equal(await store.load(keyOf('s'), {}, context), null);
      assert.equal((await store.commit(create('new', keyOf('s')), context)).rev, 0);
    });
  }

  for (const list of ['sessions', 'l:user']) {
    test(`a session that is missing in ${list} is corrupt to writers, and so is one of which nothing but that is left`, async () => {
      const { store, prefix } = await fresh();
      const member = '=s\0user';
      const refused = async (change) => {
        const before = await contentsOf(prefix);
        await assert.rejects(store.commit(change, context), { name: 'StoreError', code: 'corrupt' });
        assert.deepEqual(await contentsOf(prefix), before);
      };
      await store.commit(append('e', keyOf('s')), context);
      await admin.zrem(`${prefix}:{app}:${list}`, member);
      await refused(append('f', keyOf('s')));
      await refused(create('new', keyOf('s')));
      // Now it is in this list alone.
      await admin.del(...['s', 'e', 't', 'i'].map((part) => `${prefix}:{app}:${part}:${member}`));
      for (const other of ['sessions', 'l:user']) {
        await (other === list
          ? admin.zadd(`${prefix}:{app}:${other}`, 1_000, member)
          : admin.zrem(`${prefix}:{app}:${other}`, member));
      }
      await refused(create('new', keyOf('s')));
      await refused(append('f', keyOf('s')));
      await store.remove(keyOf('s'), context);
      assert.equal((await store.commit(create('new', keyOf('s')), context)).rev, 0);
    });
  }

  test('a session that does not say any more who created it is not taken for the one that is to be deleted', async () => {
    const { store, prefix } = await fresh();
    await admin.hdel(`${prefix}:{app}:s:=s\0user`, 'c');
    const before = await contentsOf(prefix);
    await assert.rejects(store.remove(keyOf('s'), context, { created: 'c' }), { name: 'StoreError', code: 'corrupt' });
    assert.deepEqual(await contentsOf(prefix), before);
    await store.remove(keyOf('s'), context);
    assert.equal(await store.load(keyOf('s'), {}, context), null);
    await store.remove(keyOf('s'), context, { created: 'c' });
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

  for (const key of ['e', 't', 's']) {
    test(`a session that has nothing but its beginning is corrupt without its ${key}, too, and can be made again`, async () => {
      const { store, prefix } = await fresh();
      const began = { ...create('began', keyOf('began')), event: { id: 'began', time: 1_000, data: '"began"' } };
      await store.commit(began, context);
      await admin.del(`${prefix}:{app}:${key}:=began\0user`);
      await assert.rejects(store.load(keyOf('began'), {}, context), { code: 'corrupt' });
      await assert.rejects(store.commit(began, context), { code: 'corrupt' });
      await store.remove(keyOf('began'), context);
      const anew = { ...create('anew', keyOf('began')), event: { id: 'anew', time: 1_000, data: '"anew"' } };
      assert.equal((await store.commit(anew, context)).duplicate, undefined);
      const { events } = await store.load(keyOf('began'), { events: { from: 0 } }, context);
      assert.deepEqual(events, [{ rev: 0, data: '"anew"' }]);
    });
  }

  test("a user's value that cannot be read sets that user's sessions aside; an app's makes its list corrupt", async () => {
    const { store, prefix } = await fresh();
    await store.commit(create('c', keyOf('s', 'bad'), { user: values({ a: 1 }) }), context);
    await admin.hset(`${prefix}:{app}:v:bad`, '=a', '1:');
    const { rows, corrupt } = await store.list({ app: 'app', descending: true }, context);
    assert.deepEqual([rows.map(({ key }) => key), corrupt], [[keyOf('s')], [keyOf('s', 'bad')]]);
    await assert.rejects(store.loadScope({ app: 'app', user: 'bad' }, context), { code: 'corrupt' });
    await admin.hset(`${prefix}:{app}:app`, '=b', 'x');
    await assert.rejects(store.list({ app: 'app', descending: true }, context), { code: 'corrupt' });
    await assert.rejects(store.loadScope({ app: 'app' }, context), { code: 'corrupt' });
  });

  const torn = {
    'some of them dropped': [
      'session',
      (base, { sessionId, userId }, index) => {
        const key = `${base}s:=${sessionId}\0${userId}`;
        return index % 2 === 0 ? admin.del(key) : admin.hset(key, '=name', '1:{');
      },
    ],
    'of users that cannot be read': ['user', (base, { userId }) => admin.hset(`${base}v:${userId}`, '=name', '1:{')],
  };
  for (const [name, [part, tear]] of Object.entries(torn)) {
    for (const [library, make] of Object.entries(clients)) {
      test(`${library}: a list is followed past corrupt sessions, ${name}`, async () => {
        const [client, prefix] = [await open(make), `faults${(count += 1)}`];
        const damage = async (keys) => {
          for (const [index, key] of keys.entries()) await tear(`${prefix}:{app}:`, key, index);
        };
        await checkCorruptPages({ part, open: () => redisStore(client, { prefix }), damage });
      });
    }
  }

  for (const [name, key, change] of [
    ['the version has', 'a', append('e', keyOf('s'))],
    ['the app has', 'app', append('e', keyOf('s'), { app: values({ b: 2 }) })],
    ['the log of the app has', 'log', append('e', keyOf('s'), { app: values({ b: 2 }) })],
    ['the user has', 'v:user', append('e', keyOf('s'), { user: values({ b: 2 }) })],
    ['the log of the user has', 'u:user', append('e', keyOf('s'), { user: values({ b: 2 }) })],
    ['the refused calls have', 'refused', append('e', keyOf('s'), {}, { attempt: 2, guard: { rev: 7 } })],
    ['the removed sessions have', 'removed', create('n', keyOf('n'))],
    ['the list has', 'sessions', append('e', keyOf('s'))],
    ["the user's list has", 'l:user', append('e', keyOf('s'))],
    ['the updates have', 'updates', update('u', { appName: 'app' }, { app: values({ b: 2 }) })],
    ['the session has', 's:=s\0user', append('e', keyOf('s'))],
    ['its events have', 'e:=s\0user', append('e', keyOf('s'))],
    ['its times have', 't:=s\0user', append('e', keyOf('s'))],
    ['its ids have', 'i:=s\0user', append('e', keyOf('s'))],
  ]) {
    test(`where something else sits in the place that ${name}, the change is rejected and another one is not`, async () => {
      const { store, prefix } = await fresh();
      await admin.del(`${prefix}:{app}:${key}`);
      await admin.pfadd(`${prefix}:{app}:${key}`, 'something');
      const before = await contentsOf(prefix);
      await assert.rejects(store.commit(change, context), { name: 'StoreError', code: 'rejected' });
      assert.deepEqual(await contentsOf(prefix), before);
      const other = create('o', keyOf('o', 'other', 'other'));
      const answers = await store.commitMany([change, other], context);
      assert.deepEqual(
        answers.map(({ code = 'written' }) => code),
        ['rejected', 'written'],
      );
    });
  }

  test('of a batch of one app, a session that is not to be read does not keep the others from being written', async () => {
    const { store, prefix } = await fresh();
    await admin.set(`${prefix}:{app}:e:=foreign\0user`, 'x');
    const changes = ['a', 'foreign', 'b'].map((id) => create(id, keyOf(id), { app: values({ [id]: 1 }) }));
    const answers = await store.commitMany(changes, context);
    assert.deepEqual(
      answers.map(({ code = 'written' }) => code),
      ['written', 'rejected', 'written'],
    );
    assert.deepEqual((await store.loadScope({ app: 'app' }, context)).pos, 3);
  });

  test('a user who is not allowed all commands is told at once', async () => {
    const rights = ['on', '>secret', '~*', '&*', '+@all'];
    await admin.acl('SETUSER', 'almost', ...rights, '-zadd', '-hdel');
    await admin.acl('SETUSER', 'mute', ...rights, 'resetchannels');
    await admin.acl('SETUSER', 'narrow', ...rights.filter((right) => right !== '~*'), '~elsewhere:*');
    const as = (username) => open(openIoredis, { username, password: 'secret' });
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

test('a store that cannot listen is only without hints', async () => {
  const subscriber = {
    defineCommand() {},
    on: () => {
      throw new Error('no ear');
    },
    off() {},
    subscribe: () => new Promise(() => {}),
    unsubscribe: () => new Promise(() => {}),
  };
  for (const deaf of [subscriber, { ...subscriber, on() {} }]) {
    const store = redisStore(failing(new Error()), { subscriber: deaf });
    const stop = store.watch(() => {});
    store.watch(() => {})();
    stop();
    await store.close();
  }
});
