// The log of the store in Postgres where it begins late, has holes, or is trimmed; and what goes with a session.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { logTests } from '../support/run.mjs';
import { append, codeOf, create, keyOf, openedStore, withDatabase } from './database.mjs';

await withDatabase((database) => {
  const pool = database.pool({ options: '-c synchronous_commit=off' });
  const open = (schema = database.schema(), options = {}) => openedStore(pool, { schema, ...options });
  const set = (values) => ({ app: { set: values } });
  const APP = { app: 'a' };
  logTests('postgres', async () => {
    const schema = database.schema();
    const [logged, unlogged] = [await open(schema), await open(schema, { log: false })];
    return {
      ...{ logged, unlogged },
      stored: async () => (await pool.query(`select count(*)::int as n from ${schema}.log`)).rows[0].n,
      spoil: (position) => pool.query(`update ${schema}.log set value = '{' where pos = ${position}`),
    };
  });

  test('a store without a log tells no positions, and trims none', async () => {
    const schema = database.schema();
    const [store, other] = [await open(schema), await open(schema, { log: false })];
    assert.deepEqual(['readLog' in other, 'trimLog' in other], [false, false]);
    await store.commit(create('c', set({ a: 0 })));
    await store.commit(append('e1', set({ a: 1 })));
    assert.ok((await other.load(keyOf(), {})).events.every((event) => !('pos' in event)));
  });

  test('a log that cannot be read says which value', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create('c', set({ a: 0 })));
    await pool.query(`update ${schema}.log set value = '{'`);
    await assert.rejects(store.readLog(APP, {}), { code: 'corrupt', message: /"a"/ });
  });

  test('leases and results go with their session; what the log says of it stays', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create());
    const lease = { holder: 'h', ttl: 60_000 };
    assert.equal((await store.lease(keyOf(), lease)).fence, 1);
    await store.commit(append('e', {}, keyOf(), { operators: { app: { n: { increment: 2 } } } }));
    await store.remove(keyOf());
    for (const table of ['sessions', 'events']) {
      assert.equal((await pool.query(`select from ${schema}.${table}`)).rows.length, 0, table);
    }
    assert.equal(await codeOf(store.lease(keyOf(), lease)), 'not-found');
    await store.commit(create('c2'));
    assert.equal(await codeOf(store.lease(keyOf(), { ...lease, fence: 1 })), 'fenced');
    assert.equal(await codeOf(store.commit(append('e', {}, keyOf(), { guard: { fence: 1 } }))), 'fenced');
    assert.equal((await store.lease(keyOf(), { ...lease, holder: 'other' })).fence, 1);
    const { entries } = await store.readLog(APP, {});
    assert.deepEqual(entries, [
      { pos: 1, time: 2, by: { userId: 'u', sessionId: 's', eventId: 'e' }, writes: [{ name: 'n', to: 2 }] },
    ]);
  });

  test('of many who ask for a lease at once one gets it, and what it holds off waits for no one', async () => {
    const schema = database.schema();
    const stores = await Promise.all(Array.from({ length: 4 }, () => open(schema)));
    await stores[0].commit(create());
    const ask = (index) => stores[index % 4].lease(keyOf(), { holder: `h${index}`, ttl: 60_000 });
    const answers = await Promise.allSettled(Array.from({ length: 24 }, (_, index) => ask(index)));
    const given = answers.flatMap(({ value }, index) => (value ? [{ ...value, holder: `h${index}` }] : []));
    assert.deepEqual([given.length, given[0].fence], [1, 1]);
    answers
      .filter(({ reason }) => reason)
      .forEach(({ reason }) => {
        assert.deepEqual([reason.code, reason.until], ['held', given[0].until]);
      });
    // Given back and taken again: the first holder writes nothing more, by any function.
    const [{ fence, holder }] = given;
    const last = await stores[1].lease(keyOf(), { holder, ttl: 0, fence });
    assert.equal(last.fence, 2);
    assert.equal((await ask(30)).fence, 3);
    const guard = { fence };
    const late = (id, more = {}) => append(id, {}, keyOf(), { guard, ...more });
    await stores[0].commit(create('d', {}, keyOf('t')));
    for (const changes of [
      [late('e1')],
      [late('e2', { attempt: 2 })],
      [late('e3', { operators: { app: { n: { increment: 1 } } } })],
      [late('e4'), append('e4', {}, keyOf('t'))],
      [late('e5'), append('e5', { app: { unset: ['x'] } }, keyOf('t'))],
    ]) {
      const [{ code, actual }] = await stores[0].commitMany(changes);
      assert.deepEqual([code, actual], ['fenced', 3]);
    }
    assert.equal((await stores[0].load(keyOf(), {})).rev, 0);
  });
});
