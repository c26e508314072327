// From the database of an ADK to a service.

import { Pacer } from '../transfer/pacer.js';
import { ImportProblems, type ImportProblem } from '../transfer/problems.js';
import { AdkReader } from './readers/reader.js';
import { runImport } from './run.js';
import { snapshotOf, type AdkDatabaseHandle, type Snapshot } from './source/source.js';
import { checkFunction, checkOptions } from '../checks/arguments.js';
import { StatepadError } from '../model/errors.js';
import { describe, isObject } from '../model/value-types.js';
import { SessionService } from '../service/session-service.js';
import { identifyTables, type AdkIdentity } from '../stores/adk-database/detect.js';
import { isPath, type FileUrl } from '../stores/sqlite-core/file.js';
import { openReadOnly } from '../stores/sqlite-core/read-only.js';
import type { ImportProgress } from '../transfer/transfer.js';
import type { Abortable, SessionKey } from '../model/types.js';

/** Options of `importAdk`. */
export interface AdkImportOptions extends Abortable {
  /** Only the sessions of this app, and its values. */
  readonly appName?: string | undefined;
  /** Only those of this user in it: needs an `appName`. */
  readonly userId?: string | undefined;
  /** Only the sessions for which this is true, and the values of their apps and users. */
  readonly only?: ((session: SessionKey) => boolean) | undefined;
  /** Reads, converts and compares all, and writes nothing. */
  readonly dryRun?: boolean | undefined;
  /**
   * The conversion of numbers that JavaScript cannot hold, as 9007199254740993 (2^53 + 1): `'text'` makes them texts
   * of their digits, and reports that as a problem. By default, sessions that have one are not imported.
   */
  readonly integers?: 'text' | undefined;
  /** Called after each session. */
  readonly onProgress?: ((progress: ImportProgress) => void) | undefined;
}

/** A difference between the service and the database. */
export interface AdkProblem extends ImportProblem {
  readonly appName: string;
}

/** The result of an import. */
export interface AdkImport extends AdkIdentity, ImportProgress {
  /** The differences between the service and the database: the first 1,000 of them. */
  readonly problems: readonly AdkProblem[];
  /** The number of all problems. */
  readonly problemCount: number;
}

/**
 * Imports the sessions of an ADK's database into a service: those of adk-python (both schemas of
 * `DatabaseSessionService`, and `SqliteSessionService`), adk-js, adk-go and adk-java, in Postgres, SQLite or MySQL.
 * `database` is a pool or client of `pg`, PGlite, `better-sqlite3`, `node:sqlite` or `mysql2`; or `{ dialect,
 * query(sql, values) }`; or the path of an SQLite file, which is opened for reading alone. It is read in one read-only
 * transaction, and nothing is written to it.
 *
 * Each session is created at its time, its events are appended unchanged, and it is read back and compared: every
 * event and every value. Sessions that cannot be imported are listed in `problems`, and the others continue.
 * Existing, equal sessions are left as they are; those that an earlier import has begun are completed.
 *
 * Throws `INVALID_ARGUMENT` for a database of no known ADK, and names the evidence; and the errors of the database
 * and the service.
 *
 * @example
 * const { sessions, events, problems } = await importAdk(new Database('sessions.db'), service);
 */
export async function importAdk(
  database: AdkDatabaseHandle | FileUrl | string,
  service: SessionService,
  options: AdkImportOptions = {},
): Promise<AdkImport> {
  const snapshot = snapshotOfAny(database);
  checkService(service);
  const { appName, userId, only, dryRun = false, integers, onProgress, signal } = checkImportOptions(options);
  signal?.throwIfAborted();
  return await snapshot(async (opened) => {
    const identified = await identifyTables(opened);
    const { kind, dialect, signs } = identified;
    if (kind === 'unknown') {
      throw new StatepadError('INVALID_ARGUMENT', `the database does not belong to a known ADK: ${signs.join('; ')}`, {
        path: 'database',
      });
    }
    const problems = new ImportProblems();
    const pacer = new Pacer(signal);
    const counts = await runImport({
      reader: new AdkReader(kind, opened, identified, pacer),
      pacer,
      service,
      target: dryRun ? new SessionService({ log: false }) : service,
      problems,
      filter: { appName, userId },
      only,
      signal,
      areTexts: integers === 'text',
      onProgress,
    });
    return Object.freeze({
      kind,
      dialect,
      signs,
      ...counts,
      // Each has the app of its rows.
      problems: problems.list as readonly AdkProblem[],
      problemCount: problems.count,
    });
  });
}

/**
 * Recognizes the maker of a database, by reading alone: `kind` is `'unknown'` for sessions of no known ADK, and
 * `signs` are the evidence.
 */
export async function identifyAdk(database: AdkDatabaseHandle | FileUrl | string): Promise<AdkIdentity> {
  return await snapshotOfAny(database)(async (opened) => {
    const { kind, dialect, signs } = await identifyTables(opened);
    return Object.freeze({ kind, dialect, signs });
  });
}

/** The snapshot of a database, or of a file, which is opened for that alone. */
function snapshotOfAny(database: AdkDatabaseHandle | FileUrl | string): Snapshot {
  if (!isPath(database)) {
    return snapshotOf(database);
  }
  return async (read) => {
    const own = await openReadOnly(database);
    try {
      return await snapshotOf(own)(read);
    } finally {
      own.close();
    }
  };
}

const NAMES = ['appName', 'userId', 'only', 'dryRun', 'integers', 'onProgress', 'signal'];

function checkImportOptions(options: AdkImportOptions): AdkImportOptions {
  checkOptions(options, NAMES);
  for (const name of ['appName', 'userId'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'string') {
      refuse(name, `must be a string, not ${describe(options[name])}`);
    }
  }
  if (options.userId !== undefined && options.appName === undefined) {
    refuse('appName', 'is missing: a userId needs one');
  }
  if (options.dryRun !== undefined && typeof options.dryRun !== 'boolean') {
    refuse('dryRun', `must be true or false, not ${describe(options.dryRun)}`);
  }
  if (options.integers !== undefined && (options.integers as unknown) !== 'text') {
    refuse('integers', `must be 'text', not ${describe(options.integers)}`);
  }
  for (const name of ['only', 'onProgress'] as const) {
    if (options[name] !== undefined) {
      checkFunction(options[name], name);
    }
  }
  return options;
}

function checkService(service: unknown): void {
  if (!isObject(service) || typeof (service as { readonly logWriter?: unknown }).logWriter !== 'function') {
    refuse('service', 'must be a SessionService');
  }
}

function refuse(path: string, what: string): never {
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}
