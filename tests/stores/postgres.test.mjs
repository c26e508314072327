// The store cases over a real Postgres server, and over PGlite.

import { after } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { postgresStore } from 'statepad/stores/postgres';
import { withDatabase } from './postgres-database.mjs';
import { storeTests } from './run.mjs';

/** Storage for each case in turn: a schema that is emptied, as making one takes longer. */
async function storage(client, another, schema) {
  const make = () => postgresStore(client, { schema });
  const tables = ['scopes', 'sessions', 'events', 'state', 'counts', 'updates'].map((table) => `${schema}.${table}`);
  const dispose = () => client.query(`truncate ${tables.join()}`);
  await make().open({ migrate: 'create' });
  return () => ({ store: make(), reopen: make, another: () => postgresStore(another, { schema }), dispose });
}

await withDatabase(async (database) => {
  storeTests('postgres', await storage(database.pool(), database.pool(), database.schema()), { without: ['watch'] });
});

const lite = new PGlite();
after(() => lite.close());
storeTests('postgres, PGlite', await storage(lite, lite, 'statepad'), { without: ['watch'] });
