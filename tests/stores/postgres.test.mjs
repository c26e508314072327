// The store in Postgres over a real server, and over PGlite.

import { after, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { postgresStore } from 'statepad/stores/postgres';
import { postgresForTests } from '../support/postgres.mjs';
import { storeTests } from './run.mjs';

const { server, skip } = await postgresForTests();
const pools = [];
let schemas = 0;

/** Storage for each case in turn: a schema that is emptied, as making one takes longer. */
function storage(client, another) {
  const schema = `statepad_test_${process.pid}_${++schemas}`;
  const make = () => postgresStore(client, { schema });
  const tables = ['scopes', 'sessions', 'events', 'state', 'counts', 'updates'].map((table) => `${schema}.${table}`);
  const dispose = () => client.query(`truncate ${tables.join()}`);
  return async () => {
    const store = make();
    await store.open({ migrate: 'create' });
    return { store, reopen: make, another: () => postgresStore(another, { schema }), dispose };
  };
}

if (skip) {
  test('a real server', { skip }, () => {});
} else {
  after(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await server.stop();
  });
  storeTests('postgres', storage(makePool(), makePool()), { without: ['watch'] });
}

function makePool() {
  const pool = new pg.Pool({ connectionString: server.url, max: 4 });
  pools.push(pool);
  return pool;
}

const lite = new PGlite();
after(() => lite.close());
storeTests('postgres, PGlite', storage(lite, lite), { without: ['watch'] });
