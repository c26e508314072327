// The upgrades of a schema from version to version, by a later version that exists here alone.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { postgresStore } from 'statepad/stores/postgres';
import { compactSql } from '../../../scripts/sql.mjs';
import { append, context, create, keyOf, withDatabase } from './database.mjs';

const { openStatement, CURRENT } = await internals();

/** The next version, whose sessions have a colour. To upgrade twice would fail. */
const NEXT = {
  version: 2,
  layout: 'ffffffff',
  scripts: [...CURRENT.scripts, 'alter table statepad.sessions add column colour text;'],
  upgrades: { 1: 'alter table statepad.sessions add column colour text;' },
};

/** The internals of the sources that are not exported. */
async function internals() {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-sources-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, 'sources.mjs');
  const from = (name) => JSON.stringify(join(import.meta.dirname, '../../../pkg/src/stores/postgres', name));
  const contents = `export * from ${from('open.ts')}; export * from ${from('schema.ts')};`;
  const scripts = {
    name: 'sql files',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.sql$/ }, ({ path }) => ({
        contents: compactSql(readFileSync(path, 'utf8')),
        loader: 'text',
      })),
  };
  const options = { bundle: true, format: 'esm', target: 'es2022', plugins: [scripts], outfile };
  await build({ stdin: { contents, resolveDir: import.meta.dirname }, ...options });
  return await import(pathToFileURL(outfile).href);
}

