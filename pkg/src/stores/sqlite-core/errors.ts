// The errors of the libraries, and the meaning of each for the transaction.

import { StoreError, type StoreErrorCode, type StoreErrorDetails } from '../../store/store-error.js';

/**
 * The primary result codes that say something, with their number and the texts that stand for them where there is no
 * code.
 */
const RESULTS = {
  READONLY: [8, 'attempt to write a readonly database'],
  BUSY: [5, 'database is locked'],
  LOCKED: [6, 'database table is locked'],
  NOMEM: [7, 'out of memory'],
  INTERRUPT: [9, 'interrupted'],
  IOERR: [10, 'disk I/O error'],
  CORRUPT: [11, 'database disk image is malformed'],
  FULL: [13, 'database or disk is full'],
  CANTOPEN: [14, 'unable to open database file'],
  PROTOCOL: [15, 'locking protocol'],
  // The second text is better-sqlite3's own, when it has not even asked SQLite.
  TOOBIG: [18, 'string or blob too big', 'The bound string, buffer, or bigint is too big'],
  NOTADB: [26, 'file is not a database'],
} as const;

/** The name of a primary result code, without `SQLITE_`. */
export type SqliteResult = keyof typeof RESULTS;

/** The meaning of each for a transaction that is surely undone. */
const CODES: Readonly<Record<SqliteResult, StoreErrorCode>> = {
  READONLY: 'unavailable',
  BUSY: 'unavailable',
  LOCKED: 'unavailable',
  NOMEM: 'unavailable',
  INTERRUPT: 'unavailable',
  IOERR: 'unavailable',
  CORRUPT: 'corrupt',
  FULL: 'unavailable',
  CANTOPEN: 'unavailable',
  PROTOCOL: 'unavailable',
  TOOBIG: 'rejected',
  NOTADB: 'corrupt',
};

/** The result of SQLite that an error stands for, if it does. */
export function resultOf(error: unknown): SqliteResult | undefined {
  if (!(error instanceof Error)) {
    return undefined;
  }
  // better-sqlite3, libsql and bun:sqlite have a `code` such as SQLITE_BUSY_SNAPSHOT, node:sqlite has a number,
  // node-sqlite3-wasm a text.
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  const name = typeof code === 'string' && code.startsWith('SQLITE_') ? code.split('_')[1] : undefined;
  const number = typeof errcode === 'number' ? errcode & 0xff : undefined;
  const results = Object.keys(RESULTS) as SqliteResult[];
  return results.find((result) => {
    const [value, ...texts] = RESULTS[result];
    const hasCode = name !== undefined || number !== undefined;
    return hasCode ? name === result || number === value : texts.some((text) => text === error.message);
  });
}

/** The error to throw in place of one that came before anything was written, or with all of it undone. */
export function undone(error: unknown): unknown {
  const result = resultOf(error);
  return result === undefined ? error : storeError(CODES[result], error);
}

/** A {@link StoreError} with an error as its cause, and its text. */
export function storeError(code: StoreErrorCode, cause: unknown, details: StoreErrorDetails = {}): StoreError {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new StoreError(code, `the database says: ${text}`, { ...details, cause });
}
