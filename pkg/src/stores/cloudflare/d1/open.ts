// Making the tables in D1, and finding out whether those that are there are ours.

import { isStoreError } from '../../../store/store-error.js';
import { batch, type D1DatabaseLike, type D1Query } from './client.js';
import { openSchema, textUnder, type Schema, type SchemaDriver } from '../../sqlite-core/open.js';
import { OUR_NAMES, READ_META } from '../../sqlite-core/statements.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { Migrate } from '../../../store/contract.js';

/** The number of times that others may come first. Each brings the tables further, so that there is an end to it. */
const MOST_ATTEMPTS = 10;

/** Fails when the version is not the one that was read, as another worker has come first: nothing is done then. */
const STILL = `INSERT INTO statepad_meta (name, value)
  SELECT 'version', NULL WHERE (SELECT value FROM statepad_meta WHERE name = 'version') IS NOT ?1`;

/** The tables as they were read. */
interface Found {
  readonly names: readonly SqlRow[];
  readonly meta: readonly SqlRow[];
}

/** The bindings whose tables suit: a worker may make a store, and open it, for each request. */
const suiting = new WeakSet<D1DatabaseLike>();

/** See `SessionStore.open`. */
export async function openD1(database: D1DatabaseLike, migrate: Migrate): Promise<void> {
  if (!suiting.has(database)) {
    await openTables(database, migrate);
    suiting.add(database);
  }
}

/** Reads, then does all that there is to do in one batch; others may come between the two. */
export async function openTables(database: D1DatabaseLike, migrate: Migrate, schema?: Schema): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const found = await find(database);
    const steps = stepsFor(found, migrate, schema);
    if (steps.length === 0) {
      return;
    }
    try {
      const version = textUnder('version', found.meta);
      const guard = version === undefined ? [] : [{ sql: STILL, values: [version] }];
      await batch(database, [...guard, ...steps]);
      return;
    } catch (error) {
      if (
        isStoreError(error) ||
        attempt === MOST_ATTEMPTS ||
        JSON.stringify(await find(database)) === JSON.stringify(found)
      ) {
        throw error;
      }
    }
  }
}

async function find(database: D1DatabaseLike): Promise<Found> {
  const names: D1Query = { sql: OUR_NAMES, values: [] };
  try {
    const [found = [], meta = []] = await batch(database, [names, { sql: READ_META, values: [] }]);
    return { names: found, meta };
  } catch (error) {
    if (!(error instanceof Error && /no such (table|column)/.test(error.message))) {
      throw error;
    }
    const [found = []] = await batch(database, [names]);
    return { names: found, meta: [] };
  }
}

/** The statements that are to be run. Throws `rejected` when the tables do not suit. */
function stepsFor({ names, meta }: Found, migrate: Migrate, schema: Schema | undefined): D1Query[] {
  const steps: D1Query[] = [];
  const recorder: SchemaDriver = {
    run: (sql, values) => void steps.push({ sql, values }),
    all: (sql) => (sql === OUR_NAMES ? names : meta),
    snapshot: (read) => read(),
    transaction: (write) => write(),
  };
  openSchema(recorder, migrate, schema);
  return steps;
}