await withDatabase((database) => {
  const pool = database.pool();
  const openNext = (schema, migrate, client = pool, next = NEXT) => client.query(openStatement(schema, migrate, next));
  /** A store of this version, with a session. */
  const filled = async (schema) => {
    const store = postgresStore(pool, { schema });
    await store.open({ migrate: 'create' }, context);
    await store.commit(create('c', { app: { set: { a: 1 } } }), context);
    await store.commit(append('e1', { session: { set: { s: 1 } } }), context);
    return store;
  };
  const versionOf = async (schema) => (await pool.query(`select * from ${schema}.statepad_version`)).rows;
  const describe = async (schema) => {
    const { rows } = await pool.query(
      `select concat_ws(' ', 'column', table_name, column_name, data_type, collation_name, is_nullable, column_default) as line
       from information_schema.columns where table_schema = $1
       union all select 'index ' || indexdef from pg_indexes where schemaname = $1
       union all select 'function ' || proname || prosrc from pg_proc where pronamespace = $1::regnamespace
       union all select 'table ' || relname || relpersistence::text from pg_class where relnamespace = $1::regnamespace`,
      [schema],
    );
    return rows.map(({ line }) => line.replaceAll(schema, 'schema')).sort();
  };

  test('an older version is refused unless it may be upgraded; many who upgrade it at once do it once, and all that it has is what it was', async () => {
    const [schema, fresh] = [database.schema(), database.schema()];
    const store = await filled(schema);
    const [before, session] = [await describe(schema), await store.load(keyOf(), {}, context)];
    for (const migrate of ['create', 'check']) {
      const refusal = { code: 'ZS002', message: `the schema "${schema}"`, detail: '1' };
      await assert.rejects(openNext(schema, migrate), refusal);
    }
    assert.deepEqual(await describe(schema), before);

    await Promise.all([1, 2, 3].map(() => openNext(schema, 'upgrade', database.pool())));
    for (const migrate of ['create', 'upgrade', 'check']) await openNext(schema, migrate);
    assert.deepEqual(await versionOf(schema), [{ version: 2, layout: 'ffffffff' }]);
    await openNext(fresh, 'create');
    assert.deepEqual(await describe(schema), await describe(fresh));
    assert.deepEqual(await store.load(keyOf(), {}, context), session);
  });

  test('a store that was opened before an upgrade writes no more, and reads on', async () => {
    const schema = database.schema();
    const store = await filled(schema);
    await openNext(schema, 'upgrade');
    const refusal = {
      ...{ name: 'StoreError', code: 'rejected' },
      message: `the schema "${schema}" has version 2, newer than 1: update statepad`,
    };
    for (const write of [
      () => store.commit(append('e2'), context),
      () => store.commit(create('d', {}, keyOf('t')), context),
      () =>
        store.commit(
          { id: 'u', kind: 'update', key: { appName: 'a' }, time: 1, delta: { app: { set: { a: 2 } } } },
          context,
        ),
      () => store.remove(keyOf(), context),
      () => store.remove(keyOf(), context, { fence: 0 }),
      () => store.removeScope({ app: 'a' }, context),
      () => store.lease(keyOf(), { holder: 'h', ttl: 1_000 }, context),
      () => store.trimLog({ app: 'a' }, 1, context),
      ...['create', 'upgrade', 'check'].map((migrate) => () => store.open({ migrate }, context)),
    ]) {
      await assert.rejects(write(), refusal);
    }
    for (const changes of [
      [append('e2'), create('d', {}, keyOf('t'))],
      [append('e2'), append('e3', { app: { set: { a: 2 } } }, keyOf('t'))],
      [append('e2'), append('e3', {}, keyOf('t'))],
    ]) {
      const answers = await store.commitMany(changes, context);
      assert.deepEqual(
        answers.map(({ message }) => message),
        [refusal.message, refusal.message],
      );
    }
    assert.equal((await store.load(keyOf(), {}, context)).rev, 1);
    assert.equal((await store.loadScope({ app: 'a' }, context)).pos, 1);
    assert.equal((await store.list({ app: 'a', descending: true }, context)).total, 1);
    assert.equal((await store.readLog({ app: 'a' }, {}, context)).entries.length, 1);
  });

  test('an upgrade waits for the changes that have begun', async () => {
    const schema = database.schema();
    const store = await filled(schema);
    const writer = await pool.connect();
    try {
      await writer.query('begin');
      await postgresStore(writer, { schema }).commit(append('e2'), context);
      const upgrade = openNext(schema, 'upgrade', database.pool());
      await blocked();
      assert.deepEqual(
        (await versionOf(schema)).map(({ version }) => version),
        [1],
      );
      await writer.query('commit');
      await upgrade;
      assert.equal((await store.load(keyOf(), {}, context)).rev, 2);
    } finally {
      writer.release();
    }
  });

  test('an upgrade that is ended halfway leaves the older version as it was, and can be made again', async () => {
    const schema = database.schema();
    const store = await filled(schema);
    const before = await describe(schema);
    const [holder, upgrading] = [await pool.connect(), database.pool({ max: 1 })];
    try {
      // It stops at the last table that it changes.
      await holder.query('begin');
      await holder.query(`lock table ${schema}.statepad_version in share mode`);
      const outcome = openNext(schema, 'upgrade', upgrading).catch((error) => error);
      await pool.query('select pg_terminate_backend($1)', [await blocked()]);
      assert.equal((await outcome).code, '57P01');
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    assert.deepEqual(await describe(schema), before);
    await store.commit(append('e2'), context);
    await openNext(schema, 'upgrade');
    assert.deepEqual(await versionOf(schema), [{ version: 2, layout: 'ffffffff' }]);
  });

  test('an upgrade that ends before the wanted version, or fails on its way, is taken back as a whole', async () => {
    const schema = database.schema();
    await filled(schema);
    const before = await describe(schema);
    const later = { ...NEXT, version: 3 };
    await assert.rejects(openNext(schema, 'upgrade', pool, later), { code: 'ZS002' });
    const wrong = { ...later, upgrades: { ...NEXT.upgrades, 2: 'no SQL;' } };
    await assert.rejects(openNext(schema, 'upgrade', pool, wrong), { code: '42601' });
    assert.deepEqual(await describe(schema), before);
    const right = { ...later, upgrades: { ...NEXT.upgrades, 2: 'create table statepad.colours (no bigint);' } };
    await openNext(schema, 'upgrade', pool, right);
    assert.deepEqual(await versionOf(schema), [{ version: 3, layout: 'ffffffff' }]);
  });

  /** The connection that waits for a lock, as soon as one does. */
  const blocked = async () => {
    for (;;) {
      const { rows } = await pool.query(
        'select pid from pg_stat_activity where cardinality(pg_blocking_pids(pid)) > 0',
      );
      if (rows.length > 0) return rows[0].pid;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
});
