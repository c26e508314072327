// One client for all libraries that run SQLite in the same process: they differ in how values are bound and in errors.

import { resultOf, storeError, undone } from './errors.js';
import { StoreError } from '../../store/store-error.js';
import type { SqlDriver, SqlRow, SqlValue } from './driver.js';
import type { PlacedFile } from '../shared/placed-file.js';

/** The part of a prepared statement that is needed; the libraries have more. */
export interface SqliteStatement {
  run(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown;
}

/**
 * The part of a connection that is needed: that of `node:sqlite` (`DatabaseSync`), `bun:sqlite`, better-sqlite3,
 * libsql or node-sqlite3-wasm has it. All of it is synchronous.
 */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
}

/** The further methods that some of them have. */
interface AnyStatement extends SqliteStatement {
  /** node-sqlite3-wasm: frees it. */
  finalize?(): void;
  /** node:sqlite, where values are bound one by one. */
  setReadBigInts?(enabled: boolean): void;
  setReturnArrays?(enabled: boolean): void;
  /** better-sqlite3, libsql and `bun:sqlite`. */
  safeIntegers?(enabled: boolean): unknown;
  /** `bun:sqlite`: runs it, and answers rows that are lists. It has another `raw`, which runs it, too. */
  values?(...values: unknown[]): unknown;
  /** better-sqlite3 and libsql: makes `all` answer rows that are lists. */
  raw?(enabled: boolean): unknown;
}

/** A statement, ready to run. */
interface Prepared {
  readonly statement: AnyStatement & Required<Pick<AnyStatement, 'values'>>;
  /**
   * The method that reads its rows: by the names of their columns, or as lists if requested and the library has such.
   */
  readonly read: 'all' | 'values';
  /** Values are bound as one list; otherwise one by one, as in node:sqlite. */
  readonly takesList: boolean;
}

/** Runs statements on a connection. */
export interface SqliteClient extends SqlDriver {
  /** Runs statements that nothing is bound to, and that answer nothing. */
  exec(sql: string): void;
  /** Reads the only value that a statement answers. */
  value(sql: string): unknown;
  /** Returns what has become of the file, if it is not at its path any more: see {@link PlacedFile.moved}. */
  moved(): string | undefined;
  /** Frees all statements; the connection stays open. */
  close(): void;
}

/**
 * The client over a connection. `file` is that of the connection, if it can be looked at: `snapshot` and `transaction`
 * throw `unavailable` once it is not at its path any more.
 */
export function sqliteClient(
  database: SqliteDatabase,
  file: () => PlacedFile | undefined = () => undefined,
): SqliteClient {
  const statements = new Map<string, Prepared>();
  /** Lets go of a statement: after an error, some libraries cannot use it again. */
  const drop = (sql: string): void => {
    const statement = statements.get(sql)?.statement;
    statements.delete(sql);
    try {
      statement?.finalize?.();
    } catch {
      // It throws the error of its last run once more.
    }
  };
  const prepared = (sql: string, isList: boolean): Prepared => {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = prepare(database, sql, isList);
      statements.set(sql, statement);
    }
    return statement;
  };
  const rowsOf = (sql: string, values: readonly SqlValue[], isList: boolean): readonly unknown[] => {
    try {
      const { statement, read, takesList } = prepared(sql, isList);
      return (takesList ? statement[read](values) : statement[read](...values)) as readonly unknown[];
    } catch (error) {
      drop(sql);
      throw error;
    }
  };
  const rows = (sql: string, values: readonly SqlValue[]): readonly SqlRow[] =>
    rowsOf(sql, values, false) as readonly SqlRow[];
  // Some libraries have no other rows than those by names.
  const listOf = (row: unknown): readonly unknown[] => (Array.isArray(row) ? row : Object.values(row as SqlRow));
  const begin = (sql: string): void => {
    try {
      database.exec(sql);
    } catch (error) {
      // Nothing has begun, whatever the error is.
      throw resultOf(error) === undefined ? storeError('unavailable', error) : undone(error);
    }
  };
  const moved = (): string | undefined => file()?.moved();
  const checkPlace = (): void => {
    const what = moved();
    if (what !== undefined) {
      throw new StoreError('unavailable', `${what}: open the store again, on the right file`);
    }
  };
  return {
    moved,
    exec: (sql) => void database.exec(sql),
    value: (sql) => Object.values(rows(sql, [])[0] ?? {})[0],
    run: (sql, values) => {
      try {
        const { statement, takesList } = prepared(sql, false);
        if (takesList) {
          statement.run(values);
        } else {
          statement.run(...values);
        }
      } catch (error) {
        drop(sql);
        throw resultOf(error) === 'TOOBIG' ? storeError('rejected', error, { size: bytesOf(values) }) : error;
      }
    },
    all: rows,
    first: (sql, values) => {
      const [row] = rowsOf(sql, values, true);
      return row === undefined ? undefined : listOf(row);
    },
    lists: (sql, values) => rowsOf(sql, values, true).map(listOf),
    snapshot: (read) => {
      begin('BEGIN');
      try {
        const result = read();
        checkPlace();
        return result;
      } catch (error) {
        throw undone(error);
      } finally {
        rollBack(database);
      }
    },
    transaction: (write) => {
      begin('BEGIN IMMEDIATE');
      let isCommitting = false;
      try {
        const result = write();
        checkPlace();
        isCommitting = true;
        database.exec('COMMIT');
        // It may have moved since that look. Then it is not known which of the files others will read.
        const what = moved();
        if (what !== undefined) {
          throw new Error(`${what} while a change was written`);
        }
        return result;
      } catch (error) {
        throw rollBack(database) && (!isCommitting || isCertain(error)) ? undone(error) : error;
      }
    },
    close: () => [...statements.keys()].forEach(drop),
  };
}

/** Prepares a statement, whose rows are lists of their columns if that is requested and the library has such. */
function prepare(database: SqliteDatabase, sql: string, isList: boolean): Prepared {
  const statement: AnyStatement = database.prepare(sql);
  // The connection may have other defaults.
  statement.safeIntegers?.(false);
  statement.setReadBigInts?.(false);
  statement.setReturnArrays?.(isList);
  const isOfBun = statement.values !== undefined;
  if (isList && !isOfBun) {
    statement.raw?.(true);
  }
  return {
    statement: statement as Prepared['statement'],
    read: isList && isOfBun ? 'values' : 'all',
    takesList: statement.setReadBigInts === undefined,
  };
}

/** The size of the texts among the values, in bytes. */
function bytesOf(values: readonly SqlValue[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? new TextEncoder().encode(value).length : 0),
    0,
  );
}

/**
 * True when a COMMIT that failed so has written nothing: it could not lock the file, or had no room before the end.
 */
function isCertain(error: unknown): boolean {
  return ['BUSY', 'FULL'].includes(resultOf(error) ?? '');
}

/** Undoes the current transaction, if there is one still. Says whether none is left. */
function rollBack(database: SqliteDatabase): boolean {
  try {
    database.exec('ROLLBACK');
    return true;
  } catch (error) {
    // SQLite has undone it by itself, as it does for some errors.
    return error instanceof Error && error.message.includes('no transaction is active');
  }
}
