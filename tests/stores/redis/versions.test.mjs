// Content that this build does not read: other layouts, later versions, and data of no store. Every operation refuses
// it by name, and it stays as it is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { source } from '../../support/source.mjs';
import { clients } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { append, context, create, keyOf, update, values } from './words.mjs';

const { LAYOUT } = await source('stores/redis/version.ts');

const what = (layout) =>
  `has ${layout}, written by an unreleased build of statepad; this build reads ${LAYOUT}: open it with the build that made it, or delete it`;
/** The texts of a version in keys, and the message about each. */
const versions = {
  1: what('a layout without a fingerprint'),
  2: what('a layout without a fingerprint'),
  '1:0badcafe': what('the layout 0badcafe'),
  '2:0badcafe': 'has version 2, newer than 1: update statepad',
  [`1:${LAYOUT}>2:0badcafe`]: 'has version 2, newer than 1: update statepad',
  other: 'has no valid version: use another prefix',
  '': 'has no valid version: use another prefix',
};

const key = keyOf('session');
/** All that can be asked of an app that has the session. */
const OPERATIONS = [
  (store) => store.commit(append('e', key), context),
  (store) => store.commit(create('d', keyOf('other')), context),
  (store) => store.commit(update('u', { appName: 'app' }, { app: values({ a: 1 }) }), context),
  (store) => store.commitMany([append('e', key)], context).then(([outcome]) => Promise.reject(outcome)),
  (store) => store.load(key, {}, context),
  (store) => store.list({ app: 'app', descending: true }, context),
  (store) => store.remove(key, context),
  (store) => store.loadScope({ app: 'app' }, context),
  (store) => store.removeScope({ app: 'app', user: 'user' }, context),
  (store) => store.lease(key, { holder: 'h', ttl: 60_000 }, context),
  (store) => store.readLog({ app: 'app' }, {}, context),
  (store) => store.trimLog({ app: 'app' }, 1, context),
];

const why = whyNoRedisServer();

if (why) {
  test('redis: other versions', { skip: why });
} else {
  const { admin, clientOf, newPrefix, contentsOf } = await serverForTests(startRedisServer);

  for (const [name, make] of Object.entries(clients)) {
    for (const [version, message] of Object.entries(versions)) {
      test(`${name}: a store and an app of the version "${version}" are refused by name`, async () => {
        const prefix = newPrefix();
        const store = redisStore(await clientOf(make), { prefix });
        await store.open({ migrate: 'create' }, context);
        await store.commit(create('c', key, { app: values({ a: 1 }) }), context);
        await admin.set(`${prefix}:{app}:a`, version);
        const before = await contentsOf(prefix);
        const refused = (title) => ({ name: 'StoreError', code: 'rejected', message: `${title} ${message}` });
        for (const operation of OPERATIONS) {
          await assert.rejects(operation(store), refused(`app "app" under the prefix "${prefix}"`));
        }
        assert.deepEqual(await contentsOf(prefix), before);
        const elsewhere = await store.commit(create('c', keyOf('session', 'user', 'elsewhere')), context);
        assert.equal(elsewhere.rev, 0);
        await admin.set(`${prefix}:version`, version);
        for (const migrate of ['create', 'check', 'upgrade']) {
          await assert.rejects(store.open({ migrate }, context), refused(`the store under the prefix "${prefix}"`));
        }
        assert.equal(await admin.get(`${prefix}:version`), version);
      });
    }
  }

  test('where something of another type says the version, nothing is opened or done', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    await admin.hset(`${prefix}:{app}:a`, '=n', '1');
    await admin.rpush(`${prefix}:version`, '1');
    const before = await contentsOf(prefix);
    await assert.rejects(store.open({ migrate: 'create' }, context), { code: 'rejected' });
    for (const operation of OPERATIONS) {
      await assert.rejects(operation(store), ({ code }) => ['rejected', 'corrupt'].includes(code));
    }
    assert.deepEqual(await contentsOf(prefix), before);
  });
}
