// Rights of the user that are taken away while the store is at work: nothing is ever written by half.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { openIoredis } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { append, context, create, keyOf, update, values } from './words.mjs';

/** All commands by which scripts write, and those that they read by once they have written. */
const COMMANDS = [
  ...['set', 'unlink', 'hset', 'hdel', 'rpush', 'ltrim', 'zadd', 'zrem', 'zremrangebyscore'],
  ...['hget', 'time', 'zrangebyscore'],
];

const both = { app: values({ n: 2 }), user: { set: { x: 1 }, unset: ['u'] } };

/** The operations of a store, in an app that has a session `s` with a lease. */
const OPERATIONS = {
  'an append': (store) => store.commit(append('e', keyOf('s'), { ...both, session: { unset: ['a'] } }), context),
  'an append with operators': (store) =>
    store.commit(append('e', keyOf('s'), {}, { operators: { app: { n: { increment: 1 } } } }), context),
  'an append that another try was made of': (store) =>
    store.commit(append('e', keyOf('gone'), {}, { call: 'again', attempt: 2 }), context),
  'a creation': (store) => store.commit(create('c2', keyOf('new'), { ...both, session: values({ a: 1 }) }), context),
  'the first creation of an app': (store) =>
    store.commit(create('c3', keyOf('first', 'user', 'other'), { app: values({ a: 1 }) }), context),
  'an update': (store) => store.commit(update('u', { appName: 'app', userId: 'user' }, both), context),
  'a batch': (store) =>
    store.commitMany(
      [
        append('e1', keyOf('s'), { app: values({ n: 3 }) }),
        append('e2', keyOf('gone'), {}, { call: 'again', attempt: 2 }),
        append('e3', keyOf('s'), { session: values({ b: 1 }) }),
      ],
      context,
    ),
  'the end of a lease': (store) => store.lease(keyOf('s'), { holder: 'h', ttl: 0, fence: 1 }, context),
  'a removal of a session': (store) => store.remove(keyOf('s'), context),
  'a removal of values': (store) => store.removeScope({ app: 'app' }, context),
  'a creation in the place of an expired session, behind an append': (store) =>
    store.commitMany(
      [
        append('e1', keyOf('s'), { app: values({ n: 3 }) }),
        create('again', keyOf('over'), { user: values({ b: 1 }) }),
      ],
      context,
    ),
  'an append to a session that expires': (store) => store.commit(append('e', keyOf('slides'), both), context),
  'an update of a user without sessions': (store) =>
    store.commit(update('u', { appName: 'app', userId: 'idle' }, { user: { set: { x: 1 }, unset: ['u'] } }), context),
  'a sweep of sessions': (store) => store.sweep({ limit: 10 }, context),
  'a sweep of values': (store) => store.sweep({ app: 'idle', limit: 10, userTtl: 0 }, context),
  'a trimming of the log': (store) => store.trimLog({ app: 'app' }, 1, context),
};

const why = whyNoRedisServer();

if (why) {
  test('redis with rights that are taken away', { skip: why });
} else {
  const { admin, clientOf, newPrefix, contentsOf } = await serverForTests(startRedisServer);

  for (const [index, command] of COMMANDS.entries()) {
    test(`without the right to ${command.toUpperCase()} each operation is made whole or not at all, and made once the right is back`, async () => {
      const username = `user${index}`;
      await admin.acl('SETUSER', username, 'on', '>secret', '~*', '&*', '+@all');
      const client = await clientOf(openIoredis, { username, password: 'secret' });
      let refusals = 0;
      for (const [what, operate] of Object.entries(OPERATIONS)) {
        const prefix = newPrefix();
        const store = redisStore(client, { prefix });
        await store.open({ migrate: 'create' }, context);
        const delta = { app: values({ n: 1 }), user: values({ u: 1 }), session: values({ a: 1 }) };
        await store.commit(create('c', keyOf('s'), delta), context);
        await store.commit(append('e0', keyOf('s'), { app: values({ n: 2 }) }), context);
        await store.lease(keyOf('s'), { holder: 'h', ttl: 60_000 }, context);
        await store.commit({ ...create('over', keyOf('over'), delta), expires: { at: 1 } }, context);
        await store.commit({ ...create('slides', keyOf('slides')), expires: { ttl: 1e9 } }, context);
        for (const appName of ['app', 'idle']) {
          await store.commit(
            update(`of ${appName}`, { appName, userId: 'idle' }, { user: values({ u: 1 }) }),
            context,
          );
        }
        const before = await contentsOf(prefix);

        await admin.acl('SETUSER', username, `-${command}`);
        const outcome = await operate(store).catch((error) => error);
        const all = Array.isArray(outcome) ? outcome : [outcome];
        const denied = all.filter((each) => each?.code === 'unavailable');
        if (denied.length > 0) {
          refusals += 1;
          const needless = (each) => !denied.includes(each) && each?.code !== 'not-found';
          assert.deepEqual(all.filter(needless), [], `${what}: some of it was done`);
          // A call that is refused may be remembered, and an app without anything be known as one of this version.
          const after = Object.entries(await contentsOf(prefix)).filter(([key]) => !/:(?:refused|a|apps)$/.test(key));
          const was = Object.entries(before).filter(([key]) => !/:(?:a|apps)$/.test(key));
          assert.deepEqual(after, was, what);
        } else {
          const failed = all.filter((each) => each instanceof Error && each.code !== 'not-found');
          assert.deepEqual(failed, [], what);
        }
        await admin.acl('SETUSER', username, `+${command}`);
        const again = await operate(store).catch((error) => error);
        assert.notEqual(again?.code, 'corrupt', what);
        if (denied.length > 0 && again instanceof Error) assert.equal(again.code, 'not-found', what);
        assert.ok((await store.loadScope({ app: 'app' }, context)).pos > 0, what);
        if (what !== 'a removal of a session') {
          assert.ok((await store.load(keyOf('s'), {}, context)).rev >= 1, what);
        }
      }
      assert.ok(refusals > 0, 'nothing was refused');
    });
  }
}
