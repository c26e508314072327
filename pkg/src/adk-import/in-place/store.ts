// A store that reads the database of an ADK where it is.

import { listApps, listSessions, listUsers } from './list.js';
import { loadSession, readScope } from './load.js';
import { onlyRead } from './refusals.js';
import { Source } from './source.js';
import { checkOptions } from '../../checks/arguments.js';
import { checkChoice, checkOptionsObject } from '../../stores/shared/options.js';
import { Positions } from '../../stores/shared/positions.js';
import type { AdkDatabaseHandle } from '../source/source.js';
import type { SessionStore, StoreLack } from '../../store/contract.js';
import type { FileUrl } from '../../stores/sqlite-core/file.js';

/** Options of `adkReadStore`. */
export interface AdkReadOptions {
  /**
   * The conversion of numbers that JavaScript cannot hold, as 9007199254740993 (2^53 + 1): `'text'` makes them texts
   * of their digits. Without it, a session or a scope that has one cannot be read (`STORE_CORRUPT`).
   */
  readonly integers?: 'text' | undefined;
}

/**
 * The tables are what an ADK has made of them. Revisions and beginnings are those of an import of the same session, so
 * that the past can be read.
 */
const LACKS: readonly StoreLack[] = ['order', 'texts', 'ids', 'times', 'clock', 'created', 'repeats', 'operators'];

/**
 * Makes a store over the database of an ADK, where it is: a service over it lists, reads and watches what adk-python,
 * adk-js, adk-go or adk-java writes meanwhile. `database` is one of those that `importAdk` takes, or the path of an
 * SQLite file, which is opened for reading alone. Nothing is written: every write is refused (`INVALID_ARGUMENT`, with
 * what to do instead), no lock is held between two reads, and each read is a short transaction.
 *
 * - A revision is the number of events, which are in the order of their times. The time of a session is that of its
 *   row.
 * - The initial state of a session is inferred: keys that no event has written.
 * - A session that cannot be converted is `STORE_CORRUPT`, and named in `corrupt` of a list where its row cannot be
 *   read; others are not affected.
 * - A connection does one thing at a time: do not use it for anything else.
 *
 * Opening throws `STORE_UNSUITABLE` for a database of no known ADK, and names the evidence. Throws
 * `INVALID_ARGUMENT` for anything else than a database or a path, and for unknown options.
 *
 * @example
 * ```js
 * const service = new SessionService({ store: adkReadStore('.adk/session.db') });
 * const { sessions } = await service.listSessions({ appName: 'tutor' });
 * ```
 */
export function adkReadStore(
  database: AdkDatabaseHandle | FileUrl | string,
  options: AdkReadOptions = {},
): SessionStore {
  checkOptionsObject(options);
  checkOptions(options, ['integers']);
  checkChoice('integers', options.integers, ['text']);
  const source = new Source(database);
  const positions = new Positions();
  const numbers = { areTexts: options.integers === 'text', note: () => undefined };
  const parts = { source, positions, numbers };
  const refuse = async (): Promise<never> => await Promise.reject(onlyRead());
  return {
    lacks: LACKS,
    open: async () => await source.open(),
    close: async () => source.close(),
    load: async (key, query, context) => await loadSession(parts, key, query, context),
    list: async (query) => await listSessions(parts, query),
    loadScope: async (scope) =>
      await source.read(async ({ rows }) => await readScope(rows, scope, numbers, positions)),
    owners: async (app, sessionId) => await source.read(async ({ lists }) => await lists.owners(app, sessionId)),
    listApps: async (query) => await listApps(parts, query),
    listUsers: async (app, query) => await listUsers(parts, app, query),
    // An ADK has no leases: nobody holds any, and none is taken.
    readLease: async (key) =>
      await source.read(async ({ rows }) => ((await rows.session(key)) === undefined ? null : { fence: 0 })),
    lease: refuse,
    commit: refuse,
    remove: refuse,
    removeScope: refuse,
  };
}
