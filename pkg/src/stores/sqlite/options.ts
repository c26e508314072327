// The options of `sqliteStore`, and the checks of what it is given.

import { invalid } from '../../checks/arguments.js';
import { checkChoice, checkClient, checkOptionsObject } from '../shared/options.js';

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /**
   * When a change counts as written: `full`, which is the default, when it is on disk; `normal` when the operating
   * system has it, so that it survives the process, and not a loss of power. `normal` is many times faster.
   */
  readonly synchronous?: 'full' | 'normal' | undefined;
  /**
   * What `open` does with the file's journal. By default it takes a write-ahead log, with which readers never wait for
   * a writer, where the library can have one; `wal` insists on it; `keep` leaves everything as it is.
   */
  readonly journalMode?: 'wal' | 'keep' | undefined;
  /**
   * How long to wait for others that write, in milliseconds; 5,000 unless told otherwise. This process stands still
   * meanwhile. The change is `unavailable` then.
   */
  readonly busyTimeout?: number | undefined;
}

/** Throws `INVALID_ARGUMENT` for a connection or options that cannot be used. */
export function checkArguments(database: unknown, options: SqliteStoreOptions): void {
  checkClient(
    database,
    ['prepare', 'exec'],
    "sqliteStore needs an open connection, say new DatabaseSync('sessions.db') of node:sqlite",
  );
  checkOptionsObject(options);
  checkChoice('synchronous', options.synchronous, ['full', 'normal']);
  checkChoice('journalMode', options.journalMode, ['wal', 'keep']);
  const { busyTimeout = 0 } = options;
  if (!(typeof busyTimeout === 'number' && busyTimeout >= 0)) {
    invalid('busyTimeout', 'must be a number from 0, in milliseconds');
  }
}
