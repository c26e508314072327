// The work of the server for the store in Redis.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { openIoredis } from './clients.mjs';
import { append, context, create, keyOf, update } from './words.mjs';

const why = whyNoRedisServer();

test('a page in the middle of thousands of sessions of one time costs the server a page', { skip: why }, async () => {
  const ours = await startRedisServer();
  const { client, end } = await openIoredis(ours.url);
  try {
    const store = redisStore(client);
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
  } finally {
    await end();
    await ours.stop();
  }
});

test(
  'what a change writes over is read together with where its scopes and its session are',
  { skip: why },
  async () => {
    const ours = await startRedisServer();
    const { client, end } = await openIoredis(ours.url);
    try {
      const store = redisStore(client);
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
    } finally {
      await end();
      await ours.stop();
    }
  },
);

test(
  'the end of a long log, and trimming it, cost the server no more than those of a short one',
  { skip: why },
  async () => {
    const ours = await startRedisServer();
    const { client, end } = await openIoredis(ours.url);
    try {
      const store = redisStore(client);
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
    } finally {
      await end();
      await ours.stop();
    }
  },
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
