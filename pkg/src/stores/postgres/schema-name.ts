// The names of schemas, as statements write them.

import { StoreError } from '../../store/store-error.js';

/** The longest name of anything in Postgres, in bytes. */
const NAME_LIMIT = 63;

/** A schema's name as it is written in a statement. */
export function quotedSchema(name: string): string {
  const size = new TextEncoder().encode(name).length;
  // Statements quote it with dollars.
  if (size === 0 || size > NAME_LIMIT || /[\0$]/.test(name)) {
    const rule = `it needs 1 to ${NAME_LIMIT} bytes, none of them NUL or $`;
    throw new StoreError('rejected', `a schema cannot be named ${JSON.stringify(name)}: ${rule}`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}
