// Users by the id of a session, and the names of apps and users, in tables that others write to, too.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { plain } from '../support/plain.js';
import { create, keyOf, withDatabase, withLite } from '../postgres/database.mjs';
import { makeTables, schemaWithTables } from './tables.mjs';

/** In the order of their bytes, which no language has. */
const NAMES = [' ', "'", '-a', 'B', 'Z', '_', 'a', 'a b', 'ab', 'a-b\\', 'b', 'É', 'é', '\ud7ff', '\ue000', '😀'].sort(
  (one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)),
);
const all = (names) => ({ names, more: false });

function nameTests(name, client, schemaOf) {
  const fresh = async () => {
    const schema = await schemaOf();
    return { store: plain(adkDatabaseStore(client, { schema })), schema };
  };
  const shuffled = NAMES.map((_, index) => NAMES[(index * 5 + 3) % NAMES.length]);

  test(`${name}: names are in the order of their bytes, whatever that of the database is`, async () => {
    const { store } = await fresh();
    for (const each of shuffled) {
      await store.commit(create(`c ${each}`, {}, keyOf('s', each, 'app')));
      await store.commit(create(`d ${each}`, {}, keyOf('t', 'user', each)));
    }
    assert.deepEqual(await store.owners('app', 's'), NAMES);
    assert.deepEqual(await store.listUsers('app', {}), all(NAMES));
    const apps = [...NAMES.slice(0, NAMES.indexOf('b')), 'app', ...NAMES.slice(NAMES.indexOf('b'))];
    assert.deepEqual(await store.listApps({}), all(apps));
    for (const [index, after] of NAMES.entries()) {
      const page = { names: NAMES.slice(index + 1, index + 4), more: index + 4 < NAMES.length };
      assert.deepEqual(await store.listUsers('app', { after, limit: 3 }), page);
    }
    // Behind what cannot be in the tables.
    assert.deepEqual(await store.listUsers('app', { after: 'ab\0x', limit: 1 }), { names: ['b'], more: true });
    assert.deepEqual(await store.listUsers('app', { after: 'x'.repeat(200) }), all(NAMES.slice(NAMES.indexOf('É'))));
  });

  test(`${name}: each table has names that no other one has`, async () => {
    const { store, schema } = await fresh();
    const insert = (table, columns) => client.query(`insert into ${schema}.${table} ${columns}`);
    await insert('app_states', `values ('of-app', '{}', now())`);
    await insert('user_states', `values ('of-user', 'values', '{}', now())`);
    for (const id of ['s', 't']) {
      await insert('sessions', `values ('of-session', 'session', '${id}', '{}', now(), now())`);
    }
    assert.deepEqual(await store.listApps({}), all(['of-app', 'of-session', 'of-user']));
    assert.deepEqual(await store.listApps({ limit: 2 }), { names: ['of-app', 'of-session'], more: true });
    assert.deepEqual(await store.listUsers('of-user', {}), all(['values']));
    assert.deepEqual(await store.listUsers('of-session', {}), all(['session']));
    assert.deepEqual(await store.listUsers('of-app', {}), all([]));
    assert.deepEqual(await store.owners('of-session', 't'), ['session']);
  });

  test(`${name}: what cannot be in the tables has no owner and no user`, async () => {
    const { store } = await fresh();
    for (const text of ['x'.repeat(129), 'a\0', '\ud800']) {
      assert.deepEqual(await store.owners('app', text), []);
      assert.deepEqual(await store.owners(text, 's'), []);
      assert.deepEqual(await store.listUsers(text, {}), all([]));
    }
  });
}

await withDatabase((database) => nameTests('adk-database', database.pool(), () => schemaWithTables(database)));

await withLite((lite) => {
  let count = 0;
  nameTests('adk-database, PGlite', lite, async () => {
    const schema = `names_${count++}`;
    await lite.exec(makeTables(schema));
    return schema;
  });
});
