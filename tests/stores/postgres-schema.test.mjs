// What the store in Postgres makes, and what it leaves alone.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { append, codeOf, context, create, keyOf, withDatabase } from './postgres-database.mjs';

const fixture = readFileSync(new URL('../fixtures/postgres-v1.sql', import.meta.url), 'utf8');

await withDatabase((database) => {
  const pool = database.pool();
  const open = async (schema, migrate = 'create', client = pool) => {
    const store = postgresStore(client, { schema });
    await store.open({ migrate }, context);
    return store;
  };
  const refusal = async (schema, migrate) => {
    const error = await open(schema, migrate).then(() => assert.fail('it was opened'), (error) => error);
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
    ['a table with the name of the version\'s', (schema) => `create table ${schema}.statepad_version (mine text)`],
    ['a version that says nothing', (schema) => `create table ${schema}.statepad_version (version integer)`],
  ]) {
    test(`a schema that holds ${what} of somebody else is refused and stays as it is`, async () => {
      const schema = database.schema();
      await pool.query(`create schema ${schema}`);
      await pool.query(make(schema));
      const before = await contents(schema);
      for (const migrate of ['create', 'upgrade', 'check']) assert.match(await refusal(schema, migrate), new RegExp(`${schema}|does not exist`));
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
    await pool.query(`update ${schema}.statepad_version set version = 2`);
    for (const migrate of ['create', 'upgrade', 'check']) assert.match(await refusal(schema, migrate), /has version 2, which is newer/);
  });

  test('an older version is refused unless it may be upgraded', async () => {
    const schema = database.schema();
    await open(schema);
    await pool.query(`update ${schema}.statepad_version set version = 0`);
    for (const migrate of ['create', 'check']) assert.match(await refusal(schema, migrate), /older .* open it with migrate "upgrade"/);
    // There never was a version 0.
    assert.match(await refusal(schema, 'upgrade'), /no way leads/);
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

  test('version 1, as it was published, is read and written', async () => {
    const schema = database.schema();
    await pool.query(fixture.replaceAll('statepad_fixture', schema));
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
      events: [1, 2, 3].map((rev) => ({ rev, data: JSON.stringify({ id: `event-${rev}`, text: 'naïve 😀 \u0001' }) })),
    });
    assert.deepEqual(Object.keys(session.state.app), ['b', 'a']);

    const page = await store.list({ app: 'app', descending: true }, context);
    assert.equal(page.total, 3);
    assert.deepEqual(page.rows.map((row) => [row.key.userId, row.key.sessionId, row.rev]), [['ann', 'first', 3], ['', '\0', 0], ['bob', 'first', 0]]);
    assert.deepEqual(await store.loadScope({ app: 'app', user: 'nobody' }, context), { pos: 0, state: values() });

    // What was written before is known, and what comes now goes on from there.
    assert.deepEqual(await store.commit(append('event-2', {}, key), context), {
      rev: 3, prev: 3, pos: { app: 3, user: 1 }, duplicate: true, data: session.events[1].data,
    });
    assert.equal(await codeOf(store.commit(create('again', {}, key), context)), 'exists');
    assert.deepEqual(await store.commit(append('event-4', { app: { set: { c: 1 } }, session: { set: { topic: 1 } } }, key), context), {
      rev: 4, prev: 3, pos: { app: 4, user: 1 },
    });
    assert.deepEqual(Object.keys((await store.load(key, {}, context)).state.session), ['topic', '__proto__', 'list']);
    await store.commit(create('new', {}, keyOf('new', 'ann', 'app')), context);
    await store.remove(keyOf('first', 'bob', 'app'), context);
    assert.equal((await store.list({ app: 'app', descending: false, limit: 1 }, context)).total, 3);
  });
});

/** Values as a store gives them: a record that takes any name. */
function values(...entries) {
  const record = Object.create(null);
  for (const [name, value] of entries) record[name] = value;
  return record;
}
