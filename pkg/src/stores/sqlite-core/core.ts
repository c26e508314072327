// The operations of a store on SQLite tables, over any driver.

import { defined } from '../../model/defined.js';
import { isStoreError } from '../../store/store-error.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { ScopeHistory } from './changed.js';
import { commitChange } from './commit.js';
import { claim, lease, readLeaseOf } from './lease.js';
import { readPage } from './list.js';
import { readAppNames, readOwners, readUserNames } from './names.js';
import { readLog, trimLog } from './log.js';
import { openSchema } from './open.js';
import { find, readEvents, readScope, readValues, type SessionRow } from './read.js';
import { remove, removeScope } from './remove.js';
import { textIn } from './rows.js';
import * as sql from './statements.js';
import { sweep } from './sweep.js';
import { countSweep } from './sweep-count.js';
import { isKnownScope } from '../shared/keys.js';
import { committedOr, outcomeOf, type Outcome } from '../shared/outcome.js';
import { loadedOf, stateOf } from '../shared/parts.js';
import type { SqlDriver } from './driver.js';
import type { Change, Known, Loaded, LoadedScope, LoadQuery, ScopeName, SessionStore } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

type Absent =
  | 'reserve'
  | 'watch'
  | 'close'
  | 'durability'
  | 'asksAgain'
  | 'exclusive'
  | 'guards'
  | 'lacks'
  | 'readLog'
  | 'parallelCommits';
/** The methods that {@link sqliteCore} makes. */
export type SqliteCore = Required<Omit<SessionStore, Absent>> & Pick<SessionStore, 'readLog'>;

/** The records that are kept with a log and without. */
export const KEPT = ['marks', 'changed', 'calls', 'creations', 'removals', 'digests', 'limits', 'expiry'] as const;

/**
 * The store over a driver. It says nothing about durability, and has nothing to close. Without `hasLog` no log is
 * kept; one that was kept earlier can be trimmed all the same.
 */
export function sqliteCore(driver: SqlDriver, hasLog = true): SqliteCore {
  return {
    keeps: [...KEPT, ...(hasLog ? (['log'] as const) : [])],
    resolves: ['increment', 'append', 'setOnce', 'compareAndSet'],
    open: async ({ migrate }) => openSchema(driver, migrate),
    commit: async (change) => committedOr(driver.transaction(() => commitChange(driver, change, hasLog))),
    commitMany: async (changes) => commitMany(driver, changes, hasLog),
    load: async (key, query) => driver.snapshot(() => load(driver, key, query)),
    list: async (query) => driver.snapshot(() => readPage(driver, query)),
    owners: async (app, sessionId) => driver.snapshot(() => readOwners(driver, app, sessionId)),
    listApps: async (query) => driver.snapshot(() => readAppNames(driver, query)),
    listUsers: async (app, query) => driver.snapshot(() => readUserNames(driver, app, query)),
    remove: async (key, _, guard) => driver.transaction(() => remove(driver, key, guard)),
    loadScope: async (scope) => driver.snapshot(() => loadScope(driver, scope)),
    removeScope: async (scope) => driver.transaction(() => removeScope(driver, scope, hasLog)),
    lease: async (key, request) => driver.transaction(() => lease(driver, key, request)),
    readLease: async (key) => driver.snapshot(() => readLeaseOf(driver, key)),
    sweep: async (query, { signal }) =>
      query.dry === true
        ? driver.snapshot(() => countSweep(driver, query))
        : await sweep(driver, query, hasLog, signal),
    claim: async (name, request) => driver.transaction(() => claim(driver, name, request)),
    ...(hasLog && { readLog: async (scope, query) => driver.snapshot(() => readLog(driver, scope, query)) }),
    trimLog: async (scope, upTo) => driver.transaction(() => trimLog(driver, scope, upTo)),
  };
}

function commitMany(driver: SqlDriver, changes: readonly Change[], hasLog: boolean): readonly Outcome[] {
  try {
    return driver.transaction(() => {
      const history = new ScopeHistory(driver);
      return changes.map((change) => commitChange(driver, change, hasLog, history));
    });
  } catch (error) {
    if (!isStoreError(error) || error.code !== 'rejected' || changes.length === 1) {
      throw error;
    }
    // Nothing is written. A change that cannot be written, say because it is too big, must not hinder the others.
    return changes.map((change) => outcomeOf(() => driver.transaction(() => commitChange(driver, change, hasLog))));
  }
}

/** See `SessionStore.load`. */
function load(driver: SqlDriver, key: SessionKey, { events = {}, known = {} }: LoadQuery): Loaded | null {
  const { session, app, user } = find(driver, key);
  if (session === undefined) {
    return null;
  }
  const { n, created, rev, time, last, expires } = session;
  const { changed } = new ScopeHistory(driver).changed(app, user, known);
  const isRequested = {
    app: changed?.app === undefined && !isKnownScope(known, 'app', app.pos, app.mark),
    user: changed?.user === undefined && !isKnownScope(known, 'user', user.pos, user.mark),
  };
  const isDiverged = hasDiverged(driver, session, known);
  const isKnown = !isDiverged && known.created === created && known.rev === rev;
  const [appTitle, userTitle] = [scopeTitle({ app: key.appName }), scopeTitle({ app: key.appName, user: key.userId })];
  return loadedOf({
    created,
    rev,
    time,
    pos: { app: app.pos, user: user.pos },
    state: stateOf(
      isKnown ? undefined : readValues(driver, n, sessionTitle(key)),
      isRequested.app ? readValues(driver, app.n, appTitle) : undefined,
      isRequested.user ? readValues(driver, user.n, userTitle) : undefined,
    ),
    last,
    expires,
    marks: [app.mark, user.mark],
    changed,
    isDiverged,
    events: readEvents(driver, session, events),
  });
}

/** True when a caller knows another event at its revision, or a later revision: the database has gone back since. */
function hasDiverged(driver: SqlDriver, { n, created, rev, last }: SessionRow, known: Known): boolean {
  if (known.created !== created || known.rev === undefined) {
    return false;
  }
  if (known.rev > rev || known.last === undefined || known.rev <= 0) {
    return known.rev > rev;
  }
  if (known.rev === rev) {
    return known.last !== last;
  }
  const [event] = driver.all(sql.READ_EVENT_ID, [n, known.rev]);
  return event === undefined || textIn(event, 'id') !== known.last;
}

/** See `SessionStore.loadScope`. */
function loadScope(driver: SqlDriver, scope: ScopeName): LoadedScope {
  const { n, pos, mark } = readScope(driver, scope);
  return defined({ pos, state: readValues(driver, n, scopeTitle(scope)), mark });
}
