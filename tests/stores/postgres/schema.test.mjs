// What the store in Postgres makes, and what it leaves alone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { append, codeOf, context, create, keyOf, withDatabase } from './database.mjs';

const fixture = readFileSync(new URL('../../fixtures/postgres-v1.sql', import.meta.url), 'utf8');

await withDatabase((database) => {
  const pool = database.pool();
  const open = async (schema, migrate = 'create', client = pool) => {
    const store = postgresStore(client, { schema });
    await store.open({ migrate }, context);
    return store;
  };
  const refusal = async (schema, migrate) => {
    const error = await open(schema, migrate).then(
      () => assert.fail('it was opened'),
      (error) => error,
    );
    assert.equal(error.code, 'rejected', error.stack);
    return error.message;
  };
  /** Everything in a schema, and the transactions that have made it what it is. */
  const contents = async (schema) => {
    const { rows } = await pool.query(
      `select relname as name, xmin::text from pg_class where relnamespace = $1::regnamespace
       union all select proname, xmin::text from pg_proc where pronamespace = $1::regnamespace order by 1`,
      [schema],
    );
    return rows;
  };

  test('many who open an empty database at once all find the same schema', async () => {
    const schema = database.schema();
    const clients = Array.from({ length: 6 }, () => database.pool());
    const stores = await Promise.all(clients.map((client) => open(schema, 'create', client)));
    await stores[0].commit(create(), context);
    for (const store of stores) {
      assert.equal((await store.load(keyOf(), {}, context)).created, 'c');
    }
    assert.equal((await pool.query(`select count(*)::int as count from ${schema}.statepad_version`)).rows[0].count, 1);
  });

  test('what is there is opened in every way, and not made again', async () => {
    const schema = database.schema();
    await open(schema);
    const before = await contents(schema);
    for (const migrate of ['create', 'upgrade', 'check']) await open(schema, migrate);
    assert.deepEqual(await contents(schema), before);
  });

  test('who only checks makes nothing', async () => {
    const schema = database.schema();
    assert.match(await refusal(schema, 'check'), /nothing in the schema/);
    assert.equal((await pool.query('select to_regnamespace($1) as schema', [schema])).rows[0].schema, null);
  });

  test('a schema that somebody has made for the store is filled', async () => {
    const schema = database.schema();
    await pool.query(`create schema ${schema}`);
    const store = await open(schema);
    await store.commit(create(), context);
  });

  for (const [what, make] of [
    ['a table', (schema) => `create table ${schema}.sessions (mine text)`],
    ['a function', (schema) => `create function ${schema}.commit_v1(text) returns text language sql as 'select $1'`],
    ['a type', (schema) => `create type ${schema}.mood as enum ('good')`],
    ["a table with the name of the version's", (schema) => `create table ${schema}.statepad_version (mine text)`],
    ['a version that says nothing', (schema) => `create table ${schema}.statepad_version (version integer)`],
  ]) {
    test(`a schema that holds ${what} of somebody else is refused and stays as it is`, async () => {
      const schema = database.schema();
      await pool.query(`create schema ${schema}`);
      await pool.query(make(schema));
      const before = await contents(schema);
      for (const migrate of ['create', 'upgrade', 'check'])
        assert.match(await refusal(schema, migrate), new RegExp(`${schema}|does not exist`));
      assert.deepEqual(await contents(schema), before);
    });
  }

  test('what somebody has put beside the tables later stays as it is', async () => {
    const schema = database.schema();
    await open(schema);
    await pool.query(`create table ${schema}.notes (text text)`);
    await pool.query(`insert into ${schema}.notes values ('mine')`);
    const store = await open(schema, 'upgrade');
    await store.commit(create(), context);
    assert.deepEqual((await pool.query(`select * from ${schema}.notes`)).rows, [{ text: 'mine' }]);
  });

  test('a newer version is refused', async () => {
    const schema = database.schema();
    await open(schema);
    await pool.query(`update ${schema}.statepad_version set version = 3`);
    for (const migrate of ['create', 'upgrade', 'check']) {
      assert.equal(
        await refusal(schema, migrate),
        `the schema "${schema}" has version 3, newer than 2: update statepad`,
      );
    }
  });

  test('who has opened the store before a later version came writes no more, and reads on', async () => {
    const schema = database.schema();
    const store = await open(schema);
    await store.commit(create('c', { app: { set: { a: 1 } } }), context);
    await pool.query(`update ${schema}.statepad_version set version = 3`);
    for (const write of [
      () => store.commit(append('e1'), context),
      () => store.remove(keyOf(), context),
      () => store.removeScope({ app: 'a' }, context),
    ]) {
      await assert.rejects(write(), {
        name: 'StoreError',
        code: 'rejected',
        message: /has version 3, newer than 2: update statepad/,
      });
    }
    const answers = await store.commitMany([append('e1'), create('d', {}, keyOf('t'))], context);
    assert.deepEqual(
      answers.map(({ code }) => code),
      ['rejected', 'rejected'],
    );
    assert.equal((await store.load(keyOf(), {}, context)).rev, 0);
    assert.equal((await store.loadScope({ app: 'a' }, context)).pos, 1);
  });

  test('a later upgrade that locks the table of the scopes waits for changes that have begun', async () => {
    const schema = database.schema();
    await (await open(schema)).commit(create(), context);
    const [writer, upgrader] = [await pool.connect(), await pool.connect()];
    try {
      await writer.query('begin');
      await postgresStore(writer, { schema }).commit(append('e1'), context);
      await upgrader.query("begin; set local lock_timeout = '50ms'");
      await assert.rejects(upgrader.query(`lock table ${schema}.scopes in access exclusive mode`), { code: '55P03' });
    } finally {
      for (const client of [writer, upgrader]) {
        await client.query('rollback');
        client.release();
      }
    }
  });

  test('an older version is refused unless it may be upgraded', async () => {
    const schema = database.schema();
    await pool.query(fixture.replaceAll('statepad_fixture', schema));
    const before = await contents(schema);
    const line = "open it once with new SessionService({ store, migrate: 'upgrade' })";
    for (const migrate of ['create', 'check']) {
      assert.equal(await refusal(schema, migrate), `the schema "${schema}" has version 1, older than 2: ${line}`);
    }
    assert.deepEqual(await contents(schema), before);
    // There never was a version 0.
    await pool.query(`update ${schema}.statepad_version set version = 0`);
    for (const migrate of ['create', 'upgrade', 'check'])
      assert.match(await refusal(schema, migrate), /has version 0, older than 2/);
  });

  test('a schema may have a strange name, and stores in several schemas do not meet', async () => {
    const names = ['My "odd" schema\'s naïve; name', 'statepad_test_second'];
    try {
      for (const name of names) {
        const store = await open(name);
        await store.commit(create(name), context);
        assert.equal((await store.load(keyOf(), {}, context)).created, name);
        assert.match(await codeOf(store.commit(create('other'), context)), /exists/);
      }
    } finally {
      for (const name of names) await pool.query(`drop schema "${name.replaceAll('"', '""')}" cascade`);
    }
  });

  test('a name that no schema can have is refused before anything is sent', () => {
    for (const schema of ['', 'x'.repeat(64), 'é'.repeat(32), 'a\0b', 'a$name$b']) {
      assert.throws(() => postgresStore(pool, { schema }), { name: 'StoreError', code: 'rejected' });
    }
  });

  test('a store that was not opened says so', async () => {
    const store = postgresStore(pool, { schema: database.schema() });
    assert.equal(await codeOf(store.commit(create(), context)), 'rejected');
    assert.equal(await codeOf(store.load(keyOf(), {}, context)), 'rejected');
  });

  test('a client that may only read cannot write, which may change', async () => {
    const schema = database.schema();
    await (await open(schema)).commit(create(), context);
    const reader = database.pool({ options: '-c default_transaction_read_only=on' });
    const store = await open(schema, 'check', reader);
    assert.equal((await store.load(keyOf(), {}, context)).created, 'c');
    assert.equal(await codeOf(store.commit(append('e'), context)), 'unavailable');
  });

  test('version 1, as it was published, is upgraded in place: all that it has is what it was', async () => {
    const schema = database.schema();
    await pool.query(fixture.replaceAll('statepad_fixture', schema));
    const tables = ['scopes', 'sessions', 'events', 'state', 'counts', 'updates'];
    const rows = async (columns) => {
      const found = {};
      for (const table of tables)
        found[table] = (await pool.query(`select ${columns[table]} from ${schema}.${table} order by 1, 2, 3`)).rows;
      return found;
    };
    const { rows: old } = await pool.query(
      `select table_name as name, string_agg(quote_ident(column_name), ',' order by ordinal_position) as columns
       from information_schema.columns where table_schema = $1 group by table_name`,
      [schema],
    );
    const columns = Object.fromEntries(old.map(({ name, columns }) => [name, columns]));
    const before = await rows(columns);
    // Several who upgrade at once do it once.
    const clients = Array.from({ length: 3 }, () => database.pool());
    await Promise.all(clients.map((client) => open(schema, 'upgrade', client)));
    assert.deepEqual(await rows(columns), before);
    for (const migrate of ['create', 'upgrade', 'check']) await open(schema, migrate);
    await sameSchemas(schema);
    const store = await open(schema, 'check');

    const key = keyOf('first', 'ann', 'app');
    const session = await store.load(key, {}, context);
    assert.deepEqual(session, {
      created: 'created-first',
      rev: 3,
      time: 1003.5,
      pos: { app: 3, user: 1 },
      state: {
        session: values(['topic', 'NUL \0 and "quotes"'], ['__proto__', null], ['list', [1, { deep: [null] }]]),
        app: values(['b', 2], ['a', 3]),
        user: values(['theme\0', 'dark']),
      },
      last: 'event-3',
      // Version 1 has not told who has moved a scope.
      marks: {},
      events: [1, 2, 3].map((rev) => ({
        rev,
        data: JSON.stringify({ id: `event-${rev}`, text: 'naïve 😀 \u0001' }),
        id: `event-${rev}`,
      })),
    });
    assert.deepEqual(Object.keys(session.state.app), ['b', 'a']);

    const page = await store.list({ app: 'app', descending: true }, context);
    assert.equal(page.total, 3);
    assert.deepEqual(
      page.rows.map((row) => [row.key.userId, row.key.sessionId, row.rev]),
      [
        ['ann', 'first', 3],
        ['', '\0', 0],
        ['bob', 'first', 0],
      ],
    );
    assert.deepEqual(await store.loadScope({ app: 'app', user: 'nobody' }, context), { pos: 0, state: values() });

    // The log begins now.
    const ofApp = { app: 'app' };
    assert.deepEqual(await store.readLog(ofApp, {}, context), { pos: 3, base: 3, entries: [] });

    // What was written before is known, and what comes now goes on from there.
    assert.deepEqual(await store.commit(append('event-2', {}, key), context), {
      rev: 3,
      prev: 3,
      pos: { app: 3, user: 1 },
      duplicate: true,
      before: { session: 'event-3' },
      data: session.events[1].data,
    });
    const update = {
      id: 'update',
      kind: 'update',
      key: { appName: 'app' },
      time: 1,
      delta: { app: { set: { a: 1 } } },
    };
    assert.equal((await store.commit(update, context)).duplicate, true);
    assert.equal(await codeOf(store.commit(create('again', {}, key), context)), 'exists');
    const known = { pos: { app: 3 }, marks: { app: 'nobody knows' } };
    assert.deepEqual(
      await store.commit(
        append('event-4', { app: { set: { c: 1 } }, session: { set: { topic: 1 } } }, key, { known }),
        context,
      ),
      {
        rev: 4,
        prev: 3,
        pos: { app: 4, user: 1 },
        before: { session: 'event-3' },
      },
    );
    assert.deepEqual(await store.readLog(ofApp, { after: 1 }, context), {
      pos: 4,
      base: 3,
      entries: [
        {
          ...{ pos: 4, time: 2, by: { userId: 'ann', sessionId: 'first', eventId: 'event-4' } },
          writes: [{ name: 'c', to: 1 }],
        },
      ],
    });
    const told = (await store.load(key, { events: { from: 3 } }, context)).events;
    assert.deepEqual(
      told.map(({ pos }) => pos),
      [undefined, { app: 4, user: 1 }],
    );
    assert.equal((await store.lease(key, { holder: 'h', ttl: 1000 }, context)).fence, 1);
    const later = await store.load(
      key,
      { known: { pos: { app: 3, user: 1 }, marks: { app: 'nobody knows', user: 'nor this' } } },
      context,
    );
    assert.deepEqual(
      [later.marks, later.changed, Object.keys(later.state)],
      [{ app: 'event-4' }, undefined, ['session', 'app']],
    );
    assert.deepEqual(Object.keys(later.state.session), ['topic', '__proto__', 'list']);
    await store.commit(create('new', {}, keyOf('new', 'ann', 'app')), context);
    await store.remove(keyOf('first', 'bob', 'app'), context);
    assert.equal((await store.list({ app: 'app', descending: false, limit: 1 }, context)).total, 3);
  });

  /**
   * That a schema that was upgraded is what one is that was made new: columns, indexes and functions, but for those
   * that refuse.
   */
  const sameSchemas = async (upgraded) => {
    const fresh = database.schema();
    await open(fresh);
    const described = async (schema) => {
      const { rows } = await pool.query(
        `select concat_ws(' ', 'column', table_name, column_name, data_type, collation_name, is_nullable, column_default) as line
         from information_schema.columns where table_schema = $1
         union all select 'index ' || indexdef from pg_indexes where schemaname = $1
         union all select 'function ' || proname || prosrc from pg_proc where pronamespace = $1::regnamespace and proname not like '%\\_v1'
         union all select 'table ' || relname || relpersistence::text from pg_class where relnamespace = $1::regnamespace`,
        [schema],
      );
      return rows.map(({ line }) => line.replaceAll(schema, 'schema')).sort();
    };
    assert.deepEqual(await described(upgraded), await described(fresh));
  };

  test('a process of version 1 that is still running reads on after the upgrade, and is refused when it writes', async () => {
    const schema = database.schema();
    await pool.query(fixture.replaceAll('statepad_fixture', schema));
    // The statements of version 1, as it has sent them.
    const session = { i: 1, usr: 2, session: 'first' };
    const change = { kind: 'append', app: 1, usr: 2, session: 'first', id: 'late', time: 1, at: 1, data: '{}' };
    const arrays = [['[0,"app"]', '[1,"ann"]'], [JSON.stringify(session)], [], [JSON.stringify(change)]].map(
      (items) => `{${items.map((item) => JSON.stringify(item)).join()}}`,
    );
    const writes = [
      [`select "${schema}".commit_v1($1, $2, $3, $4) as answers`, arrays],
      [`select "${schema}".remove_v1($1, $2, $3)::text as gone`, ['app', 'bob', 'first']],
      [`select "${schema}".remove_scope_v1($1, $2)`, ['app', null]],
    ];
    const client = await pool.connect();
    try {
      // It can write until then, also by statements that are prepared.
      const { rows } = await client.query({ name: 'commit', text: writes[0][0], values: writes[0][1] });
      assert.deepEqual(rows, [{ answers: '[[4,3,1]]' }]);
      const store = await open(schema, 'upgrade');
      const before = await store.load(keyOf('first', 'ann', 'app'), {}, context);
      assert.equal(before.rev, 4);
      for (const [index, [text, values]] of writes.entries()) {
        // Version 1 takes the code ZS001 for a refusal: nothing was written, and the message says why.
        await assert.rejects(client.query({ name: index === 0 ? 'commit' : '', text, values }), {
          code: 'ZS001',
          message: `the schema "${schema}" has version 2, newer than the version 1 of this process: update statepad`,
        });
      }
      assert.deepEqual(await store.load(keyOf('first', 'ann', 'app'), {}, context), before);
      assert.equal((await store.list({ app: 'app', descending: true }, context)).total, 3);
      // Its reads are of tables that are what they were.
      const read =
        await client.query(`select scope.pos, (select json_agg(json_build_array(state.name, state.value) order by state.at, state.nth)
        from "${schema}".state state where state.owner = scope.no) as data from "${schema}".scopes scope where scope.name = 'app'`);
      assert.deepEqual(read.rows, [
        {
          pos: '3',
          data: [
            ['b', '2'],
            ['a', '3'],
          ],
        },
      ]);
    } finally {
      client.release();
    }
  });

  test('an upgrade waits for the changes of version 1 that have begun', async () => {
    const schema = database.schema();
    await pool.query(fixture.replaceAll('statepad_fixture', schema));
    const old = await pool.connect();
    try {
      await old.query('begin');
      await old.query(`select ${schema}.remove_v1('app', 'bob', 'first')`);
      const upgraded = open(schema, 'upgrade', database.pool());
      const isWaiting = async () =>
        (await pool.query('select from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0')).rows.length >
        0;
      while (!(await isWaiting())) await new Promise((resolve) => setTimeout(resolve, 5));
      await old.query('commit');
      const store = await upgraded;
      assert.equal((await store.list({ app: 'app', descending: true }, context)).total, 2);
    } finally {
      old.release();
    }
  });

  test('an upgrade that is ended halfway leaves version 1 as it was, and can be made again', async () => {
    const schema = database.schema();
    await pool.query(fixture.replaceAll('statepad_fixture', schema));
    const before = await contents(schema);
    const [holder, upgrading] = [await pool.connect(), database.pool({ max: 1 })];
    try {
      // It stops at the last table that it changes.
      await holder.query('begin');
      await holder.query(`lock table ${schema}.statepad_version in share mode`);
      const outcome = open(schema, 'upgrade', upgrading).catch((error) => error);
      const find = () => pool.query('select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0');
      let found = await find();
      while (found.rows.length === 0) found = await find();
      await pool.query('select pg_terminate_backend($1)', [found.rows[0].pid]);
      assert.equal((await outcome).code, '57P01');
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    assert.deepEqual(await contents(schema), before);
    await open(schema, 'upgrade');
    await sameSchemas(schema);
  });
});

/** Values as a store gives them: a record that takes any name. */
function values(...entries) {
  const record = Object.create(null);
  for (const [name, value] of entries) record[name] = value;
  return record;
}
