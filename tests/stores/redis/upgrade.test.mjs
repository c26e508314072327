// What version 1 has written, brought up to date: all of it, wherever an upgrade ends, and in a cluster.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { SessionService } from 'statepad';
import { redisStore } from 'statepad/stores/redis';
import { startRedisCluster, startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { clients } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { OLDER, callsOf, found, putVersion1, runVersion1 } from './v1.mjs';
import { append, assertSame, context, keyOf, update, values } from './words.mjs';

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
  const { admin, clientOf, newPrefix, contentsOf } = await serverForTests(startRedisServer);
  const send = (command) => admin.call(...command);

  for (const [name, make] of Object.entries(clients)) {
    test(`${name}: all that version 1 has written is there after the upgrade, and not before`, async () => {
      const client = await clientOf(make);
      const prefix = newPrefix();
      await putVersion1(send, prefix);
      const before = await contentsOf(prefix);
      const store = redisStore(client, { prefix });
      for (const migrate of ['create', 'check']) await assert.rejects(store.open({ migrate }, context), OLDER);
      assert.deepEqual(await contentsOf(prefix), before);
      await store.open({ migrate: 'upgrade' }, context);
      await assertFound(store);
      const upgraded = await contentsOf(prefix);
      assert.equal(await admin.get(`${prefix}:version`), '2');
      for (const migrate of ['upgrade', 'create', 'check'])
        await redisStore(client, { prefix }).open({ migrate }, context);
      assert.deepEqual(await contentsOf(prefix), upgraded);
    });
  }

  test('the updates that version 1 has made are known, and what follows is told as ever', async () => {
    const prefix = newPrefix();
    await putVersion1(send, prefix);
    const store = redisStore(admin, { prefix });
    await store.open({ migrate: 'upgrade' }, context);
    const again = await store.commit(update('u2', { appName: 'tutor' }, { app: values({ users: 4 }) }), context);
    const { pos } = await store.loadScope({ app: 'tutor' }, context);
    const { pos: ofAna } = await store.loadScope({ app: 'tutor', user: 'ana' }, context);
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
    assert.deepEqual(loaded.events, [{ rev: 5, data: '{"id":"n1"}', id: 'n1', pos: { app: pos + 1, user: ofAna } }]);
    // The log begins with what this version writes.
    const { base, entries } = await store.readLog({ app: 'tutor' }, {}, context);
    assert.deepEqual([base, entries.map(({ by }) => by?.eventId)], [pos, ['n1', undefined]]);
    assert.equal((await store.readLog({ app: 'tutor', user: 'ana' }, {}, context)).base, ofAna);
  });

  test('a service upgrades with one line, and another one says that line', async () => {
    const prefix = newPrefix();
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
    const whole = newPrefix();
    await putVersion1(send, whole);
    await redisStore(admin, { prefix: whole }).open({ migrate: 'upgrade' }, context);
    const expected = Object.entries(await contentsOf(whole)).map(([key, dump]) => [key.slice(whole.length), dump]);
    for (let commands = 1, isDone = false; !isDone; commands++) {
      for (const arrives of [false, true]) {
        const prefix = newPrefix();
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

  test('many sessions and users, and one session of many events, are upgraded some at a time', async () => {
    const prefix = newPrefix();
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
    const prefix = newPrefix();
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
