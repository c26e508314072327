// The store cases over the tables of adk-python: on a real Postgres server over a pool and over one connection, and on
// PGlite.

import { adkDatabaseStore } from 'statepad/stores/adk-database';
import { storeTests } from '../support/run.mjs';
import { withDatabase, withLite } from '../postgres/database.mjs';
import { emptyTables, makeTables, schemaWithTables } from './tables.mjs';

/** The features that the tables and the store have no place for. */
const without = [
  ...['revisions', 'order', 'texts', 'ids', 'times', 'created', 'beginnings', 'repeats', 'operators'],
  ...[
    'commitMany',
    'watch',
    'lease',
    'trimLog',
    'sweep',
    'claim',
    'marks',
    'changed',
    'calls',
    'creations',
    'removals',
    'log',
    'digests',
    'limits',
    'expiry',
    'lifetime',
  ],
  ...['increment', 'append', 'setOnce', 'compareAndSet'],
];

/** Storage for each case in turn: a schema that is emptied. */
function storage(client, another, schema) {
  const make = () => adkDatabaseStore(client, { schema });
  return () => ({
    store: make(),
    reopen: make,
    another: () => adkDatabaseStore(another, { schema }),
    dispose: () => client.query(emptyTables(schema)),
  });
}

await withDatabase(async (database) => {
  const [pool, other] = [database.pool(), database.pool()];
  storeTests('adk-database', storage(pool, other, await schemaWithTables(database)), { without });

  const [single, another] = [await database.listener(), await database.listener()];
  const open = storage(single, another, await schemaWithTables(database));
  storeTests('adk-database, one connection', open, { without });
});

await withLite(async (lite) => {
  await lite.exec(makeTables('adk'));
  storeTests('adk-database, PGlite', storage(lite, lite, 'adk'), { without });
});
