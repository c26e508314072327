// The store in Redis, over each of the three clients.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { Redis as Upstash } from '@upstash/redis';
import { createClient } from 'redis';
import { memoryStore } from 'statepad/stores/memory';
import { redisStore } from 'statepad/stores/redis';
import { deleteKeys, startRedis, whyNoRedis } from '../../support/redis.mjs';
import { storeTests } from '../support/run.mjs';
import { clients, openIoredis, openUpstash } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { append, assertSame, context, create, keyOf, update } from './words.mjs';

/** Texts that are JSON, or look like the store's own words. */
const TRICKY = [
  '',
  '123',
  '-0',
  '1e21',
  'null',
  'true',
  '"text"',
  '{"a":1}',
  '[1]',
  '=',
  ':',
  '1:2',
  'OK',
  'a\0b',
  '\0',
  '\x01',
  '\x01\x02',
  '__proto__',
  '{b}',
  '%',
  '😀',
  '\uffff',
  '\ufeff',
  'é',
  ' ',
];

test('what is no connected client is refused, and the message says what to pass', async () => {
  const ended = new Redis({ lazyConnect: true });
  ended.disconnect();
  const shared = {
    defineCommand() {},
    eval: async () => null,
    evalsha: async () => null,
    subscribe: async () => null,
  };
  for (const [args, says] of [
    [[], /client must be a connected client, not undefined: pass new Redis/],
    [['redis://localhost'], /client must be a connected client, not .*: pass new Redis/],
    [[null], /not null: pass/],
    [[7], /not 7: pass/],
    [[{ eval: async () => null }], /none of ioredis, redis or @upstash\/redis: pass/],
    [[Redis], /not a function that creates one: pass new Redis/],
    [[Upstash], /not a function that creates one: pass new Redis/],
    [[createClient], /not a function that creates one: pass new Redis/],
    [[createClient()], /await client\.connect\(\) first/],
    [[ended], /not connected any more/],
    [[shared, { subscriber: {} }], /subscriber is none of/],
    [[shared, { subscriber: 'redis://localhost' }], /subscriber must be a connected client/],
    [[shared, { subscriber: createClient() }], /subscriber is not connected/],
    [[shared, { subscriber: shared }], /subscriber must be another client/],
    [[shared, { subscriber: { ...shared, subscribe: undefined } }], /subscriber must be a client that can subscribe/],
    [[shared, null], /options must be an object, not null/],
    [[shared, 'prefix'], /options must be an object/],
    [
      [shared, { prefx: 'a' }],
      /prefx is not known in the options, which are prefix, subscriber, durability, log: did you mean prefix\?/,
    ],
    [[shared, { prefix: 7 }], /prefix must be a string/],
    // They would choose the slot of a cluster.
    [[shared, { prefix: 'a{b}' }], /prefix must not have braces/],
    [[shared, { durability: 'always' }], /durability must be one of disk, os, memory, replicated/],
  ]) {
    assert.throws(() => redisStore(...args), { name: 'StatepadError', code: 'INVALID_ARGUMENT', message: says });
  }
});

test('a store watches when it has somebody to listen, and says how durable it was told to be', () => {
  const client = { defineCommand() {}, eval: async () => null, evalsha: async () => null };
  assert.equal(redisStore(client).watch, undefined);
  assert.equal(redisStore(client).durability, 'os');
  assert.equal(redisStore(client, { durability: 'disk' }).durability, 'disk');
});

const why = whyNoRedis();

