// Sessions that expire in the store in Redis: what is kept of them, how lists pass over them, and what sweeps remove.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { clients } from './clients.mjs';
import { clusterForTests, serverForTests } from './servers.mjs';
import { append, context, create, keyOf, numbers, update, values } from './words.mjs';

const OVER = { at: 1 };
const LATER = { at: 4e12 };
const expiring = (id, key, expires, delta, time) => ({ ...create(id, key, delta, time), expires });

const why = whyNoRedisServer();

if (why) {
  test('redis: sessions that expire', { skip: why });
} else {
  const { admin, clientOf, fresh, newPrefix, contentsOf } = await serverForTests(startRedisServer);
  const serverTime = async () => {
    const [seconds, micros] = await admin.time();
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  };
  /** The names of the keys under a prefix, without it. */
  const namesUnder = async (prefix) => (await admin.keys(`${prefix}:*`)).map((key) => key.slice(prefix.length)).sort();
  const sweepAll = (store, query = {}) => store.sweep({ limit: 1_000, ...query }, context);

  for (const [name, make] of Object.entries(clients)) {
    test(`${name}: a session slides by the clock of the server, and is gone from then on`, async () => {
      const store = redisStore(await clientOf(make), { prefix: newPrefix() });
      const key = keyOf('s');
      const before = await serverTime();
      const made = await store.commit(expiring('c', key, { ttl: 60_000 }), context);
      assert.ok(made.expires >= before + 60_000 && made.expires <= (await serverTime()) + 60_000);
      while ((await serverTime()) <= made.expires - 60_000);
      const written = await store.commit(append('e', key), context);
      assert.ok(written.expires > made.expires);
      const { rows } = await store.list({ app: 'app', descending: false }, context);
      assert.deepEqual(
        [(await store.load(key, {}, context)).expires, rows[0].expires],
        [written.expires, written.expires],
      );
      const short = await store.commit(expiring('d', keyOf('t'), { ttl: 1 }), context);
      while ((await serverTime()) < short.expires);
      assert.equal(await store.load(keyOf('t'), {}, context), null);
      await assert.rejects(store.commit(append('f', keyOf('t')), context), { code: 'not-found' });
    });
  }

  test('a session that expires has no key that the server would drop, and a sweep leaves nothing but that it was there', async () => {
    const { store, prefix } = await fresh();
    const before = await namesUnder(prefix);
    await store.commit(expiring('x', keyOf('x'), OVER, { session: values({ a: 1 }) }), context);
    await store.commit(expiring('y', keyOf('y', 'other'), { ttl: 60_000 }), context);
    await store.commit(append('e', keyOf('y', 'other')), context);
    for (const key of await admin.keys(`${prefix}:*`)) assert.equal(await admin.pttl(key), -1, key);
    assert.deepEqual(await sweepAll(store), { sessions: 1, users: 0, more: false });
    await admin.zadd(`${prefix}:{app}:expiring`, 1, '=y\0other');
    await admin.hset(`${prefix}:{app}:s:=y\0other`, 'e', '1');
    assert.deepEqual(await sweepAll(store), { sessions: 1, users: 0, more: false });
    assert.deepEqual(await namesUnder(prefix), [...before, ':{app}:removed'].sort());
    assert.deepEqual(await admin.zrange(`${prefix}:{app}:users`, 0, -1), ['=user']);
    assert.equal((await store.commit(expiring('x', keyOf('x'), OVER), context)).duplicate, true);
  });

  test('another session takes the place of one that has expired, in a batch, too, and that is still known as removed', async () => {
    const { store, prefix } = await fresh();
    const delta = { session: values({ old: 1 }) };
    await store.commit({ ...expiring('old', keyOf('x'), OVER, delta), digest: 'digest' }, context);
    const guard = { keys: { session: { unset: ['old'] } }, rev: 0 };
    const answers = await store.commitMany(
      [
        append('e', keyOf('s'), { session: values({ b: 1 }) }),
        { ...create('new', keyOf('x'), { session: values({ n: 1 }) }), guard },
        create('other', keyOf('z')),
      ],
      context,
    );
    assert.deepEqual(
      answers.map(({ rev, expires, duplicate }) => [rev, expires, duplicate]),
      [
        [1, undefined, undefined],
        [0, undefined, undefined],
        [0, undefined, undefined],
      ],
    );
    assert.deepEqual({ ...(await store.load(keyOf('x'), {}, context)).state.session }, { n: 1 });
    assert.deepEqual(await admin.exists(`${prefix}:{app}:expiring`, `${prefix}:{app}:x:user`), 0);
    assert.equal((await store.list({ app: 'app', descending: true }, context)).total, 3);
    const again = await store.commit(expiring('old', keyOf('x'), OVER), context);
    assert.deepEqual([again.duplicate, again.rev, again.prev, again.digest], [true, 0, 0, 'digest']);
    assert.deepEqual(await sweepAll(store), { sessions: 0, users: 0, more: false });
    assert.equal((await store.load(keyOf('x'), {}, context)).created, 'new');
  });

  test('pages pass over expired sessions, whatever their number, order and place', async () => {
    const store = redisStore(admin, { prefix: newPrefix() });
    const random = numbers(7);
    const all = Array.from({ length: 400 }, (_, index) => ({
      id: `s${String(index).padStart(3, '0')}`,
      user: `u${random(2)}`,
      time: random(30),
      isOver: random(3) > 0,
    }));
    const changes = all.map(({ id, user, time, isOver }) => ({
      ...create(id, keyOf(id, user), {}, time),
      ...(isOver && { expires: OVER }),
    }));
    await store.commitMany(changes, context);
    for (const user of [undefined, 'u0']) {
      const living = all.filter((each) => !each.isOver && (user === undefined || each.user === user));
      for (const descending of [false, true]) {
        const sign = descending ? -1 : 1;
        const sorted = [...living].sort((a, b) => sign * (a.time - b.time) || (a.id < b.id ? -1 : 1));
        const ids = sorted.map(({ id }) => id);
        const query = { app: 'app', descending, ...(user && { user }) };
        const read = async (part) => {
          const { rows, total } = await store.list({ ...query, ...part }, context);
          assert.equal(total, living.length);
          return rows.map(({ key }) => key.sessionId);
        };
        assert.deepEqual(await read({}), ids);
        for (const offset of [0, 1, 7, 60, ids.length - 1, ids.length, 1_000]) {
          for (const limit of [0, 1, 10, 1_000]) {
            assert.deepEqual(await read({ offset, limit }), ids.slice(offset, offset + limit), `${offset} ${limit}`);
          }
        }
        // Also behind a place whose session has expired.
        for (const { id: sessionId, user: userId, time } of all.slice(0, 60)) {
          const behind = sorted.filter(
            (each) => sign * (each.time - time) > 0 || (each.time === time && each.id > sessionId),
          );
          const page = await read({ limit: 9, after: { sessionId, userId, time } });
          assert.deepEqual(
            page,
            behind.slice(0, 9).map(({ id }) => id),
          );
        }
      }
    }
  });

  test('the users of a session id are those whose session has not expired', async () => {
    const store = redisStore(admin, { prefix: newPrefix() });
    await store.commit(expiring('a', keyOf('s', 'a'), OVER), context);
    await store.commit(expiring('b', keyOf('s', 'b'), LATER), context);
    await store.commit(create('c', keyOf('s', 'c')), context);
    assert.deepEqual(await store.owners('app', 's', context), ['b', 'c']);
  });

  test('a lease ends with a session that expires, and none is given for it', async () => {
    const { store, prefix } = await fresh();
    await store.commit(expiring('x', keyOf('x'), LATER), context);
    const { fence } = await store.lease(keyOf('x'), { holder: 'h', ttl: 60_000 }, context);
    await admin.hset(`${prefix}:{app}:s:=x\0user`, 'e', 1);
    await admin.zadd(`${prefix}:{app}:expiring`, 1, '=x\0user');
    assert.equal(await store.readLease(keyOf('x'), context), null);
    await assert.rejects(store.lease(keyOf('x'), { holder: 'h', ttl: 1_000, fence }, context), { code: 'not-found' });
    // It is not there: there is no token to compare.
    await store.remove(keyOf('x'), context, { created: 'x', fence: 7 });
    assert.equal((await store.commit(create('y', keyOf('x')), context)).rev, 0);
    assert.equal((await store.lease(keyOf('x'), { holder: 'other', ttl: 1_000 }, context)).fence, 1);
  });

  test('a sweep removes those that expired first, whatever their app, as many as it may', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    const apps = ['a', 'b', 'c d'];
    for (let n = 1; n <= 240; n++) {
      await store.commit(expiring(`c${n}`, keyOf(`s${n}`, `u${n % 5}`, apps[n % 3]), { at: n }), context);
    }
    const left = async () => {
      const lists = apps.map((app) => `${prefix}:{${encodeURIComponent(app)}}:expiring`);
      const members = await Promise.all(lists.map((list) => admin.zrange(list, 0, -1)));
      return members
        .flat()
        .map((member) => Number(/^=s(\d+)/.exec(member)[1]))
        .sort((one, other) => one - other);
    };
    const from = (first) => Array.from({ length: 241 - first }, (_, index) => first + index);
    assert.deepEqual(await store.sweep({ limit: 10 }, context), { sessions: 10, users: 0, more: true });
    assert.deepEqual(await left(), from(11));
    assert.deepEqual(await store.sweep({ limit: 130 }, context), { sessions: 130, users: 0, more: true });
    assert.deepEqual(await left(), from(141));
    assert.deepEqual(await store.sweep({ app: 'b', limit: 1_000 }, context), { sessions: 33, users: 0, more: false });
    assert.deepEqual(
      await left(),
      from(141).filter((n) => n % 3 !== 1),
    );
    assert.deepEqual(await sweepAll(store), { sessions: 67, users: 0, more: false });
  });

  test('a sweep passes over sessions with a key of another type, and says so when all others are removed', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    const changes = Array.from({ length: 130 }, (_, n) => expiring(`c${n}`, keyOf(`s${n}`, `u${n}`), { at: n + 1 }));
    await store.commitMany(changes, context);
    await store.commit(expiring('other', keyOf('other', 'u', 'another'), { at: 200 }), context);
    // More than one slice of sessions, and one with a list of another type.
    for (let n = 0; n < 60; n++) {
      await admin.del(`${prefix}:{app}:s:=s${n}\0u${n}`);
      await admin.set(`${prefix}:{app}:s:=s${n}\0u${n}`, 'x');
    }
    await admin.del(`${prefix}:{app}:l:u60`);
    await admin.set(`${prefix}:{app}:l:u60`, 'x');
    assert.deepEqual(await sweepAll(store), { sessions: 70, users: 0, more: true });
    await assert.rejects(sweepAll(store), { code: 'rejected', message: /another type/ });
    assert.equal(await admin.zcard(`${prefix}:{app}:expiring`), 61);
    assert.equal(await admin.zcard(`${prefix}:{another}:expiring`), 0);
  });

  test('a sweep asks apps that have nothing expired once', async () => {
    const prefix = newPrefix();
    const store = redisStore(admin, { prefix });
    for (let n = 0; n < 20; n++) await store.commit(create(`c${n}`, keyOf('s', 'u', `app ${n}`)), context);
    const changes = Array.from({ length: 200 }, (_, n) => expiring(`e${n}`, keyOf(`s${n}`), OVER));
    await store.commitMany(changes, context);
    await sweepAll(store, { limit: 1 });
    const callsOf = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await admin.info('commandstats'))[1]);
    const before = await callsOf();
    assert.deepEqual(await sweepAll(store), { sessions: 199, users: 0, more: false });
    // The names of the apps; each of 21 apps once; the one with sessions after each of four slices, and the slices.
    assert.equal((await callsOf()) - before, 1 + 21 + 4 + 4);
  });

  test('stores that sweep at once remove each session once, and tell other stores of it', async () => {
    const prefix = newPrefix();
    const subscriber = await clientOf(clients.ioredis);
    const [store, another] = [redisStore(admin, { prefix }), redisStore(await clientOf(clients.ioredis), { prefix })];
    const changes = Array.from({ length: 500 }, (_, n) => expiring(`c${n}`, keyOf(`s${n}`), OVER));
    await store.commitMany(changes, context);
    const messages = [];
    const heard = new Promise((resolve) => {
      subscriber.on('message', (_, message) => {
        messages.push(...message.split(' ').slice(1));
        if (messages.length === 500) resolve();
      });
    });
    await subscriber.subscribe(`${prefix}:hints`);
    const swept = await Promise.all([sweepAll(store), sweepAll(another), sweepAll(store)]);
    assert.equal(
      swept.reduce((sum, { sessions }) => sum + sessions, 0),
      500,
    );
    await heard;
    assert.equal(new Set(messages).size, 500);
    await subscriber.unsubscribe(`${prefix}:hints`);
  });

  test('a sweep that is not waited for any longer stops between two slices', async () => {
    const store = redisStore(admin, { prefix: newPrefix() });
    await store.commitMany(
      Array.from({ length: 250 }, (_, n) => expiring(`c${n}`, keyOf(`s${n}`), OVER)),
      context,
    );
    const controller = new AbortController();
    let answers = 0;
    const answered = () => {
      answers += 1;
      if (answers === 2) controller.abort();
    };
    const swept = await store.sweep({ limit: 1_000 }, { signal: controller.signal, answered });
    assert.deepEqual(swept, { sessions: 50, users: 0, more: true });
    assert.deepEqual(await sweepAll(store), { sessions: 200, users: 0, more: false });
  });

  test('the idle users are those who have values and no session, by the time of their last change', async () => {
    const { store, prefix } = await fresh();
    const idle = () => admin.zrange(`${prefix}:{app}:idle`, 0, -1);
    const scope = { appName: 'app', userId: 'ana' };
    const write = (id, delta) => store.commit(update(id, scope, { user: delta }), context);
    await write('1', values({ a: 1 }));
    assert.deepEqual(await idle(), ['=ana']);
    await write('2', { unset: ['a'] });
    assert.deepEqual(await idle(), []);
    await write('3', { set: { b: 1, c: 1 }, unset: ['b', 'c'] });
    await write('4', { unset: ['b'] });
    assert.deepEqual(await idle(), ['=ana']);
    await store.commit(create('x', keyOf('x', 'ana')), context);
    await store.commit(create('y', keyOf('y', 'ana')), context);
    await write('5', values({ a: 1 }));
    assert.deepEqual(await idle(), []);
    await store.remove(keyOf('x', 'ana'), context);
    assert.deepEqual(await idle(), []);
    await store.remove(keyOf('y', 'ana'), context);
    const [, since] = await admin.zrange(`${prefix}:{app}:idle`, 0, -1, 'WITHSCORES');
    assert.equal(since, await admin.hget(`${prefix}:{app}:u:ana`, 'w'));
    await store.removeScope({ app: 'app', user: 'ana' }, context);
    assert.deepEqual(await idle(), []);
    await store.commit(expiring('z', keyOf('z', 'ana'), OVER, { user: values({ a: 1 }) }), context);
    assert.deepEqual(await idle(), []);
    assert.deepEqual(await sweepAll(store), { sessions: 1, users: 0, more: false });
    assert.deepEqual(await idle(), ['=ana']);
  });

  test('values of idle users are swept as one change of them, which the log tells', async () => {
    const { store, prefix } = await fresh();
    const names = Array.from({ length: 130 }, (_, index) => `u${index}`);
    for (const userId of names) {
      await store.commit(
        update(`of ${userId}`, { appName: 'app', userId }, { user: values({ a: 1, b: 2 }) }),
        context,
      );
    }
    const old = names.slice(0, 120).flatMap((name, index) => [index + 1, `=${name}`]);
    await admin.zadd(`${prefix}:{app}:idle`, ...old);
    assert.deepEqual(await store.sweep({ limit: 5, userTtl: 60_000 }, context), { sessions: 0, users: 5, more: true });
    assert.deepEqual(await sweepAll(store), { sessions: 0, users: 0, more: false });
    assert.deepEqual(await sweepAll(store, { userTtl: 60_000 }), { sessions: 0, users: 115, more: false });
    assert.deepEqual(await store.loadScope({ app: 'app', user: 'u3' }, context), {
      pos: 2,
      state: Object.create(null),
    });
    const { entries } = await store.readLog({ app: 'app', user: 'u3' }, {}, context);
    assert.deepEqual(entries[1].writes, [
      { name: 'a', from: 1 },
      { name: 'b', from: 2 },
    ]);
    assert.deepEqual({ ...(await store.loadScope({ app: 'app', user: 'u125' }, context)).state }, { a: 1, b: 2 });
    assert.deepEqual(await sweepAll(store, { userTtl: 0 }), { sessions: 0, users: 10, more: false });
    assert.deepEqual(await sweepAll(store, { userTtl: 0 }), { sessions: 0, users: 0, more: false });
  });

  for (const [name, damage] of Object.entries({
    'is missing among those that expire': (prefix) => admin.del(`${prefix}:{app}:expiring`),
    'has an end that is no number': (prefix) => admin.hset(`${prefix}:{app}:s:=x\0user`, 'e', 'x'),
  })) {
    test(`a session that ${name} is corrupt, and is not written to`, async () => {
      const { store, prefix } = await fresh();
      await store.commit(expiring('x', keyOf('x'), LATER), context);
      await damage(prefix);
      const before = await contentsOf(prefix);
      await assert.rejects(store.load(keyOf('x'), {}, context), { code: 'corrupt' });
      await assert.rejects(store.commit(append('e', keyOf('x')), context), { code: 'corrupt' });
      await assert.rejects(store.commit(create('new', keyOf('x')), context), { code: 'corrupt' });
      assert.deepEqual(await contentsOf(prefix), before);
      await store.remove(keyOf('x'), context);
      assert.equal((await store.commit(create('new', keyOf('x')), context)).rev, 0);
    });
  }

  test('a sweep goes by what sessions say themselves, and corrects a list that says something else', async () => {
    const { store, prefix } = await fresh();
    const list = `${prefix}:{app}:expiring`;
    for (const id of ['later', 'never', 'torn']) await store.commit(expiring(id, keyOf(id), LATER), context);
    await admin.zadd(list, 1, '=later\0user', 1, '=never\0user', 1, '=torn\0user', 1, '=nobody\0user');
    await admin.hdel(`${prefix}:{app}:s:=never\0user`, 'e');
    await admin.del(...['s', 'e', 't', 'i'].map((part) => `${prefix}:{app}:${part}:=torn\0user`));
    // What is left of those that say nothing is removed.
    assert.deepEqual(await sweepAll(store), { sessions: 2, users: 0, more: false });
    assert.deepEqual(await admin.zrange(list, 0, -1, 'WITHSCORES'), ['=later\0user', '4000000000000']);
    assert.equal((await store.load(keyOf('never'), {}, context)).created, 'never');
    assert.equal((await store.commit(append('e', keyOf('later')), context)).expires, 4e12);
    assert.equal(await store.load(keyOf('torn'), {}, context), null);
  });

  for (const [place, change] of [
    ['expiring', expiring('n', keyOf('n'), LATER)],
    ['x:user', expiring('n', keyOf('n'), LATER)],
    ['idle', create('n', keyOf('n'))],
    ['idle', update('n', { appName: 'app', userId: 'user2' }, { user: values({ a: 1 }) })],
  ]) {
    test(`where something else sits in the place of ${place}, ${change.kind} is rejected and nothing is written`, async () => {
      const { store, prefix } = await fresh();
      await admin.pfadd(`${prefix}:{app}:${place}`, 'something');
      const before = await contentsOf(prefix);
      await assert.rejects(store.commit(change, context), { name: 'StoreError', code: 'rejected' });
      assert.deepEqual(await contentsOf(prefix), before);
    });
  }

  const { clients: clusterClients } = await clusterForTests();

  for (const [name, client] of Object.entries(clusterClients)) {
    test(`${name}: the apps of a cluster are swept on all its servers`, async () => {
      const store = redisStore(client, { prefix: `sweep-${name}` });
      const apps = ['a', 'b', 'c', 'd', 'e', 'f'];
      for (const app of apps) {
        await store.commit(expiring('x', keyOf('x', 'user', app), OVER, { user: values({ a: 1 }) }), context);
      }
      assert.deepEqual(await sweepAll(store, { userTtl: 0 }), { sessions: 6, users: 6, more: false });
      const { fence } = await store.claim('sweep', { holder: 'one', ttl: 60_000 }, context);
      await assert.rejects(store.claim('sweep', { holder: 'two', ttl: 60_000 }, context), { code: 'held' });
      assert.equal((await store.claim('sweep', { holder: 'one', ttl: 0, fence }, context)).fence, 2);
    });
  }
}
