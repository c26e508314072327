// The errors of D1 and Durable Objects, known by their texts, and what each says about the transaction.

import { isStoreError, StoreError, type StoreErrorCode } from '../../store/store-error.js';

/**
 * The meanings of SQLite's result codes, at the end of the message, of a batch or transaction: it was undone. That of
 * a database that is full may go through later, when something has been deleted.
 */
const UNDONE: Readonly<Record<string, StoreErrorCode>> = {
  BUSY: 'unavailable',
  LOCKED: 'unavailable',
  NOMEM: 'unavailable',
  INTERRUPT: 'unavailable',
  FULL: 'unavailable',
  CORRUPT: 'corrupt',
  NOTADB: 'corrupt',
  TOOBIG: 'rejected',
};

/**
 * Texts without such a code that are said before a statement has run. All others about the network, timeouts, internal
 * errors and databases that were reset leave open what became of the statements.
 */
const NEVER_RUN: readonly (readonly [RegExp, StoreErrorCode])[] = [
  [/database is locked/i, 'unavailable'],
  [/D1 DB is overloaded/i, 'unavailable'],
  [/cannot resolve D1 DB/i, 'unavailable'],
  [/exceeded maximum DB size/i, 'unavailable'],
  [/your account has exceeded D1's/i, 'unavailable'],
  [/string or blob too big|statement too long/i, 'rejected'],
];

/** The error to throw in place of one of the platform: a `StoreError` when it is certain that nothing was written. */
export function known(error: unknown): unknown {
  if (isStoreError(error) || !(error instanceof Error)) {
    return error;
  }
  const { message } = error;
  const result = /\bSQLITE_([A-Z]+)/.exec(message)?.[1];
  const code =
    (result === undefined ? undefined : UNDONE[result]) ?? NEVER_RUN.find(([text]) => text.test(message))?.[1];
  return code === undefined ? error : new StoreError(code, `the database says: ${message}`, { cause: error });
}
