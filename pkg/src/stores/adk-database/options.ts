// The options of `adkDatabaseStore`, and the checks of what it is given.

import { checkOptions } from '../../checks/arguments.js';
import { checkChoice, checkClient, checkOptionsObject, checkText } from '../shared/options.js';

/** Options of `adkDatabaseStore`. */
export interface AdkDatabaseStoreOptions {
  /** The schema that the tables lie in: `public` unless told otherwise. */
  readonly schema?: string | undefined;
  /**
   * Whether statements that read are prepared under names, which is faster: yes, unless told otherwise, with the
   * clients of `pg` and those made like them.
   */
  readonly prepare?: boolean | undefined;
}

/** Throws `INVALID_ARGUMENT` for a client or options that cannot be used. */
export function checkArguments(client: unknown, options: unknown): void {
  checkClient(client, ['query'], 'adkDatabaseStore takes a pool or a connected client of pg, or PGlite');
  checkOptionsObject(options);
  checkOptions(options, ['schema', 'prepare']);
  const { schema, prepare } = options as Record<string, unknown>;
  if (schema !== undefined) {
    checkText('schema', schema, 'the name of a schema');
  }
  checkChoice('prepare', prepare, [true, false]);
}
