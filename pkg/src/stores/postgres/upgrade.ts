// The way from version 1 to version 2, within the one transaction that opens the store.

import { literal } from './functions/common.js';
import { REFUSED, VERSION } from './version.js';

/** The functions of version 1 that write, with their parameters and what they answer. */
const WRITERS = [
  ['commit_v1(scopes text, sessions text, locks text, changes text)', 'text'],
  ['remove_v1(app_name text, user_name text, session_id text)', 'boolean'],
  ['remove_scope_v1(app_name text, user_name text)', 'boolean'],
] as const;

/**
 * The statements that come before those that add what is new. Processes of version 1 that are still running can read
 * on, and write no more: the functions by which they write are still there, and refuse, with an error that they take
 * for what it is, a refusal.
 *
 * All that version 1 does begins at the table of the scopes: to lock that one waits for everything that has begun. A
 * call that comes while the upgrade runs, and has looked up its function before, waits at that table and goes on
 * afterwards, as version 1 writes. That is one change, made as a whole; it leaves the position that it moves without a
 * mark.
 */
export function upgradeFrom1(schema: string): string[] {
  const message = `the schema ${schema} has version ${VERSION}, newer than the version 1 of this process: update statepad`;
  return [
    `lock table ${schema}.scopes in access exclusive mode`,
    ...WRITERS.map(
      ([
        signature,
        answer,
      ]) => `create or replace function ${schema}.${signature} returns ${answer} language plpgsql as $refuse$
    begin
      raise exception using errcode = '${REFUSED}', message = ${literal(message)};
    end
    $refuse$`,
    ),
  ];
}
