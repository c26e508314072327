// The objects that the store in Postgres makes, and those that it leaves alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { append, codeOf, context, create, keyOf, withDatabase } from './database.mjs';

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
    ['a function', (schema) => `create function ${schema}.commit(text) returns text language sql as 'select $1'`],
    ['a type', (schema) => `create type ${schema}.mood as enum ('good')`],
    ["a table with the name of the version's", (schema) => `create table ${schema}.statepad_version (mine text)`],
    ['a version that says nothing', (schema) => `create table ${schema}.statepad_version (version integer)`],
    [
      'a version that is no number',
      (schema) =>
        `create table ${schema}.statepad_version (version text); insert into ${schema}.statepad_version values ('${schema}')`,
    ],
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

  test('another version is refused', async () => {
    const schema = database.schema();
    await open(schema);
    const older = "older than 1: open it once with new SessionService({ store, migrate: 'upgrade' })";
    for (const [version, why] of [
      [3, 'newer than 1: update statepad'],
      // There never was one.
      [0, older],
    ]) {
      await pool.query(`update ${schema}.statepad_version set version = ${version}`);
      const before = await contents(schema);
      for (const migrate of ['create', 'upgrade', 'check'])
        assert.equal(await refusal(schema, migrate), `the schema "${schema}" has version ${version}, ${why}`);
      assert.deepEqual(await contents(schema), before);
    }
  });

  test('a role that may make nothing opens what is there, and writes', async () => {
    const [schema, role] = [database.schema(), `statepad_limited_${process.pid}`];
    await open(schema);
    await pool.query(
      `create role ${role} login; grant usage on schema ${schema} to ${role};
       grant all on all tables in schema ${schema} to ${role}; grant all on all sequences in schema ${schema} to ${role}`,
    );
    try {
      const url = new URL(database.url);
      url.username = role;
      const store = await open(schema, 'create', database.pool({ connectionString: url.href }));
      await store.commit(create(), context);
      const answers = await store.commitMany([append('e1'), append('e2', {}, keyOf('t'))], context);
      assert.deepEqual(
        answers.map(({ rev, code }) => rev ?? code),
        [1, 'not-found'],
      );
      await store.remove(keyOf(), context);
    } finally {
      await pool.query(`drop owned by ${role}; drop role ${role}`);
    }
  });

  test('a schema may have a strange name, and stores in several schemas do not meet', async () => {
    const names = ['My "odd" schema\'s naïve; name', 'statepad.numbers of :version &'];
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
});
