// The store in Redis over servers with other settings, and over a server that has lost data. All of it with servers of
// its own.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { source } from '../../support/source.mjs';
import { clients, openIoredis } from './clients.mjs';
import { append, context, create, keyOf, update, values } from './words.mjs';

const { VERSION_TEXT } = await source('stores/redis/version.ts');
const open = (store) => store.open({ migrate: 'create' }, context);

/** A client whose server says this about itself, and has an empty store; `undefined` for what it refuses to say. */
function saying(info, fsync) {
  const answer = async (text) => {
    if (text === undefined) throw new Error('NOPERM this user has no permissions to run the command');
    return text;
  };
  return {
    defineCommand() {},
    eval: async () => ['found', VERSION_TEXT],
    evalsha: async () => ['found', VERSION_TEXT],
    call: (name) => (name === 'INFO' ? answer(info) : answer(fsync && ['appendfsync', fsync])),
  };
}
const lines = (more) =>
  Object.entries({ role: 'master', maxmemory: 0, maxmemory_policy: 'noeviction', aof_enabled: 1, ...more })
    .map((pair) => pair.join(':'))
    .join('\r\n');

for (const [what, info, fsync, durability] of [
  ['no append-only file', lines({ aof_enabled: 0 }), 'always', 'memory'],
  ['appendfsync everysec', lines(), 'everysec', 'os'],
  ['appendfsync no', lines(), 'no', 'os'],
  ['appendfsync always', lines(), 'always', 'disk'],
]) {
  test(`a server with ${what} makes a write as durable as '${durability}', whatever the option says`, async () => {
    for (const told of [undefined, 'replicated', 'memory']) {
      const store = redisStore(saying(info, fsync), told && { durability: told });
      assert.equal(store.durability, told ?? 'os');
      await open(store);
      assert.equal(store.durability, durability);
    }
  });
}

test('the weakest server of a cluster says how durable a write is, and each may refuse', async () => {
  const cluster = (...nodes) => ({
    ...saying(lines(), 'always'),
    nodes: (role) => (assert.equal(role, 'master'), nodes),
  });
  const strong = saying(lines(), 'always');
  for (const [weak, durability] of [
    [strong, 'disk'],
    [saying(lines(), 'everysec'), 'os'],
    [saying(lines({ aof_enabled: 0 })), 'memory'],
  ]) {
    const store = redisStore(cluster(strong, weak));
    await open(store);
    assert.equal(store.durability, durability);
  }
  const evicting = saying(lines({ maxmemory: 100, maxmemory_policy: 'allkeys-lru' }), 'always');
  await assert.rejects(open(redisStore(cluster(strong, evicting))), { code: 'rejected' });
});

for (const [policy, maxmemory, isRefused] of [
  ['allkeys-lru', 1_000_000, true],
  ['allkeys-lfu', 1, true],
  ['allkeys-random', 1_000_000, true],
  ['allkeys-lru', 0, false],
  ['volatile-lru', 1_000_000, false],
  ['volatile-ttl', 1_000_000, false],
  ['noeviction', 1_000_000, false],
]) {
  test(`${policy} with a maxmemory of ${maxmemory} is ${isRefused ? 'refused, naming what helps' : 'fine: no key has a time to live'}`, async () => {
    const store = redisStore(saying(lines({ maxmemory, maxmemory_policy: policy }), 'always'));
    if (!isRefused) return open(store);
    await assert.rejects(open(store), {
      name: 'StoreError',
      code: 'rejected',
      message: /CONFIG SET maxmemory-policy noeviction$/,
    });
  });
}

test('a replica is refused, and its primary named', async () => {
  const store = redisStore(
    saying(lines({ role: 'slave', master_host: 'primary.example', master_port: 6379 }), 'always'),
  );
  await assert.rejects(open(store), { code: 'rejected', message: /is a replica.*connect to primary\.example:6379$/ });
});

