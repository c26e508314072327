// The store cases over a real Postgres server, and over PGlite.

import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { runStoreCase, storeCases } from 'statepad/testing';
import { withDatabase, withLite } from './database.mjs';
import { storeTests } from '../support/run.mjs';

/** Storage for each case in turn: a schema that is emptied, as making one takes longer. */
async function storage(client, another, schema, [listen, alsoListen] = []) {
  const make = () => postgresStore(client, { schema, listen });
  const tables = [
    'scopes',
    'sessions',
    'events',
    'state',
    'moves',
    'counts',
    'updates',
    'creations',
    'refused',
    'log',
    'claims',
  ].map((table) => `${schema}.${table}`);
  const dispose = () => client.query(`truncate ${tables.join()}`);
  await make().open({ migrate: 'create' });
  return () => ({
    store: make(),
    reopen: make,
    another: () => postgresStore(another, { schema, listen: alsoListen }),
    dispose,
  });
}

await withDatabase(async (database) => {
  const [pool, other] = [database.pool(), database.pool()];
  storeTests('postgres', await storage(pool, other, database.schema()), { without: ['watch'] });

  const open = await storage(pool, other, database.schema(), [await database.listener(), await database.listener()]);
  for (const storeCase of storeCases.filter(({ needs }) => needs.includes('watch'))) {
    test(`postgres, listening: ${storeCase.name}`, () => runStoreCase(storeCase, open));
  }
});

await withLite(async (lite) => {
  storeTests('postgres, PGlite', await storage(lite, lite, 'statepad'), { without: ['watch'] });
});
