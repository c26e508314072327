// What the store in Redis counts of scopes and sessions, and how it compares limits with that.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redisStore } from 'statepad/stores/redis';
import { startRedisServer, whyNoRedisServer } from '../../support/redis.mjs';
import { serverForTests } from './servers.mjs';
import { append, context, create, keyOf, numbers, update, values } from './words.mjs';

const why = whyNoRedisServer();

if (why) {
  test('redis: what is counted', { skip: why });
} else {
  const { admin, fresh } = await serverForTests(startRedisServer);
  const PLACES = { app: 'app', user: 'u:user', session: 's:=s\0user' };
  const bytes = (text) => Buffer.byteLength(text);
  const sizeOf = (state) =>
    Object.entries(state).reduce((sum, [name, value]) => sum + bytes(name) + bytes(JSON.stringify(value)), 0);

  for (const seed of [1, 2, 3]) {
    test(`random changes leave the bytes of what is there beside each scope: seed ${seed}`, async () => {
      const { store, prefix } = await fresh();
      const random = numbers(seed);
      const pick = (list) => list[random(list.length)];
      const NAMES = ['a', 'é', '😀', '', 'long name', '__proto__'];
      const VALUES = [0, -1.5, null, '', 'ü', '\u0007"\\', '😀', [1, ['ö']], { a: { b: 'é' } }, 1e21, '\ud800'];
      const OPERATORS = [
        { increment: 1 },
        { increment: 1e20 },
        { append: ['é', 1] },
        { append: [] },
        { setOnce: 'ö' },
        { compareAndSet: { value: '😀' } },
      ];
      const delta = () => ({
        set: Object.fromEntries(Array.from({ length: random(3) }, () => [`=${pick(NAMES)}`, pick(VALUES)])),
        unset: Array.from({ length: random(3) }, () => `=${pick(NAMES)}`),
      });
      let refused = 0;
      for (let step = 0; step < 150; step++) {
        const deltas = { app: delta(), user: delta(), session: delta() };
        const operators = { [pick(['app', 'user', 'session'])]: { [`o${random(3)}`]: pick(OPERATORS) } };
        await store
          .commit(append(`e${step}`, keyOf('s'), deltas, random(2) === 0 ? { operators } : {}), context)
          .catch(() => (refused += 1));
        if (random(40) === 0) await store.removeScope({ app: 'app', user: 'user' }, context);
        const { state } = await store.load(keyOf('s'), {}, context);
        for (const [scope, place] of Object.entries(PLACES)) {
          const counted = Number(await admin.hget(`${prefix}:{app}:${place}`, 's'));
          assert.equal(counted, sizeOf(state[scope]), `${scope}, step ${step}`);
        }
      }
      assert.ok(refused > 0 && refused < 75, `${refused}`);
    });
  }

  test('deltas of more names than are read at once are counted', async () => {
    const { store, prefix } = await fresh();
    const many = (count, value) =>
      values(Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, value])));
    await store.commit(append('e1', keyOf('s'), { session: many(2_500, 'ü') }), context);
    const unset = Object.keys(many(1_200).set);
    await store.commit(append('e2', keyOf('s'), { session: { set: many(2_000, 'longer').set, unset } }), context);
    const { state } = await store.load(keyOf('s'), {}, context);
    assert.equal(Number(await admin.hget(`${prefix}:{app}:${PLACES.session}`, 's')), sizeOf(state.session));
    // There are as many names as that and the first one: the order of the last one is beyond it.
    const write = (id, set, keys) =>
      store.commit(append(id, keyOf('s'), { session: { set } }, { limits: { keys } }), context);
    await assert.rejects(write('e3', { x: 1 }, 2_501), {
      code: 'limit',
      exceeded: 'keys',
      size: 2_502,
      limit: 2_501,
      scope: 'session',
    });
    await store.lease(keyOf('s'), { holder: 'h', ttl: 1_000 }, context);
    assert.equal((await write('e3', { x: 1 }, 2_502)).rev, 3);
  });

  test('names are counted without what the store keeps beside them, in each scope', async () => {
    const { store } = await fresh();
    const key = keyOf('all');
    const full = { app: values({ b: 1 }), user: values({ a: 1 }), session: values({ a: 1 }) };
    const event = { id: 'c', time: 1, data: '"c"' };
    await store.commit({ ...create('c', key, full), event, digest: 'd', expires: { ttl: 1e9 } }, context);
    await store.lease(key, { holder: 'h', ttl: 60_000 }, context);
    await store.trimLog({ app: 'app' }, 1, context);
    // The orders go beyond the numbers of names, so that these are counted.
    for (let n = 0; n < 5; n++) {
      const turn = (set, unset) => ({ app: { set, unset }, user: { set, unset }, session: { set, unset } });
      await store.commit(append(`t${n}`, key, turn({ [`x${n}`]: 1 }, [`x${n - 1}`])), context);
    }
    for (const scope of ['app', 'user', 'session']) {
      const write = (id, keys) =>
        store.commit(append(id, key, { [scope]: values({ [id]: 1 }) }, { limits: { keys } }), context);
      await assert.rejects(write(`${scope}3`, 2), { code: 'limit', exceeded: 'keys', size: 3, limit: 2, scope });
      assert.ok((await write(`${scope}3`, 3)).rev > 5);
    }
  });

  test('a change that is beyond a limit is refused in a batch, and the others are written', async () => {
    const { store } = await fresh();
    const limits = { state: 10, value: 5 };
    const answers = await store.commitMany(
      [
        { ...create('x', keyOf('x'), { session: values({ name: 'too long' }) }), limits },
        { ...create('y', keyOf('y'), { session: values({ n: 1 }) }), limits },
        update('z', { appName: 'app' }, {}, { operators: { app: { n: { append: ['é'] } } }, limits }),
      ],
      context,
    );
    assert.deepEqual(
      answers.map(({ code, exceeded, size, limit, scope, key, rev }) =>
        code ? [code, exceeded, size, limit, scope, key] : rev,
      ),
      [['limit', 'state', 14, 10, 'session', undefined], 0, ['limit', 'value', 6, 5, 'app', 'n']],
    );
  });

  test('a refusal for a limit is remembered where another try was made', async () => {
    const { store } = await fresh();
    const change = (limits) =>
      append('e', keyOf('s'), { session: values({ b: 1 }) }, { call: 'call', attempt: 2, digest: 'd', limits });
    await assert.rejects(store.commit(change({ events: 0 }), context), {
      code: 'limit',
      exceeded: 'events',
      size: 1,
      limit: 0,
    });
    await assert.rejects(store.commit({ ...change({}), attempt: 3 }, context), { code: 'conflict', digest: 'd' });
  });

  test('limits count what takes the place of an expired session alone', async () => {
    const { store } = await fresh();
    const big = { session: values({ a: 'x'.repeat(100), b: 1 }) };
    await store.commit({ ...create('old', keyOf('x'), big), expires: { at: 1 } }, context);
    const small = { ...create('new', keyOf('x'), { session: values({ c: 1 }) }), limits: { state: 2, keys: 1 } };
    assert.equal((await store.commit(small, context)).rev, 0);
    const next = append('e', keyOf('x'), { session: values({ c: 12 }) }, { limits: { state: 2 } });
    await assert.rejects(store.commit(next, context), { code: 'limit', exceeded: 'state', size: 3 });
  });
}