if (why) {
  test('redis', { skip: why });
} else {
  const { admin, open, clientOf, newPrefix, withPrefix } = await serverForTests(startRedis);

  for (const [name, make] of Object.entries(clients)) {
    const [first, second, third, fourth] = await Promise.all([1, 2, 3, 4].map(() => open(make)));
    storeTests(`redis over ${name}`, () => {
      const prefix = newPrefix();
      const store = () => redisStore(first.client, { prefix, subscriber: third.client });
      return {
        store: store(),
        reopen: store,
        another: () => redisStore(second.client, { prefix, subscriber: fourth.client }),
        dispose: () => deleteKeys(admin, `${prefix}:`),
      };
    });
  }

  const ioredis = await clientOf(openIoredis);
  const variants = {
    ioredis: await open(openIoredis),
    'node-redis': await open(clients['node-redis']),
    'node-redis with RESP 2': await open(clients['node-redis'], { RESP: 2 }),
    upstash: await open(openUpstash),
    'upstash without deserialization': await open(openUpstash, { automaticDeserialization: false }),
    'upstash without Base64': await open(openUpstash, { responseEncoding: false }),
    'upstash with pipelining': await open(openUpstash, { enableAutoPipelining: true }),
  };

  for (const [name, { client }] of Object.entries(variants)) {
    test(`${name}: ids, names and values that look like something else come back as they are`, () =>
      withPrefix(async (prefix) => {
        const [store, memory] = [redisStore(client, { prefix }), memoryStore()];
        const both = async (action) => {
          const [actual, expected] = [await action(store), await action(memory)];
          assertSame(actual, expected);
        };
        for (const [index, text] of TRICKY.entries()) {
          const key = keyOf(text, TRICKY[(index + 1) % TRICKY.length], 'app');
          const values = { set: Object.fromEntries(TRICKY.map((each) => [each, `${text}${each}`])) };
          await both((each) => each.commit(create(text, key, { app: values, session: values }), context));
          await both((each) => each.commit(append(text, key, { user: values }, { data: text }), context));
          await both((each) => each.commit(append(text, key, { user: values }, { data: text }), context));
          await both((each) => each.load(key, {}, context));
          await both((each) =>
            each.commit(append('2', key, {}, { guard: { created: text, keys: { user: values } } }), context),
          );
        }
        await both((each) => each.list({ app: 'app', descending: false }, context));
        await both((each) => each.list({ app: 'app', descending: true }, context));
        for (const text of TRICKY) {
          const scope = { appName: text, userId: text };
          await both((each) =>
            each.commit(update(text, scope, { app: { set: { [text]: text } }, user: { set: { text } } }), context),
          );
          await both((each) => each.loadScope({ app: text, user: text }, context));
        }
      }));
  }

  test('apps, users and sessions whose names read the same when put together do not meet', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(ioredis, { prefix });
      const names = ['a', 'a:u', ':', 'a}', '{a', 'a%3A', 'a\0b', '\0b', 'l:a', '%', ''];
      const keys = names.flatMap((app) => names.flatMap((user) => names.map((session) => keyOf(session, user, app))));
      const made = await store.commitMany(
        keys.map((key, index) => create(`${index}`, key)),
        context,
      );
      assert.deepEqual(
        made,
        keys.map(() => ({ rev: 0, prev: null, pos: { app: 0, user: 0 }, before: {} })),
      );
      const loaded = await Promise.all(keys.map((key) => store.load(key, {}, context)));
      assert.deepEqual(
        loaded.map(({ created }) => created),
        keys.map((_, index) => `${index}`),
      );
      assert.equal((await store.list({ app: '', descending: false, limit: 0 }, context)).total, names.length ** 2);
    }));

  test("ioredis' own key prefix goes before all keys", () =>
    withPrefix(async (prefix) => {
      const { client } = await open(openIoredis, { keyPrefix: `${prefix}:mine:` });
      const store = redisStore(client);
      const key = keyOf('session');
      await store.open({ migrate: 'create' }, context);
      await store.commit(create('c', key, { app: { set: { a: 1 } } }), context);
      assert.equal((await store.list({ app: 'app', descending: true }, context)).rows.length, 1);
      assert.deepEqual({ ...(await store.load(key, {}, context)).state.app }, { a: 1 });
      assert.equal(await admin.exists(`${prefix}:mine:statepad:{app}:app`, `${prefix}:mine:statepad:version`), 2);
    }));

  test('many changes of an app are one round trip, and those of several apps are answered in their order', () =>
    withPrefix(async (prefix) => {
      let calls = 0;
      const counting = {
        defineCommand() {},
        eval: (...args) => ((calls += 1), ioredis.eval(...args)),
        evalsha: (...args) => ((calls += 1), ioredis.evalsha(...args)),
      };
      const store = redisStore(counting, { prefix });
      await store.commit(create('0', keyOf('0')), context);
      calls = 0;
      const changes = Array.from({ length: 64 }, (_, index) => create(`c${index}`, keyOf(`${index}`)));
      const answers = await store.commitMany(changes, context);
      assert.equal(calls, 1);
      assert.deepEqual(
        answers.map(({ code = 'written' }) => code),
        ['exists', ...Array(63).fill('written')],
      );
      calls = 0;
      const updates = (id) =>
        ['x', 'y', 'x', 'z', 'y', 'x'].map((app, index) =>
          update(`${id}${index}`, { appName: app }, { app: { set: { n: index } } }),
        );
      const positions = async (id) => (await store.commitMany(updates(id), context)).map(({ pos }) => pos.app);
      assert.deepEqual(await positions('u'), [1, 1, 2, 1, 2, 3]);
      // An app of which there is nothing yet is registered first.
      assert.equal(calls, 3 + 3 + 3);
      calls = 0;
      assert.deepEqual(await positions('v'), [4, 3, 5, 2, 4, 6]);
      assert.equal(calls, 3);
      assert.deepEqual(await store.commitMany([], context), []);
    }));

  test('a store is opened where it is wanted', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(ioredis, { prefix });
      await assert.rejects(store.open({ migrate: 'check' }, context), { code: 'rejected' });
      assert.equal(await admin.exists(`${prefix}:version`), 0);
      await store.open({ migrate: 'create' }, context);
      const made = await admin.get(`${prefix}:version`);
      assert.match(made, /^1:[0-9a-f]{8}$/);
      for (const migrate of ['check', 'create', 'upgrade']) await store.open({ migrate }, context);
      assert.equal(await admin.get(`${prefix}:version`), made);
    }));

  test('thousands of sessions of one time are paged through without gap or repeat', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(ioredis, { prefix });
      const total = 5_000;
      const ids = Array.from({ length: total }, (_, index) => `s${String((index * 7_919) % total).padStart(5, '0')}`);
      for (let index = 0; index < total; index += 500) {
        await store.commitMany(
          ids.slice(index, index + 500).map((id) => create(id, keyOf(id))),
          context,
        );
      }
      for (const descending of [false, true]) {
        const seen = [];
        for (let last; ;) {
          const after = last && { time: last.time, ...last.key };
          const { rows } = await store.list({ app: 'app', descending, limit: 100, ...(after && { after }) }, context);
          if (rows.length === 0) break;
          seen.push(...rows.map(({ key }) => key.sessionId));
          last = rows.at(-1);
        }
        assert.deepEqual(seen, [...ids].sort());
      }
    }));

  test('a session keeps all its keys under its name, and takes all of them with it', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(ioredis, { prefix });
      const key = keyOf('session');
      await store.commit(create('c', key, { session: { set: { a: 1 } } }), context);
      await store.commit(append('e', key), context);
      const app = [`${prefix}:apps`, `${prefix}:{app}:a`];
      assert.equal((await admin.keys(`${prefix}:*`)).length, app.length + 8);
      await store.remove(key, context);
      assert.deepEqual((await admin.keys(`${prefix}:*`)).sort(), [...app, `${prefix}:{app}:removed`]);
    }));

  test('an update is forgotten after a day, some at a time', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(ioredis, { prefix });
      const made = `${prefix}:{app}:updates`;
      const [now] = (await admin.time()).map(Number);
      const old = Array.from({ length: 40 }, (_, index) => [now - 90_000 - index, `old${index}`]);
      await admin.zadd(made, ...old.flat(), now - 80_000, 'young');
      await store.commit(update('new', { appName: 'app' }, { app: { set: { a: 1 } } }), context);
      assert.equal(await admin.zcard(made), 26);
      await store.commit(update('newer', { appName: 'app' }, { app: { set: { a: 1 } } }), context);
      await store.commit(update('newest', { appName: 'app' }, { app: { set: { a: 1 } } }), context);
      assert.deepEqual((await admin.zrange(made, 0, -1)).sort(), ['new', 'newer', 'newest', 'young']);
    }));

  test('what the operators of an update came to is forgotten with it', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(ioredis, { prefix });
      const [made, notes] = ['updates', 'notes'].map((name) => `${prefix}:{app}:${name}`);
      const count = (id) => ({
        ...update(id, { appName: 'app' }, {}),
        operators: { app: { n: { increment: 1 } } },
      });
      await store.commit(count('old'), context);
      await store.commit(count('young'), context);
      assert.deepEqual((await store.commit(count('old'), context)).results, {
        app: Object.assign(Object.create(null), { n: 1 }),
      });
      assert.deepEqual((await admin.hkeys(notes)).sort(), ['uold', 'uyoung']);
      // The server tells the time, not this process.
      const [now] = (await admin.time()).map(Number);
      await admin.zadd(made, now - 90_000, 'old');
      await store.commit(update('new', { appName: 'app' }, { app: { set: { a: 1 } } }), context);
      assert.deepEqual(await admin.hkeys(notes), ['uyoung']);
    }));

  test('the digests of refused calls and of removed sessions are forgotten with them', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(ioredis, { prefix });
      const keyIn = (name) => `${prefix}:{app}:${name}`;
      const refuse = (id) =>
        assert.rejects(
          store.commit(append('e', keyOf('none'), {}, { call: `call-${id}`, attempt: 2, digest: id }), context),
        );
      const remove = async (id) => {
        await store.commit({ ...create(id, keyOf(id)), digest: id }, context);
        await store.remove(keyOf(id), context);
      };
      for (const id of ['old', 'young']) {
        await refuse(id);
        await remove(id);
      }
      const noted = async () => (await admin.hvals(keyIn('notes'))).sort();
      assert.deepEqual(await noted(), ['=old', '=old', '=young', '=young']);
      const [now] = (await admin.time()).map(Number);
      for (const name of ['refused', 'removed']) {
        const old = (await admin.zrange(keyIn(name), 0, -1)).find((each) => each.endsWith('old'));
        await admin.zadd(keyIn(name), now - 90_000, old);
      }
      await refuse('new');
      assert.deepEqual(await noted(), ['=new', '=old', '=young', '=young']);
      await remove('new');
      assert.deepEqual(await noted(), ['=new', '=new', '=young', '=young']);
    }));

  test('hints of an own change are not heard, those of a batch are heard one by one', () =>
    withPrefix(async (prefix) => {
      const [{ client: ear }, { client: otherEar }] = await Promise.all([open(openIoredis), open(openIoredis)]);
      const [one, two] = [
        redisStore(ioredis, { prefix, subscriber: ear }),
        redisStore(ioredis, { prefix, subscriber: otherEar }),
      ];
      const heard = [];
      const until = async (isSo) => {
        for (const end = Date.now() + 10_000; !isSo();) {
          assert.ok(Date.now() < end, `only ${JSON.stringify(heard)}`);
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      };
      const ends = [one.watch((hint) => heard.push(['one', hint])), two.watch((hint) => heard.push(['two', hint]))];
      // Somebody else's word tells that both listen.
      await until(() => {
        admin.publish(`${prefix}:hints`, 'somebody %');
        admin.publish(`${prefix}:hints`, 'somebody ready');
        return new Set(heard.map(([who]) => who)).size === 2;
      });
      const changes = [
        create('a', keyOf('a b/c')),
        create('b', keyOf('', '')),
        update('u', { appName: 'app' }, { app: { set: { a: 1 } } }),
      ];
      await one.commitMany(changes, context);
      await two.commit(create('z', keyOf('z')), context);
      await one.remove(keyOf('z'), context);
      await two.removeScope({ app: 'app' }, context);
      const all = (who) =>
        heard.filter(([name, { appName }]) => name === who && appName !== 'ready').map(([, hint]) => hint);
      await until(() => all('one').length >= 2 && all('two').length >= 4);
      assert.deepEqual(all('one'), [keyOf('z'), { appName: 'app' }]);
      assert.deepEqual(all('two'), [keyOf('a b/c'), keyOf('', ''), { appName: 'app' }, keyOf('z')]);
      ends.forEach((stop) => stop());
      await Promise.all([one.close(), two.close()]);
      while ((await admin.pubsub('NUMSUB', `${prefix}:hints`))[1] > 0);
    }));
}
