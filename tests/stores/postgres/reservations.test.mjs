// Reservations: writers of the same values come one after the other, and nothing depends on it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { append, codeOf, create, keyOf, openedStore, update, withDatabase } from './database.mjs';

const times = { hold: 60_000, wait: 10_000 };
const APP = { appName: 'a' };

await withDatabase((database) => {
  const pool = database.pool();
  const open = (schema = database.schema(), client = pool) => openedStore(client, { schema });
  const updateN = (id, n, more = {}) => ({ ...update(id, { app: { set: { n } } }), ...more });

  test('one caller has the reservation at a time, and the others get it in the order of their requests', async () => {
    const schema = database.schema();
    const stores = [await open(schema), await open(schema, database.pool())];
    const first = await stores[0].reserve(APP, times);
    assert.equal(first.contended, false);
    // For as long as was asked for, and not only as long as a place in the queue is kept.
    assert.equal(
      (await pool.query(`select due > clock_timestamp() + interval '30 s' as held from ${schema}.reservations`))
        .rows[0].held,
      true,
    );
    const order = [];
    const waiting = [];
    for (const name of ['b', 'c', 'd']) {
      waiting.push(
        stores[waiting.length % 2].reserve(APP, times).then(async (reservation) => {
          order.push(name);
          assert.equal(reservation.contended, true);
          await new Promise((resolve) => setTimeout(resolve, 20));
          assert.equal(order.at(-1), name);
          await reservation.release();
        }),
      );
      const count = async () =>
        (await pool.query(`select count(*)::int as count from ${schema}.reservations`)).rows[0].count;
      while ((await count()) < waiting.length + 1) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    assert.deepEqual(order, []);
    await first.release();
    await Promise.all(waiting);
    assert.deepEqual(order, ['b', 'c', 'd']);
    assert.deepEqual((await pool.query(`select * from ${schema}.reservations`)).rows, []);
  });

  test('a reservation that had to be waited for is contended, and one that was free is not', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const first = await store.reserve(APP, times);
    const count = async () =>
      (await pool.query(`select count(*)::int as count from ${schema}.reservations`)).rows[0].count;
    const waiting = [];
    for (let n = 2; n <= 3; n++) {
      waiting.push(store.reserve(APP, times));
      while ((await count()) < n) await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await first.release();
    for (const next of waiting) {
      assert.equal((await next).contended, true);
      await (await next).release();
    }
    const alone = await store.reserve(APP, times);
    assert.equal(alone.contended, false);
  });

  test('sessions, users and apps have reservations of their own, and so have the schemas of one database', async () => {
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
    const reservations = await Promise.all(targets.map((target) => store.reserve(target, { hold: 60_000, wait: 0 })));
    const other = await (await open()).reserve(APP, { hold: 60_000, wait: 0 });
    assert.ok([...reservations, other].every((reservation) => reservation !== undefined && !reservation.contended));
    assert.equal(new Set(reservations.map(({ id }) => id)).size, targets.length);
    for (const target of targets) assert.equal(await store.reserve(target, { hold: 1, wait: 0 }), undefined);
  });

  test('a caller that gets no reservation in time gets undefined, and does not stand in the way of others', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const reservation = await store.reserve(APP, times);
    assert.equal(await store.reserve(APP, { hold: 1, wait: 30 }), undefined);
    const { rows } = await pool.query(`select target || ':' || ticket as id from ${schema}.reservations`);
    assert.deepEqual(rows, [{ id: reservation.id }]);
    const controller = new AbortController();
    const aborted = store.reserve(APP, times, { signal: controller.signal });
    controller.abort();
    assert.equal(await aborted, undefined);
    assert.equal((await pool.query(`select from ${schema}.reservations`)).rows.length, 1);
  });

  test('a reservation that nobody releases ends with its time', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const lost = await store.reserve(APP, { hold: 50, wait: 0 });
    const next = await store.reserve(APP, times);
    assert.notEqual(next.id, lost.id);
    // A late release changes nothing for the present holder.
    await lost.release();
    assert.equal(await store.reserve(APP, { hold: 1, wait: 0 }), undefined);
  });

  test('a place in the queue is lost when it is not asked for any more', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const first = await store.reserve(APP, times);
    await pool.query(`insert into ${schema}.reservations (target, ticket, due)
      select target, ticket + 1000, clock_timestamp() + interval '40 ms' from ${schema}.reservations; select setval('${schema}.tickets', 5000)`);
    const next = store.reserve(APP, times);
    await first.release();
    assert.ok(await next);
  });

  test('a change that is written releases the reservation in the same step, and one that is refused keeps it', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create());
    const isFree = async () => {
      const reservation = await store.reserve(APP, { hold: 60_000, wait: 0 });
      await reservation?.release();
      return reservation !== undefined;
    };
    const held = async () => (await store.reserve(APP, times)).id;

    let reservation = await held();
    assert.equal(
      await codeOf(store.commit(updateN('u0', 1, { reservation, guard: { pos: { app: 7 } } }))),
      'conflict',
    );
    assert.equal(
      await codeOf(store.commit(append('e0', {}, keyOf('nobody'), { reservation, attempt: 2 }))),
      'not-found',
    );
    assert.equal(await isFree(), false);
    await store.commit(updateN('u1', 1, { reservation }));
    assert.equal(await isFree(), true);

    reservation = await held();
    assert.equal((await store.commit(updateN('u1', 1, { reservation }))).duplicate, true);
    assert.equal(await isFree(), true);

    reservation = await held();
    await store.commitMany([append('e1', {}, keyOf(), { reservation }), updateN('u2', 2)]);
    assert.equal(await isFree(), true);
    reservation = await held();
    assert.equal((await store.commit(append('e1', {}, keyOf(), { reservation }))).duplicate, true);
    assert.equal(await isFree(), true);
    reservation = await held();
    await store.commit(create('d', {}, keyOf('t')));
    await store.commit({ ...create('f', {}, keyOf('f')), reservation });
    assert.equal(await isFree(), true);

    // A text that is no reservation of this store is ignored.
    for (const strange of ['', 'x', '1:2:3', '1', '1:99999999999999999999'])
      await store.commit(updateN(`strange ${strange}`, 1, { reservation: strange }));
  });

  test('many callers that count under reservations count exactly, each reading once and writing once', async () => {
    const schema = database.schema();
    const pools = Array.from({ length: 4 }, () => database.pool({ max: 2 }));
    const stores = await Promise.all(pools.map((client) => open(schema, client)));
    let refusals = 0;
    await Promise.all(
      Array.from({ length: 16 }, async (_, worker) => {
        const store = stores[worker % stores.length];
        for (let round = 0; round < 5; round++) {
          const reservation = await store.reserve(APP, times);
          for (let attempt = 0; ; attempt++) {
            const { pos, state } = await store.loadScope({ app: 'a' });
            const change = updateN(`${worker} ${round} ${attempt}`, (state.n ?? 0) + 1, {
              guard: { pos: { app: pos } },
              reservation: reservation.id,
            });
            if ((await codeOf(store.commit(change))) === 'none') break;
            refusals += 1;
          }
        }
      }),
    );
    assert.deepEqual(await stores[0].loadScope({ app: 'a' }).then(({ pos, state }) => [pos, state.n]), [80, 80]);
    assert.equal(refusals, 0);
  });

  test('a caller that waits for a reservation holds no connection: one for all is enough', async () => {
    const schema = database.schema();
    const store = await open(schema, database.pool({ max: 1 }));
    const reservation = await store.reserve(APP, times);
    const waiting = Array.from({ length: 5 }, () => store.reserve(APP, times));
    await store.commit(updateN('u', 1, { reservation: reservation.id }));
    for (const next of waiting) await (await next).release();
  });
});