test('a server that does not tell is believed to be as the option says, with one warning', async () => {
  const heard = [];
  const listen = (warning) => warning.code === 'STATEPAD_REDIS' && heard.push(warning.message);
  process.on('warning', listen);
  const silent = saying(undefined);
  const mute = { ...silent, call: undefined };
  const upstash = {
    createScript() {},
    eval: async () => ['found', VERSION_TEXT],
    evalsha: async () => ['found', VERSION_TEXT],
  };
  for (const client of [silent, mute, upstash, saying(lines()), saying('redis_version:7.0.0')]) {
    for (const durability of ['replicated', undefined]) {
      const store = redisStore(client, durability && { durability });
      await open(store);
      assert.equal(store.durability, durability ?? 'os');
    }
  }
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  assert.equal(heard.length, 1);
  assert.match(heard[0], /does not report its settings.*noeviction.*durability is taken to be 'replicated'/);
});

test('a server that does not tell its appendfsync tells its policy all the same', async () => {
  const store = redisStore(saying(lines({ maxmemory: 1, maxmemory_policy: 'allkeys-lru' })));
  await assert.rejects(open(store), { code: 'rejected' });
});

test('a connection that breaks while the server is asked is no answer', async () => {
  const client = { ...saying(lines()), call: async () => Promise.reject(new Error('Connection is closed.')) };
  await assert.rejects(open(redisStore(client)), { message: 'Connection is closed.' });
});

const why = whyNoRedisServer();

