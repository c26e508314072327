// The options of `sqliteStore`, and their checks.

import { invalid } from '../../checks/arguments.js';
import { checkPath, isPath } from '../sqlite-core/file.js';
import { checkChoice, checkClient, checkOptionsObject } from '../shared/options.js';

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /**
   * The point at which a change counts as written: `full`, which is the default, when it is on disk; `normal` when the
   * operating system has it, so that it survives the process, and not a loss of power. `normal` is many times faster.
   */
  readonly synchronous?: 'full' | 'normal' | undefined;
  /**
   * The treatment of the file's journal by `open`. By default it takes a write-ahead log, with which readers never
   * wait for a writer, where the library can have one; `wal` insists on it; `keep` leaves everything as it is.
   */
  readonly journalMode?: 'wal' | 'keep' | undefined;
  /**
   * The longest wait for other writers, in milliseconds. Default: 5,000. This process stands still meanwhile. The
   * change is `unavailable` then.
   */
  readonly busyTimeout?: number | undefined;
  /**
   * True to keep a log of app and user values, which is the default: their past is exact then, across sessions. All
   * stores on one file should agree: a write without a log ends the record of the time before.
   */
  readonly log?: boolean | undefined;
  /**
   * The interval of the looks at the file for writes of other connections, in milliseconds. Default: 200. It takes
   * microseconds, unless there is something new. `Infinity`: never.
   */
  readonly pollMs?: number | undefined;
}

/** Throws `INVALID_ARGUMENT` for a path, a connection or options that cannot be used. */
export function checkArguments(database: unknown, options: SqliteStoreOptions): void {
  if (isPath(database)) {
    checkPath(database);
  } else {
    checkClient(
      database,
      ['prepare', 'exec'],
      "sqliteStore needs a path, such as 'sessions.db', or an open connection, such as new DatabaseSync('sessions.db')",
    );
  }
  checkOptionsObject(options);
  checkChoice('synchronous', options.synchronous, ['full', 'normal']);
  checkChoice('journalMode', options.journalMode, ['wal', 'keep']);
  checkChoice('log', options.log, [true, false]);
  const { busyTimeout = 0, pollMs = 1 } = options;
  if (!(typeof pollMs === 'number' && pollMs > 0)) {
    invalid('pollMs', 'must be a number above 0, in milliseconds');
  }
  if (!(typeof busyTimeout === 'number' && busyTimeout >= 0)) {
    invalid('busyTimeout', 'must be a number from 0, in milliseconds');
  }
}
