/**
 * A store in an SQLite file, over the connection of a library that runs SQLite in this process: `node:sqlite`,
 * `bun:sqlite`, better-sqlite3, libsql or node-sqlite3-wasm. Several processes may write to the same file.
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

import { StoreError } from '../../store/store-error.js';
import { checkArguments, type SqliteStoreOptions } from './options.js';
import { sqliteClient, type SqliteClient, type SqliteDatabase } from './client.js';
import { sqliteCore } from './core.js';
import { resultOf, undone } from './errors.js';
import { Hints, withHints } from './hints.js';
import type { SessionStore } from '../../store/contract.js';

export type { SqliteDatabase, SqliteStatement } from './client.js';
export type { SqliteStoreOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';

/**
 * How long to wait before asking once more for the write-ahead log, which another process may be turning on just now.
 */
const PAUSE_MS = 20;

/**
 * Makes a store over an open connection, which it never closes. `open` sets the connection's `busy_timeout` and
 * `synchronous`. No transaction may be open on the connection while the store is called: it throws `unavailable` then.
 * Throws a `StatepadError` `INVALID_ARGUMENT` when it is given something else than a connection.
 *
 * ```js
 * import { DatabaseSync } from 'node:sqlite';
 *
 * const service = new SessionService({ store: sqliteStore(new DatabaseSync('sessions.db')) });
 * ```
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): SessionStore {
  checkArguments(database, options);
  const { synchronous = 'full', journalMode, busyTimeout = 5000, log, pollMs = 200 } = options;
  const client = sqliteClient(database);
  const core = withHints(sqliteCore(client, log), new Hints(database, client, pollMs));
  return {
    ...core,
    durability: isInMemory(client) ? 'memory' : synchronous === 'full' ? 'disk' : 'os',
    open: async ({ migrate }, context) => {
      try {
        client.exec(`PRAGMA busy_timeout = ${milliseconds(busyTimeout)}`);
        // EXTRA is FULL with a write-ahead log; with another journal, only EXTRA keeps what was acknowledged.
        client.exec(`PRAGMA synchronous = ${synchronous === 'full' ? 'EXTRA' : 'NORMAL'}`);
        checkEncoding(client);
        if (migrate !== 'check' && journalMode !== 'keep') {
          await useLog(client, Date.now() + busyTimeout);
        }
      } catch (error) {
        throw undone(error);
      }
      if (journalMode === 'wal' && client.value('PRAGMA journal_mode') !== 'wal') {
        throw new StoreError('rejected', 'the database does not suit: it has no write-ahead log');
      }
      await core.open({ migrate }, context);
    },
    close: async () => client.close(),
  };
}

/** A time as SQLite takes it. */
function milliseconds(time: number): number {
  return Math.min(Math.max(0, Math.ceil(time)), 2 ** 31 - 1);
}

/** Whether the database is gone with the connection. */
function isInMemory(client: SqliteClient): boolean {
  try {
    return client
      .all('PRAGMA database_list', [])
      .some(({ name, file }) => name === 'main' && (file === '' || file === null));
  } catch {
    // The connection is not open yet.
    return false;
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
      `the database does not suit: its encoding is ${JSON.stringify(encoding)}, not "UTF-8"`,
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
