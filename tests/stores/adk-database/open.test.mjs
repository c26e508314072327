// The databases that the store opens, and its messages about the others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { SessionService } from 'statepad';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { context, withDatabase } from '../postgres/database.mjs';
import { makeTables } from './tables.mjs';

const refused = (message) => ({ name: 'StoreError', code: 'rejected', message });
const open = (client, schema) => adkDatabaseStore(client, { schema }).open({ migrate: 'create' }, context);

/** A column for each member of an event, as adk-python had before its version 1. */
const V0 = `create table sessions (app_name varchar(128), user_id varchar(128), id varchar(128), state jsonb,
  create_time timestamp, update_time timestamp);
create table app_states (app_name varchar(128), state jsonb, update_time timestamp);
create table user_states (app_name varchar(128), user_id varchar(128), state jsonb, update_time timestamp);
create table events (id varchar(128), app_name varchar(128), user_id varchar(128), session_id varchar(128),
  invocation_id varchar(256), author varchar(256), actions bytea, long_running_tool_ids_json text,
  branch varchar(256), timestamp timestamp, content jsonb);`;

await withDatabase(async (database) => {
  const pool = database.pool();
  const made = async (statements) => {
    const schema = database.schema();
    await pool.query(`create schema ${schema}; set search_path = ${schema}; ${statements} reset search_path;`);
    return schema;
  };

  test('an empty schema is refused, and nothing is made in it', async () => {
    const schema = await made('');
    await assert.rejects(open(pool, schema), refused(/there are no tables of adk-python .*prepare_tables/));
    const { rows } = await pool.query(`select from pg_class where relnamespace = '${schema}'::regnamespace`);
    assert.deepEqual(rows, []);
    await assert.rejects(open(pool, 'not_there'), refused(/there are no tables of adk-python/));
  });

  test('the tables of adk-python before version 1 are refused by name', async () => {
    const schema = await made(V0);
    await assert.rejects(open(pool, schema), refused(/of the kind adk-python-v0 .* importAdk/));
  });

  test('other tables and other versions are refused with what was seen', async () => {
    const other = await made('create table events (id text, happened text);');
    await assert.rejects(
      open(pool, other),
      refused(/do not belong to a known ADK: there are the tables events \(id, happened\)/),
    );
    const schema = database.schema();
    await pool.query(makeTables(schema));
    await pool.query(`update ${schema}.adk_internal_metadata set value = '2'`);
    await assert.rejects(open(pool, schema), refused(/adk_internal_metadata says schema_version 2/));
    await pool.query(`alter table ${schema}.sessions alter app_name type text`);
    await pool.query(`update ${schema}.adk_internal_metadata set value = '1'`);
    await assert.rejects(open(pool, schema), refused(/of the kind adk-js/));
  });

  test('the refusal reaches the caller of a service under a code of its own', async () => {
    const key = { appName: 'a', userId: 'u', sessionId: 's' };
    for (const [statements, message] of [
      ['', /no tables of adk-python/],
      [V0, /of the kind adk-python-v0/],
    ]) {
      const service = new SessionService({ store: adkDatabaseStore(pool, { schema: await made(statements) }) });
      for (const run of [() => service.getSession(key), () => service.createSession(key)]) {
        await assert.rejects(run(), { code: 'STORE_UNSUITABLE', message });
      }
    }
  });

  test('opening makes and changes nothing, and tells how durable a change is', async () => {
    const schema = database.schema();
    await pool.query(makeTables(schema));
    const before = await pool.query(
      `select oid, relfilenode from pg_class where relnamespace = '${schema}'::regnamespace`,
    );
    const store = adkDatabaseStore(pool, { schema });
    assert.equal(store.durability, undefined);
    await store.open({ migrate: 'create' }, context);
    assert.equal(store.durability, 'disk');
    const after = await pool.query(
      `select oid, relfilenode from pg_class where relnamespace = '${schema}'::regnamespace`,
    );
    assert.deepEqual(after.rows, before.rows);
  });

  test('transactions that begin in another isolation, and a server that only reads, are refused', async () => {
    const schema = database.schema();
    await pool.query(makeTables(schema));
    const strict = database.pool({ options: '-c default_transaction_isolation=serializable' });
    await assert.rejects(open(strict, schema), refused(/isolation "serializable"/));
    const reading = database.pool({ options: '-c default_transaction_read_only=on' });
    await assert.rejects(open(reading, schema), { code: 'unavailable' });
  });
});

test('in PGlite all is in memory', async (t) => {
  const lite = new PGlite();
  t.after(() => lite.close());
  await lite.exec(makeTables('adk'));
  const store = adkDatabaseStore(lite, { schema: 'adk' });
  await store.open({ migrate: 'check' }, context);
  assert.equal(store.durability, 'memory');
});

test('what is no client, and options that are not known, are refused before anything is sent', () => {
  const query = () => assert.fail('it was sent');
  for (const client of [undefined, null, 'postgres://x', {}, () => {}, Promise.resolve()]) {
    assert.throws(() => adkDatabaseStore(client), { code: 'INVALID_ARGUMENT' });
  }
  for (const options of [null, 'adk', { schema: 5 }, { schema: '' }, { shcema: 'x' }, { prepare: 'yes' }]) {
    assert.throws(() => adkDatabaseStore({ query }, options), { code: 'INVALID_ARGUMENT' });
  }
  assert.throws(() => adkDatabaseStore({ query }, { schema: 'a$b' }), { code: 'rejected' });
});
