// Opens a file for reading alone: nothing is made, nothing is altered, and nothing is left beside it.

import { isStoreError, StoreError } from '../../store/store-error.js';
import { builtinModule, type DatabaseClass } from '../shared/builtin.js';
import { absolute, checkPath, type FileUrl } from './file.js';
import { resultOf } from './errors.js';
import { databaseClass } from './library.js';
import type { SqliteDatabase } from './client.js';

/** Options of `openReadOnly`. */
export interface ReadOnlyOptions {
  /** The class of better-sqlite3, for a host without a library of its own. */
  readonly Database?: (new (path: string, options?: object) => SqliteDatabase & { close(): unknown }) | undefined;
}

/** A connection that reads alone. */
export interface ReadOnlyDatabase extends SqliteDatabase {
  close(): void;
}

/** The longest wait for a writer, in milliseconds: this process stands still meanwhile. */
const BUSY_MS = 1000;

/** A statement that reads the file, and little of it. */
const PROBE = 'SELECT count(*) FROM sqlite_master';

/**
 * Opens the database in a file for reading alone: writes are refused, others may write meanwhile, and no file is made
 * where there is none. A file with a write-ahead log makes SQLite lay two files beside it while it is open; they are
 * gone once the last connection is closed. Of a folder that cannot be written it takes the file as it is then: where
 * others write to it from elsewhere, open it again.
 *
 * Throws a `StoreError`: `rejected` when there is no such file, or it is no database; `unavailable` when it cannot be
 * read now.
 *
 * ```js
 * const database = await openReadOnly('sessions.db');
 * const service = new SessionService({ store: sqliteStore(database), migrate: 'check' });
 * ```
 */
export async function openReadOnly(path: string | FileUrl, options: ReadOnlyOptions = {}): Promise<ReadOnlyDatabase> {
  checkPath(path);
  const name = typeof path === 'string' ? path : path.href;
  try {
    return opened(absolute(name), (options.Database as DatabaseClass | undefined) ?? (await databaseClass()));
  } catch (error) {
    throw isStoreError(error)
      ? new StoreError(error.code, `the database "${name}": ${error.message}`, { cause: error.cause ?? error })
      : error;
  }
}

function opened(path: string, Database: DatabaseClass): ReadOnlyDatabase {
  const { statSync } = builtinModule('node:fs') ?? {};
  const stats = statSync?.(path, { throwIfNoEntry: false });
  if (stats === undefined) {
    throw new StoreError('rejected', 'there is no such file');
  }
  if (stats.isDirectory()) {
    throw new StoreError('rejected', 'it is a folder');
  }
  const hadLog = statSync?.(`${path}-wal`, { throwIfNoEntry: false }) !== undefined;
  const database = connected(path, hadLog, Database);
  return {
    prepare: (sql) => database.prepare(sql),
    exec: (sql) => database.exec(sql),
    close: () => {
      database.close();
      if (!hadLog) {
        removeEmptyLog(path, Database);
      }
    },
  };
}

type Connected = InstanceType<DatabaseClass>;

function connected(path: string, hadLog: boolean, Database: DatabaseClass): Connected {
  try {
    return probed(new Database(path, optionsOf(Database)));
  } catch (error) {
    const result = resultOf(error);
    if (result === 'NOTADB' || result === 'CORRUPT') {
      throw new StoreError('rejected', 'it is not an SQLite database', { cause: error });
    }
    // Without a log nobody has it open: SQLite asks for a file beside it that cannot be made.
    const isUnshareable = (result === 'CANTOPEN' || result === 'READONLY') && !hadLog;
    const taken = isUnshareable ? asItIs(path, Database) : undefined;
    if (taken !== undefined) {
      return taken;
    }
    throw result === 'READONLY'
      ? new StoreError('rejected', 'it has a write-ahead log, and its folder cannot be written', { cause: error })
      : new StoreError(result === 'CANTOPEN' ? 'rejected' : 'unavailable', `it cannot be opened: ${String(error)}`, {
          cause: error,
        });
  }
}

/** Opens a file that nobody writes to. `undefined` for a library that takes no names as SQLite has them. */
function asItIs(path: string, Database: DatabaseClass): Connected | undefined {
  const url = builtinModule('node:url')?.pathToFileURL?.(path);
  try {
    return url && probed(new Database(`${url.href}?immutable=1`, optionsOf(Database)));
  } catch {
    return undefined;
  }
}

function probed(database: Connected): Connected {
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    database.prepare(PROBE).all();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** node:sqlite and the others have different names for it, and better-sqlite3 takes no other. */
function optionsOf(Database: DatabaseClass): object {
  return Database === builtinModule('node:sqlite')?.DatabaseSync ? { readOnly: true } : { readonly: true };
}

/**
 * A connection that cannot write leaves the log that was made for it. One that can removes it when it is closed,
 * unless others have the file open. Where it is not empty, others have made it.
 */
function removeEmptyLog(path: string, Database: DatabaseClass): void {
  try {
    if (builtinModule('node:fs')?.statSync?.(`${path}-wal`, { throwIfNoEntry: false })?.size === 0) {
      probed(new Database(path)).close();
    }
  } catch {
    // It stays, and does no harm.
  }
}
