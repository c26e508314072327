// Sessions in SQLite tables: what every operation of a store does there, whoever runs the statements.

import { isStoreError, type StoreError } from '../../store/store-error.js';
import { marksOf, readChanged } from './changed.js';
import { commitChange, REMEMBERED_MS } from './commit.js';
import { readPage } from './list.js';
import { checkVersion, openSchema } from './open.js';
import { find, findToWrite, readEvents, readScope, readValues, type ScopeRow, type SessionRow } from './read.js';
import { textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import type { SqlDriver } from './driver.js';
import type { Change, Committed, Guard, Known, Loaded, LoadedScope, LoadQuery, ScopeName, SessionStore } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

type Core = Required<Omit<SessionStore, 'reserve' | 'watch' | 'close' | 'durability' | 'exclusive' | 'guards'>>;

/** The store over a driver. It says nothing about durability, and has nothing to close. */
export function sqliteCore(driver: SqlDriver): Core {
  return {
    keeps: ['marks', 'changed', 'calls', 'creations'],
    open: async ({ migrate }) => openSchema(driver, migrate),
    commit: async (change) => {
      const outcome = driver.transaction(() => commitChange(driver, change));
      if (isStoreError(outcome)) {
        throw outcome;
      }
      return outcome;
    },
    commitMany: async (changes) => commitMany(driver, changes),
    load: async (key, query) => driver.snapshot(() => load(driver, key, query)),
    list: async (query) => driver.snapshot(() => readPage(driver, query)),
    remove: async (key, _, guard) => driver.transaction(() => remove(driver, key, guard)),
    loadScope: async (scope) => driver.snapshot(() => loadScope(driver, scope)),
    removeScope: async (scope) => driver.transaction(() => removeScope(driver, scope)),
  };
}

function commitMany(driver: SqlDriver, changes: readonly Change[]): readonly (Committed | StoreError)[] {
  try {
    return driver.transaction(() => changes.map((change) => commitChange(driver, change)));
  } catch (error) {
    if (!isStoreError(error) || error.code !== 'rejected' || changes.length === 1) {
      throw error;
    }
    // Nothing is written. The one that cannot be, say because it is too big, must not keep the others from it.
    return changes.map((change) => {
      try {
        return driver.transaction(() => commitChange(driver, change));
      } catch (refused) {
        if (isStoreError(refused)) {
          return refused;
        }
        throw refused;
      }
    });
  }
}

/** See `SessionStore.load`. */
function load(driver: SqlDriver, key: SessionKey, { events = {}, known = {} }: LoadQuery): Loaded | null {
  const { session, app, user } = find(driver, key);
  if (session === undefined) {
    return null;
  }
  const { n, created, rev, time, last } = session;
  const changed = readChanged(driver, app, user, known);
  const isWanted = {
    app: changed?.app === undefined && !isSame(app, known, 'app'),
    user: changed?.user === undefined && !isSame(user, known, 'user'),
  };
  const isDiverged = hasDiverged(driver, session, known);
  const isKnown = !isDiverged && known.created === created && known.rev === rev;
  return {
    created,
    rev,
    time,
    pos: { app: app.pos, user: user.pos },
    state: {
      ...(isKnown ? {} : { session: readValues(driver, n, `session "${key.sessionId}"`) }),
      ...(isWanted.app && { app: readValues(driver, app.n, `app "${key.appName}"`) }),
      ...(isWanted.user && { user: readValues(driver, user.n, `user "${key.userId}"`) }),
    },
    ...(last !== undefined && { last }),
    marks: marksOf(app, user),
    ...(changed && { changed }),
    ...(isDiverged && { diverged: true }),
    events: readEvents(driver, session, events),
  };
}

/** Whether what is known of a session is not what there is: it has gone back since. */
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

/** Whether a scope is as it is known. Two marks are compared only where both are there. */
function isSame({ pos, mark }: ScopeRow, { pos: had, marks }: Known, part: 'app' | 'user'): boolean {
  return had?.[part] === pos && (mark === undefined || (marks?.[part] ?? mark) === mark);
}

/** See `SessionStore.loadScope`. */
function loadScope(driver: SqlDriver, scope: ScopeName): LoadedScope {
  const { n, pos, mark } = readScope(driver, scope);
  const whose = scope.user === undefined ? `app "${scope.app}"` : `user "${scope.user}"`;
  return { pos, state: readValues(driver, n, whose), ...(mark !== undefined && { mark }) };
}

/** See `SessionStore.remove`. */
function remove(driver: SqlDriver, key: SessionKey, guard: Pick<Guard, 'created'> = {}): void {
  const { session, app, user, version } = findToWrite(driver, key, null, null);
  checkVersion(version);
  if (session === undefined || (guard.created !== undefined && guard.created !== session.created)) {
    return;
  }
  const { n, created } = session;
  driver.run(sql.FORGET_CREATIONS, [Date.now() - REMEMBERED_MS]);
  driver.run(sql.ADD_CREATION, [...[created, key.appName, key.userId, key.sessionId].map(toColumn), Date.now()]);
  driver.run(sql.REMOVE_EVENTS, [n, n]);
  driver.run(sql.CLEAR_VALUES, [n]);
  driver.run(sql.REMOVE_SESSION, [n]);
  driver.run(sql.COUNT_SESSIONS, [-1, app.n]);
  driver.run(sql.COUNT_SESSIONS, [-1, user.n]);
}

/** See `SessionStore.removeScope`. */
function removeScope(driver: SqlDriver, { app, user }: ScopeName): void {
  const found = findToWrite(driver, { appName: app, ...(user !== undefined && { userId: user }) }, null, null);
  checkVersion(found.version);
  const { n } = user === undefined ? found.app : found.user;
  driver.run(sql.CLEAR_VALUES, [n]);
  driver.run(sql.CLEAR_CHANGES, [n]);
  driver.run(sql.CLEAR_SCOPE, [n]);
}
