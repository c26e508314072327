// What version 1 has written, brought up to date, while processes of version 1 may go on running.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { SessionService } from 'statepad';
import { redisStore } from 'statepad/stores/redis';
import { startRedisCluster, startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { clients } from './clients.mjs';
import { callsOf, changeOf, found, putVersion1, removalOf, runVersion1, scopeRemovalOf } from './v1.mjs';
import { append, assertSame, context, create, keyOf, numbers, update } from './words.mjs';

const OLDER = {
  name: 'StoreError',
  code: 'rejected',
  message: /has version 1, older than 2: open it once with new SessionService\(\{ store, migrate: 'upgrade' \}\)$/,
};
const NEWER = { name: 'StoreError', code: 'rejected', message: /has version 3, newer than 2: update statepad$/ };
const values = (set) => ({ set });

/** Whether a store has all that version 1 read, and further things where they are asked for. */
async function assertFound(store) {
  for (const { key, loaded } of found.sessions) {
    const { last, marks, events, ...rest } = await store.load(key, { events: { from: 0 } }, context);
    assertSame({ ...rest, events: events.map(({ rev, data }) => ({ rev, data })) }, loaded);
    assert.deepEqual(marks, {});
    assert.equal(last, events.findLast(({ rev }) => rev > 0)?.id);
    // Each event is known by the id that it tells.
    for (const { rev, id, data } of events) {
      if (rev > 0) {
        const again = await store.commit(append(id, key), context);
        assert.deepEqual([again.duplicate, again.data, again.rev], [true, data, loaded.rev]);
      }
    }
  }
  for (const { query, page } of found.lists) {
    const actual = await store.list(query, context);
    assertSame({ ...actual, users: Object.fromEntries(actual.users) }, page, JSON.stringify(query));
  }
  for (const { scope, loaded } of found.scopes)
    assertSame(await store.loadScope(scope, context), loaded, JSON.stringify(scope));
}

const why = whyNoRedisServer();

if (why) {
  test('redis: an upgrade', { skip: why });
} else {
  const server = await startRedisServer();
  const admin = new Redis(server.url);
  const opened = [];
  after(async () => {
    await Promise.all(opened.map(({ end }) => end()));
    admin.disconnect();
    await server.stop();
  });
  const send = (command) => admin.call(...command);
  let count = 0;
  const fresh = () => `upgrade${(count += 1)}`;

  /** Everything under a prefix. */
  const contentsOf = async (prefix) => {
    const keys = (await admin.keys(`${prefix}:*`)).sort();
    return Object.fromEntries(
      await Promise.all(keys.map(async (key) => [key, (await admin.dumpBuffer(key)).toString('base64')])),
    );
  };

  for (const [name, make] of Object.entries(clients)) {
    test(`${name}: all that version 1 has written is there after the upgrade, and not before`, async () => {
      const one = await make(server.url);
      opened.push(one);
      const prefix = fresh();
      await putVersion1(send, prefix);
      const before = await contentsOf(prefix);
      const store = redisStore(one.client, { prefix });
      for (const migrate of ['create', 'check']) await assert.rejects(store.open({ migrate }, context), OLDER);
      assert.deepEqual(await contentsOf(prefix), before);
      await store.open({ migrate: 'upgrade' }, context);
      await assertFound(store);
      const upgraded = await contentsOf(prefix);
      assert.equal(await admin.get(`${prefix}:version`), '2');
      for (const migrate of ['upgrade', 'create', 'check'])
        await redisStore(one.client, { prefix }).open({ migrate }, context);
      assert.deepEqual(await contentsOf(prefix), upgraded);
    });
  }

  test('the updates that version 1 has made are known, and what follows is told as ever', async () => {
    const prefix = fresh();
    await putVersion1(send, prefix);
    const store = redisStore(admin, { prefix });
    await store.open({ migrate: 'upgrade' }, context);
    const again = await store.commit(update('u2', { appName: 'tutor' }, { app: values({ users: 4 }) }), context);
    const { pos } = await store.loadScope({ app: 'tutor' }, context);
    assert.deepEqual([again.duplicate, again.pos.app], [true, pos]);
    const key = keyOf('monday', 'ana', 'tutor');
    const known = { pos: { app: pos }, marks: { app: 'u2' } };
    const written = await store.commit(append('n1', key, { app: values({ motto: 'new' }) }, { known }), context);
    assert.deepEqual([written.rev, written.before, written.changed], [5, { session: '=e4' }, undefined]);
    assert.equal((await store.loadScope({ app: 'tutor' }, context)).mark, 'n1');
    const next = await store.commit(update('n2', { appName: 'tutor' }, { app: { unset: ['motto'] } }), context);
    assert.deepEqual(next.before, { app: 'n1' });
    const loaded = await store.load(
      key,
      { known: { pos: { app: pos + 1 }, marks: { app: 'n1' } }, events: { last: 1 } },
      context,
    );
    assert.deepEqual([{ ...loaded.changed.app.set }, loaded.changed.app.unset], [{}, ['motto']]);
    assert.deepEqual(loaded.events, [{ rev: 5, data: '{"id":"n1"}', id: 'n1' }]);
  });

  test('a service upgrades with one line, and another one says that line', async () => {
    const prefix = fresh();
    await putVersion1(send, prefix);
    const request = { appName: 'tutor', userId: 'ana', sessionId: 'tuesday' };
    const service = (options) => new SessionService({ store: redisStore(admin, { prefix }), ...options });
    const refused = service({});
    await assert.rejects(refused.getSession(request), ({ message }) => message.includes("migrate: 'upgrade'"));
    await refused.close();
    const upgrading = service({ migrate: 'upgrade' });
    assert.equal((await upgrading.getSession(request)).revision, 12);
    await upgrading.close();
    const next = service({});
    assert.equal((await next.getSession(request)).revision, 12);
    await next.close();
  });

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

  test('an upgrade that ended at any point goes on where it was', async () => {
    const whole = fresh();
    await putVersion1(send, whole);
    await redisStore(admin, { prefix: whole }).open({ migrate: 'upgrade' }, context);
    const expected = Object.entries(await contentsOf(whole)).map(([key, dump]) => [key.slice(whole.length), dump]);
    for (let commands = 1, isDone = false; !isDone; commands++) {
      for (const arrives of [false, true]) {
        const prefix = fresh();
        await putVersion1(send, prefix);
        const client = cutAfter(commands, arrives);
        const outcome = await redisStore(client, { prefix })
          .open({ migrate: 'upgrade' }, context)
          .catch((error) => error);
        isDone = !client.isCut();
        assert.equal(outcome === undefined, isDone);
        const [store, status] = [redisStore(admin, { prefix }), await admin.get(`${prefix}:version`)];
        if (status === '1') {
          await assert.rejects(store.open({ migrate: 'create' }, context), OLDER);
          // Nothing is hidden meanwhile: an app is refused, or it is there as a whole.
          for (const { key, loaded } of found.sessions) {
            const answer = await store.load(key, { events: { from: 0 } }, context).catch(({ code }) => code);
            assert.ok(answer === 'rejected' || answer?.rev === loaded.rev, JSON.stringify(answer));
          }
        }
        await store.open({ migrate: 'upgrade' }, context);
        assert.deepEqual(
          Object.entries(await contentsOf(prefix)).map(([key, dump]) => [key.slice(prefix.length), dump]),
          expected,
        );
        if (!arrives && commands % 8 === 1) await assertFound(store);
      }
    }
  });

  test('nothing that version 1 sends after the upgrade is acknowledged or written, whatever it is', async () => {
    const prefix = fresh();
    await putVersion1(send, prefix);
    await redisStore(admin, { prefix }).open({ migrate: 'upgrade' }, context);
    const before = await contentsOf(prefix);
    // All that it once wrote, and more for each app and user that there is.
    const calls = callsOf(prefix);
    for (const {
      key: { appName: app, userId: user, sessionId: session },
    } of found.sessions.filter(({ key }) => key.appName !== '')) {
      calls.push(
        changeOf(prefix, {
          kind: 'append',
          id: 'late',
          app,
          user,
          session,
          sets: [
            ['a', 'x', 1],
            ['u', 'y', 1],
            ['s', 'z', 1],
          ],
        }),
      );
      calls.push(changeOf(prefix, { kind: 'create', id: 'late', app, user, session: 'late' }));
      calls.push(changeOf(prefix, { kind: 'update', id: 'late', app, user, sets: [['u', 'y', 1]] }));
      calls.push(
        removalOf(prefix, { app, user, session }),
        scopeRemovalOf(prefix, { app }),
        scopeRemovalOf(prefix, { app, user }),
      );
    }
    for (const call of calls) {
      const outcome = await runVersion1(admin, call).catch(({ message }) => message);
      const isRefused =
        /WRONGTYPE/.test(outcome) || (Array.isArray(outcome) && outcome.every(([status]) => status === 'failed'));
      // Where a user has no state there is none to delete.
      const hasState = call.keys[0].replace('}:u:', '}:v:') in before;
      const isNothing = call.script === 'removeScope' && outcome === 0 && !hasState;
      assert.ok(isRefused || isNothing, `${call.script} ${JSON.stringify(call.keys)}: ${JSON.stringify(outcome)}`);
    }
    assert.deepEqual(await contentsOf(prefix), before);
  });

  test('an app that version 2 has made first is closed to version 1', async () => {
    for (const change of [
      create('c', keyOf('session')),
      create('c', keyOf('session'), { user: values({ a: 1 }) }),
      update('u', { appName: 'app' }, { app: values({ a: 1 }) }),
      update('u', { appName: 'app', userId: 'user' }, { user: values({ a: 1 }) }),
    ]) {
      const prefix = fresh();
      const store = redisStore(admin, { prefix });
      await store.open({ migrate: 'create' }, context);
      await store.commit(change, context);
      const before = await contentsOf(prefix);
      for (const kind of ['create', 'append', 'update']) {
        const answer = await runVersion1(
          admin,
          changeOf(prefix, { kind, id: 'v1', session: 'other', sets: [['u', 'x', 1]] }),
        );
        assert.equal(answer[0][0], 'failed');
      }
      await assert.rejects(runVersion1(admin, removalOf(prefix, {})), /WRONGTYPE/);
      assert.deepEqual(await contentsOf(prefix), before);
    }
  });

  test('an app that version 1 has made after the upgrade is refused by every operation, until the next upgrade', async () => {
    for (const calls of [
      [{ kind: 'create', id: 'c' }],
      [
        {
          kind: 'create',
          id: 'c',
          sets: [
            ['a', 'n', 1],
            ['u', 'n', 1],
          ],
        },
        { kind: 'append', id: 'e', sets: [['u', 'n', 1]] },
      ],
      [{ kind: 'update', id: 'u', sets: [['u', 'n', 1]] }],
      [{ kind: 'update', id: 'u', sets: [['a', 'n', 1]] }],
      // What is left is a user's state alone.
      [{ kind: 'create', id: 'c', sets: [['u', 'n', 1]] }, 'removal'],
    ]) {
      const prefix = fresh();
      const store = redisStore(admin, { prefix });
      await store.open({ migrate: 'create' }, context);
      for (const call of calls) {
        await runVersion1(admin, call === 'removal' ? removalOf(prefix, {}) : changeOf(prefix, call));
      }
      const isLeft = calls.includes('removal');
      const before = await contentsOf(prefix);
      const key = keyOf('session');
      const operations = [
        () => store.commit(create('new', keyOf('new')), context),
        () => store.commit(append('e', key), context),
        () => store.commit(update('u2', { appName: 'app', userId: 'user' }, { user: values({ a: 1 }) }), context),
        () => store.loadScope({ app: 'app', user: 'user' }, context),
        () => store.removeScope({ app: 'app', user: 'user' }, context),
        ...(isLeft
          ? []
          : [
              () => store.load(key, {}, context),
              () => store.list({ app: 'app', descending: false }, context),
              () => store.loadScope({ app: 'app' }, context),
              () => store.remove(key, context),
              () => store.removeScope({ app: 'app' }, context),
            ]),
      ];
      for (const operation of operations) await assert.rejects(operation, OLDER);
      const { [`${prefix}:left`]: left, ...rest } = await contentsOf(prefix);
      assert.deepEqual(rest, before);
      assert.ok(left);
      await redisStore(admin, { prefix }).open({ migrate: 'upgrade' }, context);
      const n = {
        user: await store.loadScope({ app: 'app', user: 'user' }, context),
        app: await store.loadScope({ app: 'app' }, context),
      };
      const sets = calls.flatMap((call) => call.sets ?? []);
      for (const [scope, letter] of [
        ['app', 'a'],
        ['user', 'u'],
      ]) {
        assert.equal(n[scope].state.n, sets.some(([of]) => of === letter) ? 1 : undefined);
      }
      const loaded = await store.load(key, {}, context);
      assert.equal(loaded?.rev, isLeft || calls[0].kind === 'update' ? undefined : calls.length - 1);
      assert.equal(await admin.exists(`${prefix}:left`), 0);
      assert.equal(
        (await runVersion1(admin, changeOf(prefix, { kind: 'update', id: 'late', sets: [['u', 'n', 2]] })))[0][0],
        'failed',
      );
    }
  });

  test('a user and a session of version 1 that an upgrade has missed are refused, and the next one takes them', async () => {
    const prefix = fresh();
    const store = redisStore(admin, { prefix });
    const key = keyOf('session');
    await store.open({ migrate: 'create' }, context);
    await store.commit(create('c', key), context);
    await store.commit(append('e1', key), context);
    await store.commit(create('o', keyOf('session', 'other')), context);
    const ids = `${prefix}:{app}:i:=session\0user`;
    await admin.del(ids);
    await admin.hset(ids, 'e1', '1');
    await admin.hset(`${prefix}:{app}:u:other`, 'p', '3', 'n', '1', '=a', '1:7');
    for (const operation of [
      () => store.load(key, {}, context),
      () => store.commit(append('e2', key), context),
      () => store.remove(key, context),
      () => store.load(keyOf('session', 'other'), {}, context),
      () => store.commit(append('e1', keyOf('session', 'other')), context),
      () => store.list({ app: 'app', descending: true }, context),
    ])
      await assert.rejects(operation, OLDER);
    const answers = await store.commitMany([append('e2', key), create('fine', keyOf('fine', 'third'))], context);
    assert.deepEqual(
      answers.map(({ code = 'written' }) => code),
      ['rejected', 'written'],
    );
    await store.open({ migrate: 'upgrade' }, context);
    assert.equal((await store.load(key, {}, context)).last, 'e1');
    assert.deepEqual({ ...(await store.load(keyOf('session', 'other'), {}, context)).state.user }, { a: 7 });
    assert.equal((await store.list({ app: 'app', descending: true }, context)).total, 3);
  });

  test('a store refuses an app, and everything, that a later version has taken over', async () => {
    const prefix = fresh();
    const store = redisStore(admin, { prefix });
    const key = keyOf('session');
    await store.open({ migrate: 'create' }, context);
    await store.commit(create('c', key), context);
    await admin.set(`${prefix}:{app}:a`, '3');
    const before = await contentsOf(prefix);
    for (const operation of [
      () => store.commit(append('e', key), context),
      () => store.commit(create('d', keyOf('other')), context),
      () => store.commit(update('u', { appName: 'app' }, { app: values({ a: 1 }) }), context),
      () => store.commitMany([append('e', key)], context),
      () => store.load(key, {}, context),
      () => store.list({ app: 'app', descending: true }, context),
      () => store.remove(key, context),
      () => store.loadScope({ app: 'app' }, context),
      () => store.removeScope({ app: 'app' }, context),
    ])
      await assert.rejects(operation, NEWER);
    assert.deepEqual(await contentsOf(prefix), before);
    assert.equal((await store.commit(create('c', keyOf('session', 'user', 'elsewhere')), context)).rev, 0);
    await admin.set(`${prefix}:version`, '3');
    for (const migrate of ['create', 'check', 'upgrade'])
      await assert.rejects(store.open({ migrate }, context), NEWER);
    assert.equal(await admin.get(`${prefix}:version`), '3');
  });

  for (const seed of [1, 2, 3, 4, 5, 6]) {
    test(`nothing that version 1 was told is written gets lost while an upgrade runs: seed ${seed}`, async () => {
      const prefix = fresh();
      await putVersion1(send, prefix);
      const random = numbers(seed);
      const pick = (list) => list[random(list.length)];
      // What was acknowledged: the last event of each session, the last value of each user and app.
      const told = new Map();
      let step = 0;
      const writeSome = async () => {
        for (let times = random(3); times > 0; times--) {
          const [app, user, session] = [
            pick(['tutor', 'plain', 'users', 'late0', 'late1', 'late2']),
            pick(['ana', 'new']),
            pick(['s', 't']),
          ];
          const kind = pick(['create', 'append', 'update']);
          step += 1;
          const sets = pick([
            [],
            [['u', 'n', step]],
            [['a', 'n', step]],
            [
              ['a', 'n', step],
              ['u', 'n', step],
            ],
          ]);
          const outcome = await runVersion1(
            admin,
            changeOf(prefix, { kind, id: `v1-${step}`, app, user, session, sets }),
          ).catch(() => []);
          if (outcome[0]?.[0] !== 'written') continue;
          for (const [scope] of sets) told.set(JSON.stringify(scope === 'a' ? { app } : { app, user }), step);
          if (kind !== 'update')
            told.set(JSON.stringify(keyOf(session, user, app)), kind === 'append' ? `v1-${step}` : undefined);
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
      await redisStore(client, { prefix }).open({ migrate: 'upgrade' }, context);
      await writeSome();
      assert.ok(told.size > 3);
      const store = redisStore(admin, { prefix });
      await store.open({ migrate: 'create' }, context);
      const ask = async (place) =>
        'appName' in place ? store.load(place, {}, context) : store.loadScope(place, context);
      for (let isUpgraded = false; ; isUpgraded = true) {
        let left = 0;
        for (const [text, expected] of told) {
          const place = JSON.parse(text);
          const answer = await ask(place).catch(({ code }) => code);
          if (answer === 'rejected') left += 1;
          else assert.equal('appName' in place ? answer.last : answer.state.n, expected, text);
        }
        if (left === 0) break;
        assert.ok(!isUpgraded);
        await redisStore(admin, { prefix }).open({ migrate: 'upgrade' }, context);
      }
    });
  }

  test('many sessions and users, and one session of many events, are upgraded some at a time', async () => {
    const prefix = fresh();
    const base = `${prefix}:{big}:`;
    await admin.set(`${prefix}:version`, '1');
    const events = 30_000;
    const [lists, pipeline] = [[`${base}l`, `${base}l:u`], admin.pipeline()];
    for (let index = 0; index < 600; index++) {
      const member = `=s${index}\0u`;
      const count = index % 300 === 0 ? events : 1;
      lists.forEach((list) => pipeline.zadd(list, 1_000, member));
      pipeline.hset(`${base}s:${member}`, 'c', `=c${index}`, 'r', count, 't', 1_000);
      for (let first = 1; first <= count; first += 10_000) {
        const revs = Array.from({ length: Math.min(10_000, count - first + 1) }, (_, place) => first + place);
        pipeline
          .rpush(`${base}e:${member}`, ...revs.map((rev) => `="${rev}"`))
          .rpush(`${base}t:${member}`, ...revs.map(() => '1000'));
        pipeline.hset(`${base}i:${member}`, ...revs.flatMap((rev) => [`e${rev}`, rev]));
      }
      pipeline.hset(`${base}u:user${index}`, 'p', index + 1, 'n', 1, '=a', `1:${index}`);
    }
    await pipeline.exec();
    const store = redisStore(admin, { prefix });
    await store.open({ migrate: 'upgrade' }, context);
    for (let index = 0; index < 600; index += 1) {
      const { rev, last } = await store.load(keyOf(`s${index}`, 'u', 'big'), { events: { last: 1 } }, context);
      assert.deepEqual([rev, last], index % 300 === 0 ? [events, `e${events}`] : [1, 'e1']);
      const { pos, state } = await store.loadScope({ app: 'big', user: `user${index}` }, context);
      assert.deepEqual([pos, state.a], [index + 1, index]);
    }
    const { events: some } = await store.load(
      keyOf('s300', 'u', 'big'),
      { events: { from: 19_998, to: 20_003 } },
      context,
    );
    assert.deepEqual(
      some.map(({ rev, id, data }) => [id, data, rev]),
      [19_998, 19_999, 20_000, 20_001, 20_002, 20_003].map((rev) => [`e${rev}`, `"${rev}"`, rev]),
    );
    assert.equal((await store.list({ app: 'big', descending: false, limit: 0 }, context)).total, 600);
  });

  test('an upgrade goes on after its caller has given up, and the next try waits for the same one', async () => {
    const prefix = fresh();
    await putVersion1(send, prefix);
    let [scans, release] = [0, undefined];
    const gate = new Promise((resolve) => (release = resolve));
    const client = {
      defineCommand() {},
      eval: (...args) => admin.eval(...args),
      evalsha: (...args) => admin.evalsha(...args),
      call: async (name, ...args) => {
        if (name === 'SCAN' && args[0] === '0') {
          scans += 1;
          await gate;
        }
        return admin.call(name, ...args);
      },
    };
    const store = redisStore(client, { prefix });
    const [first, second] = [store.open({ migrate: 'upgrade' }, context), store.open({ migrate: 'upgrade' }, context)];
    release();
    await Promise.all([first, second]);
    // One pass that puts up fences, and one that finds nothing new.
    assert.equal(scans, 2);
    await assertFound(store);
  });

  const cluster = await startRedisCluster();
  const [ioredis, nodeRedis] = [
    new Cluster(cluster.nodes, { retryDelayOnTryAgain: 5 }),
    createCluster({ rootNodes: cluster.servers.map(({ url }) => ({ url })) }),
  ];
  nodeRedis.on('error', () => {});
  await nodeRedis.connect();
  after(async () => {
    ioredis.disconnect();
    nodeRedis.destroy();
    await cluster.stop();
  });
  for (const [name, client] of Object.entries({ ioredis, 'node-redis': nodeRedis })) {
    test(`${name}: a cluster is upgraded, on all its servers`, async () => {
      const prefix = `cluster-${name}`;
      await putVersion1((command) => ioredis.call(...command), prefix);
      const store = redisStore(client, { prefix });
      await assert.rejects(store.open({ migrate: 'create' }, context), OLDER);
      await store.open({ migrate: 'upgrade' }, context);
      assert.equal(store.durability, 'disk');
      await assertFound(store);
      const slots = await Promise.all(callsOf(prefix).map(({ keys }) => ioredis.cluster('KEYSLOT', keys[0])));
      assert.ok(slots.some((slot) => slot < 8_192) && slots.some((slot) => slot >= 8_192));
      for (const call of callsOf(prefix)) {
        const outcome = await runVersion1(ioredis, call).catch(() => [['failed']]);
        assert.ok(outcome === 0 || outcome[0][0] === 'failed');
      }
      await assertFound(store);
    });
  }
}
