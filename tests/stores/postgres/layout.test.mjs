// The fingerprint of what lies in a schema.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { codeOf, create, openedStore, storeOver, withDatabase } from './database.mjs';

test('the fingerprint is that of the statements that make a schema', async () => {
  const statements = [];
  const server = { isolation: 'read committed', is_replica: 'false', read_only: 'off', standbys: '' };
  const client = { query: async (text) => (statements.push(text), { rows: [server] }) };
  await storeOver(client).open({ migrate: 'create' });
  const [, made, layout] =
    /(create sequence .*?)\s+insert into "statepad"\.statepad_version \(version, layout\) values \(1, '([0-9a-f]{8})'\)/s.exec(
      statements.at(-1),
    ) ?? assert.fail(statements.at(-1));
  const hash = createHash('sha256').update(made).digest('hex').slice(0, 8);
  assert.equal(layout, hash, `the layout has changed: set LAYOUT to '${hash}'`);
});

await withDatabase((database) => {
  const pool = database.pool();

  for (const [what, change, found] of [
    ['another fingerprint', "update %.statepad_version set layout = '1a2b3c4d'", 'the layout 1a2b3c4d'],
    ['no fingerprint', 'alter table %.statepad_version drop column layout', 'a layout without a fingerprint'],
    [
      'no fingerprint, and another version',
      'alter table %.statepad_version drop column layout; update %.statepad_version set version = 2',
      'a layout without a fingerprint',
    ],
  ]) {
    test(`a schema with ${what} is refused by name, and stays as it is`, async () => {
      const schema = database.schema();
      const store = await openedStore(pool, { schema });
      const layout = (await pool.query(`select layout from ${schema}.statepad_version`)).rows[0].layout;
      await pool.query(change.replaceAll('%', schema));
      const contents = async () =>
        (
          await pool.query(
            `select relname as name, xmin::text from pg_class where relnamespace = $1::regnamespace
             union all select proname, xmin::text from pg_proc where pronamespace = $1::regnamespace
             union all select to_jsonb(entry)::text, entry.xmin::text from ${schema}.statepad_version entry order by 1`,
            [schema],
          )
        ).rows;
      const before = await contents();
      for (const migrate of ['create', 'upgrade', 'check']) {
        await assert.rejects(store.open({ migrate }), {
          ...{ name: 'StoreError', code: 'rejected' },
          message: `the schema "${schema}" has ${found}, written by an unreleased build of statepad; this build reads ${layout}: open it with the build that made it, or delete it`,
        });
      }
      assert.deepEqual(await contents(), before);
    });
  }

  test('every function is checked when it is made, and all that a client calls have the same settings', async () => {
    const schema = database.schema();
    const store = await openedStore(database.pool({ options: '-c check_function_bodies=on' }), { schema });
    assert.equal(await codeOf(store.commit(create())), 'none');
    const { rows } = await pool.query(
      'select proname as name, proconfig as settings from pg_proc where pronamespace = $1::regnamespace',
      [schema],
    );
    const settings = new Map(rows.map(({ name, settings }) => [name, settings ?? []]));
    // These are called by the others alone.
    for (const name of [
      ...['check_guard', 'check_limits', 'resolve_operators', 'log_deletions', 'name_size'],
      ...['decide_lease', 'forget', 'empty_scopes'],
    ]) {
      assert.deepEqual(settings.get(name), []);
      settings.delete(name);
    }
    for (const [name, [first, ...others]] of settings) {
      assert.equal(first, 'search_path=pg_catalog, pg_temp', name);
      settings.set(name, others);
    }
    for (const name of ['number', 'resolve', 'refuse_version']) settings.delete(name);
    assert.ok(settings.size > 10);
    for (const [name, others] of settings) assert.deepEqual(others, settings.get('commit'), name);
    assert.deepEqual(settings.get('commit'), [
      'plan_cache_mode=force_generic_plan',
      'enable_seqscan=off',
      'enable_hashjoin=off',
      'enable_mergejoin=off',
      'jit=off',
    ]);
  });
});
