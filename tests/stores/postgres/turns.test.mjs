// Turns: those who want to write the same values come one after the other, and nothing depends on it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { append, codeOf, context, create, keyOf, withDatabase } from './database.mjs';

const times = { hold: 60_000, wait: 10_000 };
const APP = { appName: 'a' };

await withDatabase((database) => {
  const pool = database.pool();
  const open = async (schema = database.schema(), client = pool) => {
    const store = postgresStore(client, { schema });
    await store.open({ migrate: 'create' }, context);
    return store;
  };
  const update = (id, n, more = {}) => ({
    id,
    kind: 'update',
    key: APP,
    time: 1,
    delta: { app: { set: { n } } },
    ...more,
  });

  test('one has the turn at a time, and the others get it in the order in which they have asked', async () => {
    const schema = database.schema();
    const stores = [await open(schema), await open(schema, database.pool())];
    const first = await stores[0].reserve(APP, times, context);
    assert.equal(first.contended, false);
    // For as long as was asked for, and not only as long as a place in the queue is kept.
    assert.equal(
      (await pool.query(`select due > clock_timestamp() + interval '30 s' as held from ${schema}.turns`)).rows[0].held,
      true,
    );
    const order = [];
    const waiting = [];
    for (const name of ['b', 'c', 'd']) {
      waiting.push(
        stores[waiting.length % 2].reserve(APP, times, context).then(async (turn) => {
          order.push(name);
          assert.equal(turn.contended, true);
          await new Promise((resolve) => setTimeout(resolve, 20));
          assert.equal(order.at(-1), name);
          await turn.release();
        }),
      );
      const count = async () => (await pool.query(`select count(*)::int as count from ${schema}.turns`)).rows[0].count;
      while ((await count()) < waiting.length + 1) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    assert.deepEqual(order, []);
    await first.release();
    await Promise.all(waiting);
    assert.deepEqual(order, ['b', 'c', 'd']);
    assert.deepEqual((await pool.query(`select * from ${schema}.turns`)).rows, []);
  });

  test('a turn that had to be waited for is contended, and one that was free is not', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const first = await store.reserve(APP, times, context);
    const count = async () => (await pool.query(`select count(*)::int as count from ${schema}.turns`)).rows[0].count;
    const waiting = [];
    for (let n = 2; n <= 3; n++) {
      waiting.push(store.reserve(APP, times, context));
      while ((await count()) < n) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await first.release();
    for (const next of waiting) {
      assert.equal((await next).contended, true);
      await (await next).release();
    }
    const alone = await store.reserve(APP, times, context);
    assert.equal(alone.contended, false);
  });

  test('sessions, users and apps have turns of their own, and so have the schemas of one database', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const targets = [
      APP,
      { appName: 'b' },
      { appName: 'a', userId: 'u' },
      { appName: 'a', userId: '' },
      keyOf('s'),
      keyOf('t'),
      keyOf('s', 'v'),
    ];
    const turns = await Promise.all(
      targets.map((target) => store.reserve(target, { hold: 60_000, wait: 0 }, context)),
    );
    const other = await (await open()).reserve(APP, { hold: 60_000, wait: 0 }, context);
    assert.ok([...turns, other].every((turn) => turn !== undefined && !turn.contended));
    assert.equal(new Set(turns.map(({ id }) => id)).size, targets.length);
    for (const target of targets) assert.equal(await store.reserve(target, { hold: 1, wait: 0 }, context), undefined);
  });

  test('who does not get a turn in time is told so, and does not stand in the way of others', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const turn = await store.reserve(APP, times, context);
    assert.equal(await store.reserve(APP, { hold: 1, wait: 30 }, context), undefined);
    const { rows } = await pool.query(`select target || ':' || ticket as id from ${schema}.turns`);
    assert.deepEqual(rows, [{ id: turn.id }]);
    const controller = new AbortController();
    const aborted = store.reserve(APP, times, { signal: controller.signal });
    controller.abort();
    assert.equal(await aborted, undefined);
    assert.equal((await pool.query(`select from ${schema}.turns`)).rows.length, 1);
  });

  test('a turn that nobody gives back is over when its time is', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const lost = await store.reserve(APP, { hold: 50, wait: 0 }, context);
    const next = await store.reserve(APP, times, context);
    assert.notEqual(next.id, lost.id);
    // A late release changes nothing for the present holder.
    await lost.release();
    assert.equal(await store.reserve(APP, { hold: 1, wait: 0 }, context), undefined);
  });

  test('a place in the queue is lost when it is not asked for any more', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const first = await store.reserve(APP, times, context);
    await pool.query(`insert into ${schema}.turns (target, ticket, due)
      select target, ticket + 1000, clock_timestamp() + interval '40 ms' from ${schema}.turns; select setval('${schema}.tickets', 5000)`);
    const next = store.reserve(APP, times, context);
    await first.release();
    assert.ok(await next);
  });

  test('a change that is written gives the turn back in the same step, and one that is refused keeps it', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create(), context);
    const isFree = async () => {
      const turn = await store.reserve(APP, { hold: 60_000, wait: 0 }, context);
      await turn?.release();
      return turn !== undefined;
    };
    const held = async () => (await store.reserve(APP, times, context)).id;

    let turn = await held();
    assert.equal(
      await codeOf(store.commit(update('u0', 1, { turn, guard: { pos: { app: 7 } } }), context)),
      'conflict',
    );
    assert.equal(
      await codeOf(store.commit(append('e0', {}, keyOf('nobody'), { turn, attempt: 2 }), context)),
      'not-found',
    );
    assert.equal(await isFree(), false);
    await store.commit(update('u1', 1, { turn }), context);
    assert.equal(await isFree(), true);

    turn = await held();
    assert.equal((await store.commit(update('u1', 1, { turn }), context)).duplicate, true);
    assert.equal(await isFree(), true);

    turn = await held();
    await store.commitMany([append('e1', {}, keyOf(), { turn }), update('u2', 2)], context);
    assert.equal(await isFree(), true);
    turn = await held();
    assert.equal((await store.commit(append('e1', {}, keyOf(), { turn }), context)).duplicate, true);
    assert.equal(await isFree(), true);
    turn = await held();
    await store.commit(create('d', {}, keyOf('t')), context);
    await store.commit({ ...create('f', {}, keyOf('f')), turn }, context);
    assert.equal(await isFree(), true);

    // A text that is no turn of this store is ignored.
    for (const strange of ['', 'x', '1:2:3', '1', '1:99999999999999999999'])
      await store.commit(update(`strange ${strange}`, 1, { turn: strange }), context);
  });

  test('many who count in turns count exactly, each reading once and writing once', async () => {
    const schema = database.schema();
    const pools = Array.from({ length: 4 }, () => database.pool({ max: 2 }));
    const stores = await Promise.all(pools.map((client) => open(schema, client)));
    let refusals = 0;
    await Promise.all(
      Array.from({ length: 16 }, async (_, worker) => {
        const store = stores[worker % stores.length];
        for (let round = 0; round < 5; round++) {
          const turn = await store.reserve(APP, times, context);
          for (let attempt = 0; ; attempt++) {
            const { pos, state } = await store.loadScope({ app: 'a' }, context);
            const change = update(`${worker} ${round} ${attempt}`, (state.n ?? 0) + 1, {
              guard: { pos: { app: pos } },
              turn: turn.id,
            });
            if ((await codeOf(store.commit(change, context))) === 'none') break;
            refusals += 1;
          }
        }
      }),
    );
    assert.deepEqual(
      await stores[0].loadScope({ app: 'a' }, context).then(({ pos, state }) => [pos, state.n]),
      [80, 80],
    );
    assert.equal(refusals, 0);
  });

  test('who waits for a turn holds no connection: one for all is enough', async () => {
    const schema = database.schema();
    const store = await open(schema, database.pool({ max: 1 }));
    const turn = await store.reserve(APP, times, context);
    const waiting = Array.from({ length: 5 }, () => store.reserve(APP, times, context));
    await store.commit(update('u', 1, { turn: turn.id }), context);
    for (const next of waiting) await (await next).release();
  });
});
