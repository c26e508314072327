// The options of `adkDatabaseStore`, and the checks of its arguments.

import { checkOptions } from '../../checks/arguments.js';
import type { Integers } from './numbers.js';
import { checkChoice, checkClient, checkOptionsObject, checkText } from '../shared/options.js';

/** Options of `adkDatabaseStore`. */
export interface AdkDatabaseStoreOptions {
  /** The schema that the tables lie in: `public` by default. */
  readonly schema?: string | undefined;
  /**
   * True prepares statements that read under names, which is faster: the default with the clients of `pg` and those
   * made like them.
   */
  readonly prepare?: boolean | undefined;
  /**
   * The type of integers that others have written, and JavaScript cannot hold as numbers, as 9007199254740993 (2^53 +
   * 1): `'bigint'`. Without it, a session or a scope that has one cannot be read (`STORE_CORRUPT`).
   */
  readonly integers?: Integers;
}

/** Throws `INVALID_ARGUMENT` for a client or options that cannot be used. */
export function checkArguments(client: unknown, options: unknown): void {
  checkClient(client, ['query'], 'adkDatabaseStore takes a pool or a connected client of pg, or PGlite');
  checkOptionsObject(options);
  checkOptions(options, ['schema', 'prepare', 'integers']);
  const { schema, prepare, integers } = options as Record<string, unknown>;
  if (schema !== undefined) {
    checkText('schema', schema, 'the name of a schema');
  }
  checkChoice('prepare', prepare, [true, false]);
  checkChoice('integers', integers, ['bigint']);
}
