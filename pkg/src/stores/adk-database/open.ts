// Looks at the tables. Nothing is made or changed.

import { identifyTables, type AdkRow } from './detect.js';
import { literal } from './sql.js';
import { StoreError } from '../../store/store-error.js';
import type { Database } from './client.js';

/** The columns of ids and of the names of apps and users, whose length in the tables is bounded. */
const KEYS = {
  sessions: ['app_name', 'user_id', 'id'],
  events: ['id', 'app_name', 'user_id', 'session_id'],
} as const;
const KEY_LENGTH = 128;

/**
 * Throws `rejected`, saying what is there, unless that is what adk-python has made in a schema, in the layout that it
 * calls version 1.
 */
export async function checkTables(database: Database, schema: string, quoted: string): Promise<void> {
  // Tables are looked for as a statement without a schema would, which is how others find theirs.
  const path = `select set_config('search_path', ${literal(quoted)}, true)`;
  const query = async (text: string): Promise<readonly AdkRow[]> =>
    (await database.run([path, text], true)).at(-1) as readonly AdkRow[];
  const { kind, signs, tables } = await identifyTables({ dialect: 'postgres', query });
  const what = signs.join(', ');
  if (kind === 'unknown' && tables.size === 0) {
    const help = 'let adk-python create its tables first, with DatabaseSessionService.prepare_tables()';
    throw new StoreError('rejected', `there are no tables of adk-python in the schema "${schema}": ${help}`);
  }
  if (kind === 'unknown') {
    throw new StoreError('rejected', `the schema "${schema}" holds tables that do not belong to a known ADK: ${what}`);
  }
  if (kind !== 'adk-python-v1') {
    const help = 'import it with importAdk of statepad/import-adk';
    const message = `the schema "${schema}" holds a database of the kind ${kind} (${what}), not of adk-python-v1`;
    throw new StoreError('rejected', `${message}, the only supported kind: ${help}`);
  }
  for (const [table, columns] of Object.entries(KEYS)) {
    for (const column of columns) {
      const { length } = tables.get(table)?.get(column) ?? {};
      if (length !== undefined && length < KEY_LENGTH) {
        throw new StoreError(
          'rejected',
          `${table}.${column} keeps ${length} characters, but adk-python has ${KEY_LENGTH}`,
        );
      }
    }
  }
}
