// The options of `sqliteStore`, and their checks.

import { invalid } from '../../checks/arguments.js';
import { checkChoice, checkClient, checkOptionsObject, checkText } from '../shared/options.js';

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

/** The URL of a file: the part of a `URL` that is needed. */
export interface FileUrl {
  readonly href: string;
  readonly protocol: string;
}

/** True for the name of a file. A `URL` may be that of another realm. */
export function isPath(database: unknown): database is string | FileUrl {
  const { href, protocol } = (database ?? {}) as Partial<FileUrl>;
  return typeof database === 'string' || (typeof href === 'string' && typeof protocol === 'string');
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

function checkPath(path: string | FileUrl): void {
  if (typeof path !== 'string') {
    if (path.protocol !== 'file:') {
      invalid('path', `must be a file: "${path.href}" is not`);
    }
    return;
  }
  checkText('path', path, "'sessions.db'");
  if (path.includes('\0')) {
    invalid('path', 'must not contain the character NUL');
  }
}
