// The work of the server for the store in Redis.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { openIoredis } from './clients.mjs';
import { append, context, create, keyOf, update } from './words.mjs';

const why = whyNoRedisServer();

/** A test over a server of its own. */
const onServer = (use) => async () => {
  const ours = await startRedisServer();
  const { client, end } = await openIoredis(ours.url);
  try {
    await use(redisStore(client), client);
  } finally {
    await end();
    await ours.stop();
  }
};

test(
  'a page in the middle of thousands of sessions of one time costs the server a page',
  { skip: why },
  onServer(async (store, client) => {
    const ids = Array.from({ length: 5_000 }, (_, index) => `s${String(index).padStart(5, '0')}`);
    // As many at once as a service sends: a call of a client has a limit.
    for (let first = 0; first < ids.length; first += 250) {
      await store.commitMany(
        ids.slice(first, first + 250).map((id) => create(id, keyOf(id))),
        context,
      );
    }
    for (const descending of [false, true]) {
      const commands = await commandsOf(client, async () => {
        const after = { time: 1_000, sessionId: 's02500', userId: 'user' };
        const { rows } = await store.list({ app: 'app', descending, limit: 10, after }, context);
        assert.equal(rows.at(0).key.sessionId, 's02501');
      });
      assert.ok(commands.length < 10 + 40, `${commands.length} commands: ${commands.join(' ')}`);
    }
  }),
);

test(
  'what a change writes over is read together with where its scopes and its session are',
  { skip: why },
  onServer(async (store, client) => {
    await store.commit(create('s', keyOf('s')), context);
    const values = (count) => ({
      set: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at])),
    });
    const reading = async (id, count) => {
      const delta = { app: values(count), user: values(count), session: values(count) };
      const commands = await commandsOf(client, () => store.commit(append(id, keyOf('s'), delta), context));
      return commands.filter((name) => /^(hget|hmget|llen|lindex|lrange)$/.test(name)).sort();
    };
    const few = ['hmget', 'hmget', 'hmget', 'llen', 'lrange'];
    assert.deepEqual(await reading('e1', 1), few);
    assert.deepEqual(await reading('e2', 1000), few);
    // Lua hands over so many names at once; the others are read one by one.
    assert.deepEqual(await reading('e3', 1002), [...Array(6).fill('hget'), ...few]);
    const { state } = await store.load(keyOf('s'), {}, context);
    assert.deepEqual(
      Object.values(state).map((part) => Object.keys(part).length),
      [1002, 1002, 1002],
    );
  }),
);

test(
  'lists and loads of sessions that do not expire ask for no ends of theirs',
  { skip: why },
  onServer(async (store, client) => {
    const ids = Array.from({ length: 300 }, (_, index) => `s${index}`);
    await store.commitMany(
      ids.map((id) => create(id, keyOf(id))),
      context,
    );
    await store.commit({ ...create('x', keyOf('x')), expires: { ttl: 1e9 } }, context);
    const reading = async (action) =>
      (await commandsOf(client, action)).filter((name) => /^(zmscore|zcount|time|zscore)$/.test(name)).sort();
    const list = () => store.list({ app: 'app', descending: false }, context);
    assert.deepEqual(await reading(list), ['time', 'zcount', 'zscore']);
    assert.deepEqual(await reading(() => store.load(keyOf('s0'), {}, context)), ['zscore']);
    assert.deepEqual(await reading(() => store.owners('app', 's0', context)), ['time', 'zcount']);
    // What has expired is found by its number, and then by the page.
    await store.commit({ ...create('y', keyOf('y')), expires: { at: 1 } }, context);
    const page = () => store.list({ app: 'app', descending: false, limit: 10 }, context);
    assert.deepEqual(await reading(page), ['time', 'zcount', 'zmscore', 'zscore']);
  }),
);

test(
  'the expired sessions of an app are counted by one look at their index',
  { skip: why },
  onServer(async (store, client) => {
    const changes = Array.from({ length: 300 }, (_, n) => ({
      ...create(`s${n}`, keyOf(`s${n}`)),
      expires: { at: 1 },
    }));
    await store.commitMany(changes, context);
    const commands = await commandsOf(client, async () => {
      const swept = await store.sweep({ app: 'app', limit: Number.MAX_SAFE_INTEGER, dry: true }, context);
      assert.deepEqual(swept, { sessions: 300, users: 0, more: false });
    });
    assert.deepEqual(commands.filter((name) => !/^(info|eval|evalsha)$/.test(name)).sort(), ['get', 'time', 'zcount']);
  }),
);

test(
  'an append with limits counts no names while the last order is below their number',
  { skip: why },
  onServer(async (store, client) => {
    const limits = { value: 1e6, state: 1e6, keys: 100, events: 100 };
    await store.commit(create('s', keyOf('s')), context);
    const delta = { app: { set: { a: 1 } }, session: { set: { a: 1 } } };
    const commands = await commandsOf(client, () => store.commit(append('e', keyOf('s'), delta, { limits }), context));
    assert.deepEqual(
      commands.filter((name) => /^(hlen|hget|hmget|zmscore)$/.test(name)),
      ['hmget', 'hmget', 'hmget'],
    );
  }),
);

test(
  'the end of a long log, and trimming it, cost the server no more than those of a short one',
  { skip: why },
  onServer(async (store, client) => {
    const changes = Array.from({ length: 3_000 }, (_, n) =>
      update(`u${n}`, { appName: 'app' }, { app: { set: { n } } }),
    );
    for (let first = 0; first < changes.length; first += 500) {
      await store.commitMany(changes.slice(first, first + 500), context);
    }
    const reading = await commandsOf(client, async () => {
      const { entries } = await store.readLog({ app: 'app' }, { after: 2_990 }, context);
      assert.equal(entries.length, 10);
    });
    assert.deepEqual(reading.filter((name) => /^(lrange|llen|hmget|hgetall|evalsha)$/.test(name)).sort(), [
      'evalsha',
      'hmget',
      'llen',
      'lrange',
    ]);
    const trimming = await commandsOf(client, () => store.trimLog({ app: 'app' }, 2_000, context));
    assert.deepEqual(
      trimming.filter((name) => /^(ltrim|lpop|lrange)$/.test(name)),
      ['ltrim'],
    );
  }),
);

/**
 * The names of the commands that a server runs meanwhile, those in scripts included; but for those of scripts that
 * fail, by which these find out before Redis 7 what the user may run.
 */
async function commandsOf(admin, action) {
  const counts = async () => {
    const lines = (await admin.info('commandstats')).matchAll(/^cmdstat_([^:]+):calls=(\d+).*failed_calls=(\d+)/gm);
    return new Map(
      [...lines].map(([, name, calls, failed]) => [name, calls - (name.startsWith('eval') ? 0 : failed)]),
    );
  };
  const before = await counts();
  await action();
  const after = await counts();
  return [...after].flatMap(([name, calls]) => Array(calls - (before.get(name) ?? 0)).fill(name));
}
