// Limits and sweeps in Postgres: the numbers that are kept beside scopes and sessions, and sweeps beside writers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { append, create, keyOf, openedStore, statisticsAreWritten, update, withDatabase } from './database.mjs';

await withDatabase((database) => {
  const pool = database.pool({ options: '-c synchronous_commit=off' });

  /** What is kept beside each scope and session, and what its values come to. */
  const counted = async (schema) => {
    const { rows } = await pool.query(`
      select owner.no, owner.names, owner.bytes::int, count(state.name)::int as real_names,
        coalesce(sum(octet_length(state.value) + ${schema}.name_size(state.name)), 0)::int as real_bytes
      from (select no, names, bytes from ${schema}.scopes union all select no, names, bytes from ${schema}.sessions) owner
      left join ${schema}.state state on state.owner = owner.no
      group by owner.no, owner.names, owner.bytes`);
    return rows;
  };

  test('the numbers beside scopes and sessions are those of their values, whoever writes at once', async () => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    const keys = Array.from({ length: 8 }, (_, i) => keyOf(`s${i}`, `u${i % 3}`));
    await store.commitMany(keys.map((key, i) => create(`c${i}`, { session: { set: { 'a\0': 'ä' } } }, key)));
    const random = (n) => Math.floor(Math.random() * n);
    const delta = () => {
      const set = { [`n${random(6)}\x01`]: 'x'.repeat(random(20)) };
      return random(3) === 0 ? { set, unset: [`n${random(6)}\x01`, 'absent'] } : { set };
    };
    const limits = { keys: 5, state: 80, events: 1_000 };
    const refusals = new Set();
    const work = async (worker) => {
      for (let round = 0; round < 25; round += 1) {
        const chosen = [...keys].sort(() => Math.random() - 0.5).slice(0, 1 + random(4));
        const changes = chosen.map((key, i) => {
          const parts = { session: delta(), ...(random(2) && { app: delta() }), ...(random(2) && { user: delta() }) };
          const operators = random(4) === 0 ? { operators: { app: { list: { append: [round] } } } } : {};
          return append(`${worker} ${round} ${i}`, parts, key, { limits, ...operators });
        });
        if (random(4) === 0) changes.push(update(`u${worker} ${round}`, { app: delta() }, { appName: 'a' }));
        (await store.commitMany(changes)).forEach(({ code, exceeded }) => code && refusals.add(`${code} ${exceeded}`));
      }
    };
    await Promise.all(Array.from({ length: 4 }, (_, worker) => work(worker)));
    const rows = await counted(schema);
    assert.equal(rows.length, 12);
    for (const row of rows) assert.deepEqual([row.names, Number(row.bytes)], [row.real_names, row.real_bytes]);
    assert.deepEqual([...refusals].sort(), ['limit keys', 'limit state']);
  });

  test('several sweeps beside writers remove each session once, and nobody waits in a circle', async () => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    const deadlocks = async () => {
      await statisticsAreWritten(pool);
      const { rows } = await pool.query('select deadlocks from pg_stat_database where datname = current_database()');
      return rows[0].deadlocks;
    };
    const before = await deadlocks();
    const creations = Array.from({ length: 300 }, (_, i) => ({
      ...create(`c${i}`, { user: { set: { x: i } } }, keyOf(`s${i}`, `u${i % 30}`)),
      ...(i % 3 > 0 && { expires: { at: 1_000 + i } }),
    }));
    await store.commitMany(creations);
    let swept = 0;
    const sweeping = async () => {
      for (let more = true; more;) {
        const answer = await store.sweep({ limit: 7, userTtl: 1e9 });
        swept += answer.sessions;
        more = answer.more;
      }
    };
    const writing = async (worker) => {
      for (let i = 0; i < 20; i += 1) {
        const key = keyOf(`s${i * 3}`, `u${(i * 3) % 30}`);
        const id = `e${worker} ${i}`;
        await store.commitMany([append(id, { user: { set: { x: id } }, app: { set: { y: id } } }, key)]);
        await store.commit(create(`new ${worker} ${i}`, {}, keyOf(`new ${worker} ${i}`, `u${i}`)));
      }
    };
    await Promise.all([sweeping(), sweeping(), writing(1), writing(2)]);
    assert.equal(swept, 200);
    assert.equal((await store.list({ app: 'a', limit: 1 })).total, 140);
    assert.equal(await deadlocks(), before);
    const { rows } = await pool.query(
      `select count(*)::int as count from ${schema}.sessions where expires is not null`,
    );
    assert.equal(rows[0].count, 0);
  });

  test('a sweep that only counts comes to what one removes, whatever its limit, and writes nothing', async () => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    const setUser = { user: { set: { x: 1 } } };
    const changes = Array.from({ length: 40 }, (_, i) => ({
      ...create(`c${i}`, i % 2 === 0 ? setUser : {}, keyOf(`s${i}`, `u${i % 20}`, i < 30 ? 'a' : 'b')),
      expires: { at: 1_000 },
    }));
    await store.commitMany([...changes, create('d', {}, keyOf('living', 'u4'))]);
    await store.commit(update('idle', setUser, { appName: 'a', userId: 'idle' }));
    const contents = async () => {
      const tables = ['scopes', 'sessions', 'state', 'events'];
      const texts = tables.map((name) =>
        pool.query(`select json_agg(t order by t::text)::text from ${schema}.${name} t`),
      );
      return (await Promise.all(texts)).map(({ rows }) => rows[0].json_agg);
    };
    const before = await contents();
    const count = (query) => store.sweep({ limit: Number.MAX_SAFE_INTEGER, ...query, dry: true });
    // Of the users with values, ten in one app and five in the other, one has a session that has not expired.
    const all = { sessions: 40, users: 9 + 5 + 1, more: false };
    assert.deepEqual(await count({}), { ...all, users: 0 });
    assert.deepEqual(await count({ userTtl: 0 }), all);
    assert.deepEqual(await count({ userTtl: 1e9 }), { ...all, users: 0 });
    assert.deepEqual(await count({ app: 'b', userTtl: 0 }), { sessions: 10, users: 5, more: false });
    assert.deepEqual(await count({ app: 'none', userTtl: 0 }), { sessions: 0, users: 0, more: false });
    assert.deepEqual(await count({ limit: 7, userTtl: 0 }), { sessions: 7, users: 0, more: true });
    assert.deepEqual(await count({ limit: 42, userTtl: 0 }), { sessions: 40, users: 2, more: true });
    assert.deepEqual(await contents(), before);
    assert.deepEqual(await store.sweep({ limit: 1_000, userTtl: 0 }), all);
    assert.deepEqual(await count({ userTtl: 0 }), { sessions: 0, users: 0, more: false });
  });

  test('a sweep of all apps removes those that expired first, whichever the apps', async () => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    const apps = Array.from({ length: 30 }, (_, i) => `app ${i}`);
    const placed = (i) => keyOf(`s${i}`, 'u', apps[(i * 7) % (i < 60 ? 3 : 30)]);
    await store.commitMany(
      Array.from({ length: 200 }, (_, i) => ({ ...create(`c${i}`, {}, placed(i)), expires: { at: 1_000 + i } })),
    );
    const left = async () => (await pool.query(`select expires::int from ${schema}.sessions order by 1`)).rows[0];
    for (const [limit, first] of [
      [10, 1_010],
      [40, 1_050],
      [50, 1_100],
    ]) {
      assert.deepEqual(await store.sweep({ limit }), { sessions: limit, users: 0, more: true });
      assert.deepEqual(await left(), { expires: first });
    }
    const [, , , app] = apps;
    const { total } = await store.list({ app, limit: 1 });
    assert.equal(total, 0);
    const ofApp = await store.sweep({ app, limit: 2 });
    assert.deepEqual(ofApp, { sessions: 2, users: 0, more: true });
    assert.equal((await left()).expires, 1_100);
    assert.deepEqual(await store.sweep({ limit: 1_000 }), { sessions: 98, users: 0, more: false });
  });

  test('a sweep ends after a session with many values, as after one with many events', async () => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    const values = (count) => ({
      session: { set: Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, i])) },
    });
    const creations = [1, 10_000, 1].map((count, i) => ({
      ...create(`c${i}`, values(count), keyOf(`s${i}`)),
      expires: { at: 1_000 + i },
    }));
    await store.commitMany(creations);
    assert.deepEqual(await store.sweep({ limit: 10 }), { sessions: 2, users: 0, more: true });
    assert.deepEqual(await store.sweep({ limit: 10 }), { sessions: 1, users: 0, more: false });
  });

  test('a statement of a sweep that removes sessions leaves users to the next one', async () => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    const setUser = { user: { set: { x: 1 } } };
    await store.commit(update('idle', setUser, { appName: 'a', userId: 'idle' }));
    await store.commit({ ...create('c', setUser), expires: { at: 1_000 } });
    const swept = async () => {
      const { rows } = await pool.query(`select ${schema}.sweep(null, 10, 0, true)::json as answer`);
      return rows[0].answer;
    };
    assert.deepEqual(await swept(), { sessions: [['a', 'u', 's']], users: null, more: true });
    const { users, ...others } = await swept();
    assert.deepEqual(users.sort(), [
      ['a', 'idle'],
      ['a', 'u'],
    ]);
    assert.deepEqual(others, { sessions: null, more: false });
  });

  test('what is left of an expired session is removed whatever token its remover has', async () => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    for (const [id, guard] of [
      ['c1', {}],
      ['c2', { fence: 0 }],
      ['c3', { fence: 7 }],
      ['c4', { fence: 7, created: 'c4' }],
    ]) {
      await store.commit({ ...create(id, { session: { set: { x: 1 } } }), expires: { at: 1_000 } });
      await store.remove(keyOf(), { fence: 7, created: 'another' });
      const rows = async () => (await pool.query(`select from ${schema}.sessions`)).rows.length;
      assert.equal(await rows(), 1);
      await store.remove(keyOf(), guard);
      assert.equal(await rows(), 0);
      assert.equal((await pool.query(`select from ${schema}.state`)).rows.length, 0);
    }
    await store.commit(create('living'));
    await assert.rejects(store.remove(keyOf(), { fence: 7 }), { code: 'fenced' });
  });

  test('a creation that waits for the removal of an expired session makes another one', async () => {
    const schema = database.schema();
    const store = await openedStore(pool, { schema });
    await store.commit({ ...create('c1'), expires: { at: 1_000 } });
    const sweeper = await pool.connect();
    try {
      await sweeper.query(`begin; select from ${schema}.sessions for update`);
      const { rows } = await sweeper.query('select pg_backend_pid() as pid');
      const creation = store.commit(create('c2'));
      const isWaiting = async () => {
        const blocked = 'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))';
        return (await pool.query(blocked, [rows[0].pid])).rows.length > 0;
      };
      while (!(await isWaiting()));
      await sweeper.query(`select ${schema}.sweep(null, 10, null, true); commit`);
      assert.equal((await creation).duplicate, undefined);
      assert.equal((await store.load(keyOf(), {})).created, 'c2');
      assert.equal((await store.list({ app: 'a' })).total, 1);
    } finally {
      sweeper.release();
    }
  });
});
