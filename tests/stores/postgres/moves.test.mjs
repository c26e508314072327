// The reports of the store in Postgres about the changes of others: how far back, at what cost, and their limits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { append, codeOf, context, create, keyOf, withDatabase } from './database.mjs';

await withDatabase((database) => {
  const pool = database.pool({ options: '-c synchronous_commit=off' });
  const open = async (schema = database.schema(), client = pool) => {
    const store = postgresStore(client, { schema });
    await store.open({ migrate: 'create' }, context);
    return store;
  };
  const update = (id, set, more = {}) => ({
    id,
    kind: 'update',
    key: { appName: 'a' },
    time: 1,
    delta: { app: set },
    ...more,
  });
  const at = (pos, mark) => ({ pos: { app: pos }, marks: { app: mark } });
  const plain = (changed) => JSON.parse(JSON.stringify(changed ?? null));
  /** A statement that is made by the store, and what it makes of its values. */
  const recorded = (client) => {
    const sent = [];
    return { sent, query: (text, values) => (sent.push({ text, values }), client.query(text, values)) };
  };

  test('the last 1,000 moves of a scope are kept at least, and not many more', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create(), context);
    for (let n = 1; n <= 2_600; n += 100) {
      await store.commitMany(
        Array.from({ length: 100 }, (_, i) => update(`u${n + i}`, { set: { [`k${(n + i) % 10}`]: n + i } })),
        context,
      );
    }
    const {
      rows: [{ count, least }],
    } = await pool.query(`select count(*)::int as count, min(pos)::int as least from ${schema}.moves`);
    assert.ok(count >= 1_000 && count <= 1_300, `${count}`);
    assert.equal(least + count - 1, 2_600);
    const tell = async (pos) => (await store.load(keyOf(), { known: at(pos, `u${pos}`) }, context)).changed?.app;
    assert.equal(Object.keys((await tell(1_601)).set).length, 10);
    assert.deepEqual(plain(await tell(2_598)), { set: { k9: 2_599, k0: 2_600 } });
    assert.equal(await tell(least - 1), undefined);
    assert.equal(await tell(1_000), undefined);
    const { changed } = await store.commit(append('e', {}, keyOf(), { known: at(1_601, 'u1601') }), context);
    assert.equal(Object.keys(changed.app.set).length, 10);
  });

  test('a move of which nothing is known, as an older version makes it, is not passed over in silence', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create('c', { app: { set: { a: 1 } } }), context);
    await pool.query(
      `update ${schema}.scopes set pos = pos + 1 where parent = 0; update ${schema}.state set value = '2'`,
    );
    await store.commit(update('u1', { set: { b: 1 } }), context);
    const loaded = await store.load(keyOf(), { known: at(1, 'c') }, context);
    assert.deepEqual([loaded.pos.app, { ...loaded.state.app }, loaded.changed], [3, { a: 2, b: 1 }, undefined]);
    const committed = await store.commit(append('e', {}, keyOf(), { known: at(1, 'c') }), context);
    assert.deepEqual([committed.changed, committed.before], [undefined, { app: 'u1' }]);
  });

  test('a store that has gone back to an earlier copy, and was written to since, shows it by its marks', async () => {
    const schema = database.schema();
    const store = await open(schema);
    const tables = [
      'scopes',
      'sessions',
      'events',
      'state',
      'moves',
      'log',
      'counts',
      'updates',
      'creations',
      'refused',
    ];
    await store.commit(create('c', { app: { set: { a: 1 } }, user: { set: { u: 1 } } }), context);
    await store.commit(append('e1', { app: { set: { a: 2 } } }), context);
    await pool.query(`create schema ${schema}_copy`);
    for (const table of tables) await pool.query(`create table ${schema}_copy.${table} as table ${schema}.${table}`);
    try {
      await store.commit(append('e2', { app: { set: { a: 3 } }, user: { set: { u: 2 } } }), context);
      const known = { created: 'c', rev: 2, last: 'e2', pos: { app: 3, user: 2 }, marks: { app: 'e2', user: 'e2' } };
      assert.deepEqual((await store.load(keyOf(), { known, events: { from: 3 } }, context)).state, {});

      await pool.query(`truncate ${tables.map((table) => `${schema}.${table}`).join()}`);
      for (const table of tables)
        await pool.query(`insert into ${schema}.${table} select * from ${schema}_copy.${table}`);
      const back = await store.load(keyOf(), { known, events: { from: 3 } }, context);
      assert.deepEqual(
        [back.rev, back.last, back.diverged, back.pos, back.marks],
        [1, 'e1', true, { app: 2, user: 1 }, { app: 'e1', user: 'c' }],
      );
      assert.deepEqual([Object.keys(back.state).sort(), back.changed], [['app', 'session', 'user'], undefined]);

      // Others write at the same revision and positions.
      const other = await store.commit(append('x2', { app: { set: { a: 30 } }, user: { set: { u: 20 } } }), context);
      assert.deepEqual([other.rev, other.pos], [2, { app: 3, user: 2 }]);
      const ahead = await store.load(keyOf(), { known, events: { from: 3 } }, context);
      assert.deepEqual(
        [ahead.rev, ahead.last, ahead.diverged, { ...ahead.state.app }, { ...ahead.state.user }],
        [2, 'x2', true, { a: 30 }, { u: 20 }],
      );
      await store.commit(update('x3', { set: { a: 31 } }), context);
      const later = await store.load(keyOf(), { known, events: { from: 3 } }, context);
      assert.deepEqual([later.changed, { ...later.state.app }, later.diverged], [undefined, { a: 31 }, true]);
      const committed = await store.commit(append('x4', {}, keyOf(), { known }), context);
      assert.deepEqual([committed.changed, committed.before], [undefined, { app: 'x3', user: 'x2', session: 'x2' }]);
      assert.equal((await store.loadScope({ app: 'a' }, context)).mark, 'x3');
    } finally {
      await pool.query(`drop schema ${schema}_copy cascade`);
    }
  });

  test('what is told to a change that had to wait is all that happened until then, and of one moment', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create('c', { app: { set: { a: 0 } } }), context);
    const holder = await pool.connect();
    try {
      // Each kind: one that moves the app, one that looks at it, one that goes with others, and one that only waits
      // for its session.
      for (const [index, make] of [
        (known) => [append('moves', { app: { set: { mine: 1 } } }, keyOf(), { known })],
        (known) => [append('looks', {}, keyOf(), { known, guard: { keys: { app: { unset: ['none'] } } } })],
        (known) => [
          append('together', { app: { set: { mine: 2 } } }, keyOf(), { known }),
          update('with', { set: { mine: 3 } }, { known }),
        ],
        (known) => [append('waits', {}, keyOf(), { known })],
      ].entries()) {
        const { pos, mark } = await store.loadScope({ app: 'a' }, context);
        await holder.query('begin');
        const theirs = await postgresStore(holder, { schema }).commit(
          append(`held ${index}`, { app: { set: { a: index + 1 }, unset: ['mine'] } }),
          context,
        );
        const waiting = store.commitMany(make(at(pos, mark)), context);
        const isWaiting = async () =>
          (await pool.query('select from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0')).rows.length >
          0;
        while (!(await isWaiting())) await new Promise((resolve) => setTimeout(resolve, 5));
        await holder.query('commit');
        const [answer] = await waiting;
        assert.deepEqual(plain(answer.changed.app.set), { a: index + 1 });
        assert.deepEqual(answer.changed.app.unset, ['mine']);
        assert.deepEqual(answer.before, { app: `held ${index}`, session: `held ${index}` });
        assert.equal(answer.pos.app, theirs.pos.app + (index % 2 === 0 ? 1 : 0));
      }
    } finally {
      holder.release();
    }
  });

  test('who follows only what is told has what the store has, whatever many others do at once', async () => {
    const schema = database.schema();
    const [writer, store] = [
      await open(schema, database.pool({ max: 8, options: '-c synchronous_commit=off' })),
      await open(schema),
    ];
    await store.commit(create('c', { app: { set: { a: 0 } } }), context);
    const random = (count) => Math.floor(Math.random() * count);
    let isDone = false;
    const others = Array.from({ length: 6 }, async (_, worker) => {
      for (let round = 0; round < 40; round++) {
        const [name, other] = [`k${random(6)}`, `k${random(6)}`];
        await writer.commit(
          update(`${worker} ${round}`, { set: { [name]: round }, ...(other !== name && { unset: [other] }) }),
          context,
        );
      }
    });
    const all = Promise.all(others).then(() => (isDone = true));
    const first = await store.loadScope({ app: 'a' }, context);
    let mine = { pos: first.pos, mark: first.mark, values: new Map(Object.entries(first.state)) };
    let told = 0;
    const follow = ({ pos, mark, changed }) => {
      if (pos === mine.pos) return;
      assert.ok(changed, `${mine.pos} to ${pos}`);
      told += 1;
      (changed.unset ?? []).forEach((name) => mine.values.delete(name));
      Object.entries(changed.set ?? {}).forEach(([name, value]) => mine.values.set(name, value));
      mine = { ...mine, pos, mark };
    };
    for (let round = 0; !isDone || round % 3 !== 0; round++) {
      const known = at(mine.pos, mine.mark);
      if (round % 3 === 0) {
        const { pos, marks, changed } = await store.load(keyOf(), { known, events: { last: 0 } }, context);
        follow({ pos: pos.app, mark: marks.app, changed: changed?.app });
      } else if (round % 3 === 1) {
        const { pos, before, changed } = await store.commit(append(`e${round}`, {}, keyOf(), { known }), context);
        follow({ pos: pos.app, mark: before.app, changed: changed?.app });
      } else {
        const { pos, before, changed } = await store.commit(
          append(`e${round}`, { app: { set: { own: round } } }, keyOf(), { known }),
          context,
        );
        follow({ pos: pos.app - 1, mark: before.app, changed: changed?.app });
        mine.values.set('own', round);
        mine = { ...mine, pos: pos.app, mark: `e${round}` };
      }
      // Also the order is what the store has, whenever nobody has moved it meanwhile.
      const { pos, state } = await store.loadScope({ app: 'a' }, context);
      if (pos === mine.pos) assert.deepEqual([...mine.values], Object.entries(state));
    }
    await all;
    const last = await store.load(keyOf(), { known: at(mine.pos, mine.mark), events: { last: 0 } }, context);
    follow({ pos: last.pos.app, mark: last.marks.app, changed: last.changed?.app });
    assert.deepEqual([...mine.values], Object.entries((await store.loadScope({ app: 'a' }, context)).state));
    assert.ok(told > 10, `${told}`);
  });

  test('a change of others costs what it has changed, not what there is', async () => {
    const schema = database.schema();
    const client = recorded(pool);
    const store = await open(schema, client);
    const big = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [`key ${i}`, `a value of some length: ${i}`]),
    );
    await store.commit(create('c', { app: { set: big } }), context);
    await store.commit(update('u1', { set: { 'key 7': 'new' } }), context);
    const known = { created: 'c', rev: 0, pos: { app: 1, user: 0 }, marks: { app: 'c' } };
    const size = (answer) => JSON.stringify(answer).length;
    assert.ok(size(await store.load(keyOf(), {}, context)) > 300_000);
    const loaded = await store.load(keyOf(), { known }, context);
    assert.deepEqual(plain(loaded.changed), { app: { set: { 'key 7': 'new' } } });
    assert.ok(size(loaded) < 500);
    const committed = await store.commit(append('e1', {}, keyOf(), { known }), context);
    assert.deepEqual(plain(committed.changed), { app: { set: { 'key 7': 'new' } } });

    // And the server looks at no more, either.
    await pool.query(`analyze ${schema}.state, ${schema}.moves, ${schema}.scopes`);
    const reads = async (run) => {
      const single = await pool.connect();
      await single.query('begin');
      // The statistics include reads of the connection that it has not reported yet.
      const count = async () => {
        const sums = 'sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows';
        return (await single.query(`select ${sums} from pg_stat_xact_user_tables where schemaname = $1`, [schema]))
          .rows[0].rows;
      };
      const before = await count();
      await run(postgresStore(single, { schema }));
      const rows = (await count()) - before;
      await single.query('rollback');
      single.release();
      return rows;
    };
    const loads = await reads((own) =>
      own.load(keyOf(), { known: { ...known, rev: 1, last: 'e1' }, events: { last: 0 } }, context),
    );
    assert.ok(loads < 40, `${loads} rows`);
    for (const [index, delta] of [{}, { app: { set: { mine: 1 } } }].entries()) {
      const rows = await reads((own) => own.commit(append(`again ${index}`, delta, keyOf(), { known }), context));
      assert.ok(rows < 60, `${rows} rows`);
    }
  });

  test('what is remembered of refused calls and of creations is forgotten after a day, not before', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create(), context);
    const refuse = (call) =>
      codeOf(store.commit(append('e', {}, keyOf(), { call: `call ${call}`, attempt: 2, guard: { rev: 9 } }), context));
    for (const call of ['old', 'young']) await refuse(call);
    for (const id of ['old', 'young']) {
      await store.commit(create(id, {}, keyOf(id)), context);
      await store.remove(keyOf(id), context);
    }
    for (const [table, column] of [
      ['refused', 'call'],
      ['creations', 'id'],
    ]) {
      await pool.query(
        `update ${schema}.${table} set at = now() - case when ${column} like '%old' then interval '25 hours' else interval '23 hours' end`,
      );
    }
    await refuse('new');
    await store.commit(create('new', {}, keyOf('new')), context);
    await store.remove(keyOf('new'), context);
    for (const [table, column] of [
      ['refused', 'call'],
      ['creations', 'id'],
    ]) {
      const { rows } = await pool.query(`select ${column} as name from ${schema}.${table} order by at`);
      assert.deepEqual(
        rows.map(({ name }) => name.replace('call ', '')),
        ['young', 'new'],
        table,
      );
    }
  });

  test('tries of one call that arrive at once in several batches do not wait in a circle, and one of them at most is written', async () => {
    const schema = database.schema();
    const stores = [await open(schema, database.pool({ max: 8 })), await open(schema)];
    const keys = Array.from({ length: 6 }, (_, i) => keyOf(`s${i}`));
    await stores[0].commitMany(
      keys.map((key, i) => create(`c${i}`, {}, key)),
      context,
    );
    for (let round = 0; round < 10; round++) {
      const batch = (attempt) =>
        keys.map((key, i) =>
          append(`e${round}`, {}, key, { call: `${round} ${i}`, ...(attempt > 1 && { attempt, guard: { rev: 99 } }) }),
        );
      const batches = [batch(1), batch(2).reverse(), batch(3), batch(4).reverse()];
      const answers = await Promise.all(batches.map((changes, i) => stores[i % 2].commitMany(changes, context)));
      answers
        .flat()
        .forEach((answer) => assert.ok(answer.code === undefined || answer.code === 'conflict', String(answer)));
      answers[1].forEach((refusal, i) => {
        const first = answers[0][keys.length - 1 - i];
        // A try that was refused, or known to be written: never refused and then written.
        assert.ok(refusal.code === 'conflict' ? first.code === 'conflict' : refusal.duplicate, `${refusal} ${first}`);
      });
    }
  });
});
