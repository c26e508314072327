// An upgrade to a version that is there for these tests alone: it gives every session the field `z`, and the values of
// each user another key.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { source } from '../../support/source.mjs';
import { clients } from './clients.mjs';
import { clusterForTests, serverForTests } from './servers.mjs';
import { append, context, create, keyOf, numbers, update, values } from './words.mjs';

const { SCHEMA, VERSION_TEXT, findStore, scriptRunner, upgrader } = await source(
  ...['version', 'open', 'client', 'upgrade'].map((name) => `stores/redis/${name}.ts`),
);

const NEXT_TEXT = '2:22222222';
const lua = String.raw`
local part = string.match(key, '}:(%a:)')
if part == 's:' and redis.call('EXISTS', key) == 1 then redis.call('HSET', key, 'z', '1') end
if part == 'u:' and redis.call('EXISTS', key) == 1 then redis.call('RENAME', key, (string.gsub(key, '}:u:', '}:w:', 1))) end
`;
const NEXT = { version: 2, layout: '22222222', upgrades: [{ from: VERSION_TEXT, to: NEXT_TEXT, lua }] };
/** The one after that. */
const LAST = {
  version: 3,
  layout: '33333333',
  upgrades: [
    ...NEXT.upgrades,
    {
      from: NEXT_TEXT,
      to: '3:33333333',
      lua: "if string.find(key, '}:w:', 1, true) then redis.call('UNLINK', key) end",
    },
  ],
};

const older = /has version 1, older than 2: open it once with new SessionService\(\{ store, migrate: 'upgrade' \}\)$/;
const OLDER = { name: 'StoreError', code: 'rejected', message: older };
const NEWER = { name: 'StoreError', code: 'rejected', message: /has version 2, newer than 1: update statepad$/ };

/** Opens what is under a prefix as a store of the next version does. */
async function openNext(client, prefix, migrate = 'upgrade', schema = NEXT) {
  const run = scriptRunner(client);
  await findStore(run, prefix, migrate, schema);
  if (migrate === 'upgrade') await upgrader(client, run, prefix, schema)();
}

const APPS = ['tutor', 'a b', 'third'];

/** Fills a store of this version. */
async function fill(store, apps = APPS) {
  await store.open({ migrate: 'create' }, context);
  for (const app of apps) {
    for (const [user, session] of [
      ['ana', 's'],
      ['ana', 't'],
      ['bob', 's'],
    ]) {
      const key = keyOf(session, user, app);
      await store.commit(create(`c-${user}-${session}`, key, { user: values({ n: 1 }) }), context);
      await store.commit(append('e', key, { app: values({ n: 1 }) }), context);
    }
  }
}

const why = whyNoRedisServer();

