/**
 * A store in an SQLite file, which it opens by its path, or over the connection of a library that runs SQLite in
 * this process: `node:sqlite`, `bun:sqlite`, better-sqlite3, libsql or node-sqlite3-wasm. Several processes may write
 * to the same file.
 *
 * Its tables all begin with `statepad_`; others may lie beside them.
 *
 * node-sqlite3-wasm locks files in its own way: no other library may use the same file at the same time, readers wait
 * for writers, and a process that was killed leaves its lock behind (a folder `<file>.lock`). A connection that has
 * the file for itself can say `PRAGMA locking_mode = EXCLUSIVE` before it is given to the store: then there is a
 * write-ahead log, which is several times faster, and from then on every connection to this file has to say so.
 *
 * @packageDocumentation
 */

import { warnOfAborts } from './aborts.js';
import { StoreError } from '../../store/store-error.js';
import { checkArguments, type SqliteStoreOptions } from './options.js';
import { isPath, type FileUrl } from '../sqlite-core/file.js';
import { sqliteClient, type SqliteClient, type SqliteDatabase } from '../sqlite-core/client.js';
import { sqliteCore } from '../sqlite-core/core.js';
import { resultOf, undone } from '../sqlite-core/errors.js';
import { Hints, withHints } from './hints.js';
import { OwnConnection } from './own-connection.js';
import { PlacedFile } from '../shared/placed-file.js';
import type { Migrate, SessionStore, StoreContext } from '../../store/contract.js';

export type { SqliteDatabase, SqliteStatement } from '../sqlite-core/client.js';
export { openReadOnly, type ReadOnlyDatabase, type ReadOnlyOptions } from '../sqlite-core/read-only.js';
export type { FileUrl } from '../sqlite-core/file.js';
export type { SqliteStoreOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';

/**
 * The pause, in milliseconds, before asking once more for the write-ahead log, which another process may be turning on
 * just now.
 */
const PAUSE_MS = 20;

/**
 * Makes a store in the database at a path, or over an open connection.
 *
 * - A path (`'sessions.db'`, relative to the current folder), the URL of a file, or `':memory:'`: `open` opens the
 *   database, and makes it where there is none; `close` closes it. It is opened by `node:sqlite` (Node 22.13 or later,
 *   Deno) or `bun:sqlite`, and in an older Node by better-sqlite3 where that is installed. Opening throws `rejected`
 *   when there is none of them, or no database can be at that path.
 * - A connection is never closed. No transaction may be open on it while the store is called: it throws `unavailable`
 *   then.
 *
 * `open` sets the connection's `busy_timeout` and `synchronous`, and turns the write-ahead log on. Once the file is
 * renamed, deleted or replaced by another one, every call is `unavailable`: what is written to the old file would
 * reach nobody. Throws a `StatepadError` `INVALID_ARGUMENT` when it is given neither a path nor a connection.
 *
 * ```js
 * const service = new SessionService({ store: sqliteStore('sessions.db') });
 * ```
 */
export function sqliteStore(
  database: SqliteDatabase | FileUrl | string,
  options: SqliteStoreOptions = {},
): SessionStore {
  checkArguments(database, options);
  const { synchronous = 'full', journalMode, busyTimeout = 5000, log, pollMs = 200 } = options;
  const own = isPath(database) ? new OwnConnection(database, () => client.close()) : undefined;
  const connection = own ?? (database as SqliteDatabase);
  let file = own === undefined ? fileOf(connection) : undefined;
  const client: SqliteClient = sqliteClient(connection, () => (own === undefined ? file : own.file));
  const core = withHints(sqliteCore(client, log), new Hints(connection, client, pollMs));
  const prepare = async (migrate: Migrate, context: StoreContext): Promise<void> => {
    try {
      client.exec(`PRAGMA busy_timeout = ${milliseconds(busyTimeout)}`);
      // EXTRA is FULL with a write-ahead log; with another journal, only EXTRA keeps acknowledged changes.
      client.exec(`PRAGMA synchronous = ${synchronous === 'full' ? 'EXTRA' : 'NORMAL'}`);
      checkEncoding(client);
      if (migrate !== 'check' && journalMode !== 'keep') {
        await useLog(client, Date.now() + busyTimeout);
      }
    } catch (error) {
      throw undone(error);
    }
    if (journalMode === 'wal' && client.value('PRAGMA journal_mode') !== 'wal') {
      throw new StoreError('rejected', 'the database is unsuitable: it has no write-ahead log');
    }
    await core.open({ migrate }, context);
  };
  const isInMemory = own === undefined ? mainFile(client) === '' : own.isInMemory;
  return {
    ...core,
    durability: isInMemory ? 'memory' : synchronous === 'full' ? 'disk' : 'os',
    open: async ({ migrate }, context) => {
      if (own !== undefined) {
        await own.open(migrate === 'check', async () => await prepare(migrate, context));
        return;
      }
      warnOfAborts(connection);
      // It may not have been open before.
      file ??= fileOf(connection);
      await prepare(migrate, context);
    },
    close: async () => (own ?? client).close(),
  };
}

/** A time as SQLite takes it. */
function milliseconds(time: number): number {
  return Math.min(Math.max(0, Math.ceil(time)), 2 ** 31 - 1);
}

/** The file of a connection, for a look at whether it is still there. */
function fileOf(connection: SqliteDatabase): PlacedFile | undefined {
  const client = sqliteClient(connection);
  const path = mainFile(client);
  client.close();
  return path === undefined || path === '' ? undefined : PlacedFile.at(path);
}

/**
 * The path of a connection's file, from the root; `''` where the database ends with the connection, and `undefined`
 * where that is not known, as the connection is not open yet.
 */
function mainFile(client: SqliteClient): string | undefined {
  try {
    const main = client.all('PRAGMA database_list', []).find(({ name }) => name === 'main');
    return main && ((main['file'] ?? '') as string);
  } catch {
    return undefined;
  }
}

/**
 * Lists are sorted by the bytes of UTF-8. A library that knows nothing else, as node-sqlite3-wasm, does not answer.
 */
function checkEncoding(client: SqliteClient): void {
  const encoding = client.value('PRAGMA encoding');
  if (encoding !== undefined && encoding !== 'UTF-8') {
    throw new StoreError(
      'rejected',
      `the database is unsuitable: its encoding is ${JSON.stringify(encoding)}, not "UTF-8"`,
    );
  }
}

/**
 * Turns the write-ahead log on, which the file remembers. SQLite does not wait for others here as it does elsewhere.
 */
async function useLog(client: SqliteClient, deadline: number): Promise<void> {
  while (client.value('PRAGMA journal_mode') !== 'wal') {
    try {
      client.value('PRAGMA journal_mode = WAL');
      return;
    } catch (error) {
      if (resultOf(error) !== 'BUSY' || Date.now() > deadline) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
