// The fingerprint of what the store leaves in a server.

import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { assertLayout } from '../../support/layout.mjs';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { source } from '../../support/source.mjs';
import { serverForTests } from './servers.mjs';
import { append, context, create, keyOf, update, values } from './words.mjs';

const { LAYOUT } = await source('stores/redis/version.ts');

/** Writes what leaves a key of each kind, with all that it can have. */
async function write(store) {
  const both = { app: values({ a: [1] }), user: { set: { é: null }, unset: ['b'] }, session: values({ c: 'ü' }) };
  const event = { id: 'c', time: 1, data: '{"id":"c"}' };
  const operators = { app: { n: { increment: 1 } }, session: { n: { increment: 1 } } };
  await store.commit({ ...create('c', keyOf('s'), both), digest: 'of c' }, context);
  await store.commit({ ...create('d', keyOf('t', 'other', 'app two')), event }, context);
  await store.commit(append('e', keyOf('s'), { user: values({ b: 1 }) }, { operators, time: 2_000 }), context);
  await store.commit(append('late', keyOf('s'), { app: { unset: ['a'] } }), context);
  await store.commit(
    update('u', { appName: 'app', userId: 'user' }, {}, { operators: { user: operators.app }, digest: 'of u' }),
    context,
  );
  await store.commit(update('v', { appName: 'app' }, { app: values({ v: 1 }) }, { digest: 'of v' }), context);
  const late = { attempt: 2, guard: { rev: 7 } };
  await store.commit(append('f', keyOf('s'), {}, late), context).catch(() => undefined);
  await store.commit(append('g', keyOf('s'), {}, { ...late, digest: 'of g' }), context).catch(() => undefined);
  await store.lease(keyOf('s'), { holder: 'one', ttl: 60_000 }, context);
  await store.commit({ ...create('r', keyOf('r', 'gone'), { user: values({ z: 1 }) }), digest: 'of r' }, context);
  await store.remove(keyOf('r', 'gone'), context);
  await store.commit({ ...create('x', keyOf('x', 'late')), expires: { at: 4e12 } }, context);
  const slides = { ...create('y', keyOf('y', 'late'), { user: values({ é: 'ü' }) }), expires: { ttl: 1e10 } };
  await store.commit(slides, context);
  await store.commit(update('i', { appName: 'app', userId: 'idle' }, { user: values({ i: 1 }) }), context);
  await store.claim('sweep', { holder: 'one', ttl: 60_000 }, context);
  await store.trimLog({ app: 'app' }, 1, context);
  await store.removeScope({ app: 'app', user: 'gone' }, context);
}

const why = whyNoRedisServer();

if (why) {
  test('redis: the fingerprint of the layout', { skip: why });
} else {
  const { admin, newPrefix } = await serverForTests(startRedisServer);

  /** The content of a key: hashes and sorted sets in one order, and without the members of the server's clock. */
  const contentOf = async (key) => {
    const read = {
      string: () => admin.get(key),
      list: async () => (await admin.lrangeBuffer(key, 0, -1)).map((text) => text.toString('latin1')),
      hash: async () =>
        Object.entries(await admin.hgetall(key))
          .map(([name, text]) => [name, name === 'x' ? 0 : text])
          .sort(),
      zset: async () => {
        const isByClock = /:(?:updates|refused|removed|expiring|x:[^:]*|idle)$/.test(key);
        return isByClock ? await admin.zrange(key, 0, -1) : await admin.zrange(key, 0, -1, 'WITHSCORES');
      },
    };
    const type = await admin.type(key);
    return JSON.stringify([key, type, await read[type]()]);
  };

  test('the fingerprint of the store is that of its layout', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    await store.open({ migrate: 'create' }, context);
    await write(store);
    const keys = (await admin.keys(`${prefix}:*`)).sort();
    const all = (await Promise.all(keys.map(contentOf))).join('\n');
    assertLayout(LAYOUT, all.replaceAll(prefix, 'prefix').replaceAll(/\b\d{13}\b/g, 'time'));
  });
}