if (why) {
  test('redis: an upgrade', { skip: why });
} else {
  const { admin, clientOf, newPrefix, contentsOf } = await serverForTests(startRedisServer);
  /** The contents, by names without the prefix; those of users without the time of their last change. */
  const under = async (prefix) =>
    Promise.all(
      Object.entries(await contentsOf(prefix)).map(async ([key, dump]) => {
        const { w: time, ...others } = /\}:[uw]:/.test(key) ? await admin.hgetall(key) : {};
        return [key.slice(prefix.length), time === undefined ? dump : others];
      }),
    );

  /**
   * A client whose connection is gone after so many commands; the last one arrives, or does not, and is never
   * answered.
   */
  const cutAfter = (commands, arrives) => {
    let left = commands;
    const gone = new Error('Connection is closed.');
    const through =
      (name) =>
      async (...args) => {
        if (left <= 0) throw gone;
        left -= 1;
        if (left > 0) return admin[name](...args);
        if (arrives) await admin[name](...args);
        throw gone;
      };
    return {
      defineCommand() {},
      eval: through('eval'),
      evalsha: through('evalsha'),
      call: through('call'),
      isCut: () => left <= 0,
    };
  };

  for (const [name, make] of Object.entries(clients)) {
    test(`${name}: an older store is refused with the line that upgrades it, and is upgraded once`, async () => {
      const [client, prefix] = [await clientOf(make), newPrefix()];
      const store = redisStore(client, { prefix });
      await fill(store);
      const before = await contentsOf(prefix);
      for (const migrate of ['create', 'check']) await assert.rejects(openNext(client, prefix, migrate), OLDER);
      assert.deepEqual(await contentsOf(prefix), before);
      await openNext(client, prefix);
      assert.equal(await admin.get(`${prefix}:version`), NEXT_TEXT);
      const upgraded = await contentsOf(prefix);
      for (const app of APPS.map(encodeURIComponent)) {
        assert.equal(await admin.get(`${prefix}:{${app}}:a`), NEXT_TEXT);
        assert.equal(await admin.hget(`${prefix}:{${app}}:s:=s\0ana`, 'z'), '1');
        assert.equal(`${prefix}:{${app}}:u:ana` in upgraded, false);
        assert.equal(upgraded[`${prefix}:{${app}}:w:ana`], before[`${prefix}:{${app}}:u:ana`]);
      }
      for (const migrate of ['upgrade', 'create', 'check']) await openNext(client, prefix, migrate);
      assert.deepEqual(await contentsOf(prefix), upgraded);
      for (const migrate of ['upgrade', 'create', 'check']) {
        await assert.rejects(redisStore(client, { prefix }).open({ migrate }, context), NEWER);
      }
    });
  }

  test('versions are upgraded one after the other', async () => {
    const prefix = newPrefix();
    await fill(redisStore(admin, { prefix }));
    await openNext(admin, prefix, 'upgrade', LAST);
    assert.equal(await admin.get(`${prefix}:version`), '3:33333333');
    const keys = Object.keys(await contentsOf(prefix));
    assert.deepEqual(
      keys.filter((key) => /:[uw]:/.test(key)),
      [],
    );
    assert.equal(await admin.get(`${prefix}:{tutor}:a`), '3:33333333');
  });

  test('a store of the older version that goes on running is refused by each app that was begun with', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    await fill(store);
    // It opens, lists keys and puts up one fence.
    const client = cutAfter(4, false);
    await assert.rejects(openNext(client, prefix));
    const fences = await Promise.all(APPS.map((app) => admin.get(`${prefix}:{${encodeURIComponent(app)}}:a`)));
    const fenced = APPS.filter((_, index) => fences[index] === `${VERSION_TEXT}>${NEXT_TEXT}`);
    assert.equal(fenced.length, 1);
    const refuse = async (apps) => {
      const before = await contentsOf(prefix);
      for (const app of apps) {
        const key = keyOf('s', 'ana', app);
        for (const operation of [
          () => store.commit(append('late', key), context),
          () => store.commit(create('n', keyOf('new', 'ana', app)), context),
          () => store.commit(update('u', { appName: app }, { app: values({ n: 2 }) }), context),
          () => store.load(key, {}, context),
          () => store.list({ app, descending: false }, context),
          () => store.remove(key, context),
          () => store.removeScope({ app }, context),
          () => store.trimLog({ app }, 1, context),
          () => store.lease(key, { holder: 'h', ttl: 1_000 }, context),
          () => store.sweep({ app, limit: 1 }, context),
          () => store.sweep({ limit: 1, userTtl: 0 }, context),
        ]) {
          await assert.rejects(operation, NEWER);
        }
      }
      assert.deepEqual(await contentsOf(prefix), before);
    };
    await refuse(fenced);
    await openNext(admin, prefix);
    await refuse(APPS);
  });

  test('an upgrade that ended at any point goes on where it was', async () => {
    const whole = newPrefix();
    await fill(redisStore(admin, { prefix: whole }));
    await openNext(admin, whole);
    const expected = await under(whole);
    for (let commands = 1, isDone = false; !isDone; commands++) {
      for (const arrives of [false, true]) {
        const prefix = newPrefix();
        await fill(redisStore(admin, { prefix }));
        const client = cutAfter(commands, arrives);
        const outcome = await openNext(client, prefix).catch((error) => error);
        isDone = !client.isCut();
        assert.equal(outcome === undefined, isDone);
        if ((await admin.get(`${prefix}:version`)) === VERSION_TEXT) {
          await assert.rejects(openNext(admin, prefix, 'create'), OLDER);
        }
        await openNext(admin, prefix);
        assert.deepEqual(await under(prefix), expected, `${commands} ${arrives}`);
      }
    }
  });

  test('two processes upgrade at once, in whatever order their scripts come', async () => {
    const whole = newPrefix();
    await fill(redisStore(admin, { prefix: whole }));
    await openNext(admin, whole);
    const expected = await under(whole);
    for (let seed = 1; seed <= 12; seed++) {
      const prefix = newPrefix();
      await fill(redisStore(admin, { prefix }));
      const random = numbers(seed);
      const late =
        (name) =>
        async (...args) => {
          for (let turns = random(4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
          return admin[name](...args);
        };
      const client = () => ({ defineCommand() {}, eval: late('eval'), evalsha: late('evalsha'), call: late('call') });
      await Promise.all([openNext(client(), prefix), openNext(client(), prefix)]);
      assert.deepEqual(await under(prefix), expected, `seed ${seed}`);
    }
  });

  test('what a slow upgrade still sends when another one has ended changes nothing', async () => {
    const prefix = newPrefix();
    await fill(redisStore(admin, { prefix }));
    let release;
    const gate = new Promise((resolve) => (release = resolve));
    let moves = 0;
    const slow =
      (name) =>
      async (...args) => {
        // It waits before the first script that moves keys.
        if (name !== 'call' && args.at(-1) === `${VERSION_TEXT}>${NEXT_TEXT}` && moves++ === 0) await gate;
        return admin[name](...args);
      };
    const client = { defineCommand() {}, eval: slow('eval'), evalsha: slow('evalsha'), call: slow('call') };
    // The fence has been put up; its answer is what the upgrade waits for.
    const upgrading = openNext(client, prefix);
    while (moves === 0) await new Promise((resolve) => setImmediate(resolve));
    await openNext(admin, prefix);
    // As a store of the next version would write it: the old key has another meaning now.
    await admin.hset(`${prefix}:{tutor}:u:ana`, 'new', '1');
    const before = await contentsOf(prefix);
    release();
    await upgrading;
    assert.deepEqual(await contentsOf(prefix), before);
  });

  test('an upgrade goes on after its caller has given up, and the next try waits for the same one', async () => {
    const prefix = newPrefix();
    await fill(redisStore(admin, { prefix }));
    let scans = 0;
    const client = {
      defineCommand() {},
      eval: (...args) => admin.eval(...args),
      evalsha: (...args) => admin.evalsha(...args),
      call: async (name, ...args) => {
        scans += name === 'SCAN' && args[0] === '0' ? 1 : 0;
        return admin.call(name, ...args);
      },
    };
    const upgrade = upgrader(client, scriptRunner(client), prefix, NEXT);
    await Promise.all([upgrade(), upgrade()]);
    // One pass that puts up fences, and one that finds nothing new.
    assert.equal(scans, 2);
  });

  test('where there is nothing to upgrade no key is listed', async () => {
    const prefix = newPrefix();
    const client = {
      defineCommand() {},
      eval: (...args) => admin.eval(...args),
      evalsha: (...args) => admin.evalsha(...args),
      call: (name, ...args) => (name === 'SCAN' ? assert.fail('it lists keys') : admin.call(name, ...args)),
    };
    assert.deepEqual(SCHEMA.upgrades, []);
    await redisStore(client, { prefix }).open({ migrate: 'upgrade' }, context);
  });

  test('an app that the older version makes after the upgrade is taken by the next one', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    await fill(store);
    await openNext(admin, prefix);
    await store.commit(create('c', keyOf('s', 'ana', 'late'), { user: values({ n: 1 }) }), context);
    await openNext(admin, prefix, 'create');
    assert.equal(await admin.get(`${prefix}:{late}:a`), VERSION_TEXT);
    await openNext(admin, prefix);
    assert.equal(await admin.get(`${prefix}:{late}:a`), NEXT_TEXT);
    assert.equal(await admin.exists(`${prefix}:{late}:w:ana`), 1);
    await assert.rejects(store.load(keyOf('s', 'ana', 'late'), {}, context), NEWER);
  });

  for (const seed of [1, 2, 3, 4]) {
    test(`nothing that the older version was told is written gets lost while an upgrade runs: seed ${seed}`, async () => {
      const prefix = newPrefix();
      const store = redisStore(admin, { prefix });
      await fill(store);
      const random = numbers(seed);
      const pick = (list) => list[random(list.length)];
      // The acknowledged names: the sessions and users that there are.
      const told = new Set();
      let step = 0;
      const writeSome = async () => {
        for (let times = random(3); times > 0; times--) {
          const [app, user] = [pick(['tutor', 'late0', 'late1']), pick(['ana', 'new'])];
          const key = keyOf(`s${(step += 1)}`, user, app);
          const outcome = await store
            .commit(create(`c${step}`, key, { user: values({ n: step }) }), context)
            .catch(({ code }) => assert.equal(code, 'rejected'));
          if (outcome !== undefined) told.add(`{${app}}:s:=s${step}\0${user}`).add(`{${app}}:w:${user}`);
        }
      };
      const between =
        (name) =>
        async (...args) => {
          await writeSome();
          const answer = await admin[name](...args);
          await writeSome();
          return answer;
        };
      const client = { defineCommand() {}, eval: between('eval'), evalsha: between('evalsha'), call: between('call') };
      await writeSome();
      await openNext(client, prefix);
      // A second open upgrades the writes of the very end.
      await openNext(admin, prefix);
      assert.ok(told.size > 3);
      for (const name of told) {
        assert.equal(await admin.exists(`${prefix}:${name}`), 1, name);
        if (name.includes('}:s:')) assert.equal(await admin.hget(`${prefix}:${name}`, 'z'), '1', name);
      }
      const keys = Object.keys(await contentsOf(prefix));
      assert.deepEqual(
        keys.filter((key) => key.includes('}:u:')),
        [],
      );
    });
  }

  test('many keys are upgraded some at a time', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    await store.open({ migrate: 'create' }, context);
    const keys = Array.from({ length: 700 }, (_, index) => keyOf(`s${index}`, `user${index}`, 'big'));
    await store.commitMany(
      keys.map((key) => create(key.sessionId, key, { user: values({ n: 1 }) })),
      context,
    );
    await openNext(admin, prefix);
    const names = Object.keys(await contentsOf(prefix));
    assert.equal(names.filter((name) => name.includes('}:w:')).length, 700);
    assert.equal(names.filter((name) => name.includes('}:u:')).length, 0);
  });

  const { clients: clusterClients } = await clusterForTests();

  for (const [name, client] of Object.entries(clusterClients)) {
    test(`${name}: a cluster is upgraded, on all its servers`, async () => {
      const prefix = `cluster-${name}`;
      const store = redisStore(client, { prefix });
      const apps = ['a', 'b', 'c', 'd', 'e', 'f'];
      await fill(store, apps);
      await assert.rejects(openNext(client, prefix, 'create'), OLDER);
      await openNext(client, prefix);
      const slots = await Promise.all(
        apps.map((app) => clusterClients.ioredis.cluster('KEYSLOT', `${prefix}:{${app}}:a`)),
      );
      assert.ok(slots.some((slot) => slot < 8_192) && slots.some((slot) => slot >= 8_192));
      for (const app of apps) {
        assert.equal(await clusterClients.ioredis.get(`${prefix}:{${app}}:a`), NEXT_TEXT);
        assert.equal(await clusterClients.ioredis.exists(`${prefix}:{${app}}:w:bob`), 1);
        await assert.rejects(store.commit(append('late', keyOf('s', 'ana', app)), context), NEWER);
      }
    });
  }
}