if (why) {
  test('redis as it is set up', { skip: why });
} else {
  const server = await startRedisServer();
  const admin = new Redis(server.url);
  const opened = [];
  after(async () => {
    await Promise.all(opened.map(({ end }) => end()));
    admin.disconnect();
    await server.stop();
  });
  let count = 0;
  const fresh = () => `server${(count += 1)}`;

  for (const [name, make] of Object.entries(clients)) {
    test(`${name}: a real server is asked`, async () => {
      const one = await make(server.url);
      opened.push(one);
      const opens = async () => {
        const store = redisStore(one.client, { prefix: fresh(), durability: 'replicated' });
        await open(store);
        return store.durability;
      };
      const doesTell = name !== 'upstash';
      assert.equal(await opens(), doesTell ? 'disk' : 'replicated');
      if (!doesTell) return;
      await admin.config('SET', 'appendfsync', 'everysec');
      assert.equal(await opens(), 'os');
      await admin.config('SET', 'appendfsync', 'always');
      await admin.config('SET', 'appendonly', 'no');
      assert.equal(await opens(), 'memory');
      await admin.config('SET', 'appendonly', 'yes');
      while (!/aof_rewrite_in_progress:0/.test(await admin.info('persistence')));
      await admin.config('SET', 'maxmemory', 100_000_000);
      await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      await assert.rejects(opens(), { code: 'rejected', message: /allkeys-lru/ });
      await admin.config('SET', 'maxmemory-policy', 'volatile-lru');
      await opens();
      await admin.config('SET', 'maxmemory', 0);
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
    });
  }

  test('a user who may not ask for the settings opens the store', async () => {
    await admin.acl('SETUSER', 'humble', 'on', '>secret', '~*', '&*', '+@all', '-config', '-info');
    const one = await openIoredis(server.url, { username: 'humble', password: 'secret' });
    opened.push(one);
    const store = redisStore(one.client, { prefix: fresh(), durability: 'memory' });
    await open(store);
    assert.equal(store.durability, 'memory');
  });

  for (const [scope, dropped, survivor] of [
    ['app', ['app'], 'the moves'],
    ['app', ['app', 'moves'], 'the session'],
    ['user', ['u:user'], 'the moves'],
    ['user', ['u:user', 'm:user'], 'the session'],
  ]) {
    test(`the state of the ${scope} that was dropped is corrupt, and not empty: ${survivor} tells`, async () => {
      const prefix = fresh();
      const store = redisStore(admin, { prefix });
      await open(store);
      const key = keyOf('s');
      await store.commit(create('c', key, { app: values({ a: 1 }), user: values({ u: 1 }) }), context);
      await store.commit(create('o', keyOf('o', 'other'), { user: values({ u: 1 }) }), context);
      await admin.del(dropped.map((name) => `${prefix}:{app}:${name}`));
      const corrupt = { name: 'StoreError', code: 'corrupt' };
      const dump = async () =>
        Promise.all(
          (await admin.keys(`${prefix}:*`))
            .sort()
            .map(async (name) => [name, (await admin.dumpBuffer(name)).toString('hex')]),
        );
      const before = await dump();
      await assert.rejects(store.load(key, {}, context), corrupt);
      await assert.rejects(store.commit(append('e', key), context), corrupt);
      await assert.rejects(store.commit(append('e', key, { [scope]: values({ x: 1 }) }), context), corrupt);
      const page = store.list({ app: 'app', descending: false }, context);
      if (scope === 'user') assert.deepEqual((await page).corrupt, [key]);
      else if (survivor === 'the moves') await assert.rejects(page, corrupt);
      else assert.equal((await page).corrupt.length, 2);
      if (survivor === 'the moves') {
        const name = scope === 'app' ? { app: 'app' } : { app: 'app', user: 'user' };
        await assert.rejects(store.loadScope(name, context), corrupt);
        await assert.rejects(store.removeScope(name, context), corrupt);
        const target = scope === 'app' ? { appName: 'app' } : { appName: 'app', userId: 'user' };
        await assert.rejects(store.commit(update('u', target, { [scope]: values({ x: 1 }) }), context), corrupt);
      }
      assert.deepEqual(await dump(), before);
      if (scope === 'user') assert.equal((await store.load(keyOf('o', 'other'), {}, context)).pos.user, 1);
    });
  }

  test('a session notes where its scopes are whenever it is written to', async () => {
    const prefix = fresh();
    const store = redisStore(admin, { prefix });
    const key = keyOf('s');
    await store.commit(create('c', key), context);
    await store.commit(update('u', { appName: 'app', userId: 'user' }, { user: values({ u: 1 }) }), context);
    await store.commit(append('e', key), context);
    await admin.del(`${prefix}:{app}:u:user`, `${prefix}:{app}:m:user`);
    await assert.rejects(store.load(key, {}, context), { code: 'corrupt' });
  });

  test('a scope whose moves were dropped is read and written as ever, and its changes are not told', async () => {
    const prefix = fresh();
    const store = redisStore(admin, { prefix });
    const key = keyOf('s');
    await store.commit(create('c', key, { app: values({ a: 1 }) }), context);
    await store.commit(append('e1', key, { app: values({ a: 2 }) }), context);
    const known = { pos: { app: 1 }, marks: { app: 'c' } };
    assert.ok((await store.load(key, { known }, context)).changed);
    await admin.del(`${prefix}:{app}:moves`);
    const { changed, state } = await store.load(key, { known }, context);
    assert.deepEqual([changed, { ...state.app }], [undefined, { a: 2 }]);
    const written = await store.commit(append('e2', key, { app: values({ b: 1 }) }, { known }), context);
    assert.deepEqual([written.changed, written.pos.app], [undefined, 3]);
  });

  test('a log keeps a thousand positions at least, and not many more; a write costs the same whatever is kept', async () => {
    const prefix = fresh();
    const store = redisStore(admin, { prefix });
    const key = keyOf('s');
    await store.commit(create('c', key), context);
    const marks = [];
    // The number of commands that the server runs for a write, those of scripts included.
    const commandsOf = async (id) => {
      await admin.config('RESETSTAT');
      await store.commit(append(id, key, { user: values({ a: 1 }) }), context);
      const lines = (await admin.info('commandstats')).matchAll(/^cmdstat_(?!config|info)[^:]+:calls=(\d+)/gm);
      return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await commandsOf('first');
    const few = await commandsOf('second');
    for (let first = 1; first <= 2_600; first += 100) {
      const changes = Array.from({ length: 100 }, (_, index) => {
        const id = `u${first + index}`;
        marks[first + index] = id;
        const delta = index % 2 === 0 ? values({ [id]: 1 }) : { unset: [`u${first + index - 1}`] };
        return update(id, { appName: 'app' }, { app: delta });
      });
      await store.commitMany(changes, context);
    }
    const told = async (pos) =>
      (await store.load(key, { known: { pos: { app: pos }, marks: { app: marks[pos] } } }, context)).changed;
    for (const ago of [1, 2, 999, 1_000]) assert.ok(await told(2_600 - ago), `${ago} positions ago`);
    assert.equal(await told(1), undefined);
    assert.equal(await told(1_000), undefined);
    assert.equal((await told(2_598)).app.unset.join(), 'u2599');
    for (let count = 0; count < 250; count++) {
      await store.commit(
        update(
          `a${count}`,
          { appName: 'app', userId: 'user' },
          { user: count % 2 ? values({ b: 1 }) : { unset: ['b'] } },
        ),
        context,
      );
    }
    const many = await commandsOf('last');
    assert.ok(many <= few, `${many} commands, not ${few}`);
    // A mark, a name and its birth, or its end, at each position: no more than 1,256 of them.
    assert.ok((await admin.zcard(`${prefix}:{app}:moves`)) <= 3 * 1_256);
  });

  test('a replica that is promoted without the last writes shows by marks and ids that others have written since', async () => {
    const replicaServer = await startRedisServer('--replicaof', '127.0.0.1', String(server.port));
    const replica = new Redis(replicaServer.url);
    try {
      while (!/master_link_status:up/.test(await replica.info('replication')))
        await new Promise((resolve) => setTimeout(resolve, 20));
      const prefix = fresh();
      const store = redisStore(admin, { prefix });
      await open(store);
      const key = keyOf('s');
      await store.commit(create('c', key, { app: values({ a: 0 }), user: values({ u: 0 }) }), context);
      await store.commit(append('e1', key, { app: values({ a: 1 }) }), context);
      await admin.wait(1, 5_000);
      await assert.rejects(open(redisStore(replica, { prefix })), {
        code: 'rejected',
        message: new RegExp(`replica.*127\\.0\\.0\\.1:${server.port}$`),
      });
      // The link is cut: what the primary acknowledges from now on the replica never sees.
      await replica.replicaof('127.0.0.1', '1');
      await store.commit(append('e2', key, { app: values({ a: 2 }), user: values({ u: 2 }) }), context);
      await store.commit(append('e3', key), context);
      const lost = await store.load(key, {}, context);
      assert.deepEqual(
        [lost.rev, lost.last, lost.pos, lost.marks],
        [3, 'e3', { app: 3, user: 2 }, { app: 'e2', user: 'e2' }],
      );
      await replica.replicaof('NO', 'ONE');
      const promoted = redisStore(replica, { prefix });
      await open(promoted);
      const known = { created: 'c', rev: lost.rev, last: lost.last, pos: lost.pos, marks: lost.marks };

      // Behind what is known.
      const behind = await promoted.load(key, { known }, context);
      assert.deepEqual(
        [behind.diverged, behind.rev, behind.pos, behind.marks],
        [true, 1, { app: 2, user: 1 }, { app: 'e1', user: 'c' }],
      );
      assert.deepEqual(
        [{ ...behind.state.app }, { ...behind.state.user }, { ...behind.state.session }],
        [{ a: 1 }, { u: 0 }, {}],
      );
      assert.equal(behind.changed, undefined);

      // Others write: the same numbers, and beyond them.
      await promoted.commit(append('x2', key, { app: values({ a: 'x' }), user: values({ u: 'x' }) }), context);
      await promoted.commit(append('x3', key), context);
      const level = await promoted.load(key, { known }, context);
      assert.deepEqual([level.diverged, level.rev, level.pos, level.last], [true, 3, lost.pos, 'x3']);
      assert.deepEqual(
        [{ ...level.state.app }, { ...level.state.user }, level.changed],
        [{ a: 'x' }, { u: 'x' }, undefined],
      );
      const next = await promoted.commit(append('x4', key, { app: values({ a: 'y' }) }, { known }), context);
      assert.deepEqual(
        [next.prev, next.before, next.changed],
        [3, { app: 'x2', user: 'x2', session: 'x3' }, undefined],
      );
      const beyond = await promoted.load(key, { known }, context);
      assert.deepEqual([beyond.diverged, beyond.changed, { ...beyond.state.app }], [true, undefined, { a: 'y' }]);
      assert.deepEqual(
        beyond.events.map(({ id }) => id),
        ['e1', 'x2', 'x3', 'x4'],
      );
      // A change that was lost with the primary can be sent again.
      assert.equal((await promoted.commit(append('e2', key), context)).duplicate, undefined);
    } finally {
      replica.disconnect();
      await replicaServer.stop();
    }
  });
}
