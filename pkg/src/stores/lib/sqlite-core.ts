// Sessions in SQLite tables: what every operation of a store does there, whoever runs the statements.

import { isStoreError, StoreError } from '../../store-error.js';
import { openSchema } from './sqlite-open.js';
import { readEvents, readPage, readScope, readSession, readValues, type ScopeRow, type SessionRow } from './sqlite-read.js';
import { textIn } from './sqlite-rows.js';
import * as sql from './sqlite-schema.js';
import { toColumn } from './sql-text.js';
import { isEmpty } from './values.js';
import type { SqlDriver } from './sqlite-driver.js';
import type { Change, Committed, Delta, Guard, Loaded, LoadQuery, Pos, ScopeName, SessionStore } from '../../store.js';
import type { SessionKey } from '../../types.js';

/** How long an update is remembered: those who send one again do it soon. */
const REMEMBERED_MS = 24 * 60 * 60 * 1000;

/** What a change finds. */
interface Found {
  readonly app: ScopeRow;
  readonly user: ScopeRow;
  readonly session: SessionRow | undefined;
}

const UNTOUCHED: ScopeRow = { n: 0, pos: 0, sessions: 0 };

/** The store over a driver. It says nothing about durability, and has nothing to close. */
export function sqliteCore(driver: SqlDriver): Required<Omit<SessionStore, 'reserve' | 'watch' | 'close' | 'durability' | 'exclusive' | 'guards' | 'keeps'>> {
  return {
    open: async ({ migrate }) => openSchema(driver, migrate),
    commit: async (change) =>
      driver.transaction(() => {
        const found = find(driver, change);
        return known(driver, change, found) ?? write(driver, change, found);
      }),
    commitMany: async (changes) => commitMany(driver, changes),
    load: async (key, query) => driver.snapshot(() => load(driver, key, query)),
    list: async (query) => driver.snapshot(() => readPage(driver, query)),
    remove: async (key) => driver.transaction(() => remove(driver, key)),
    loadScope: async (scope) =>
      driver.snapshot(() => {
        const { n, pos } = readScope(driver, scope);
        return { pos, state: readValues(driver, n, scope.user === undefined ? `app "${scope.app}"` : `user "${scope.user}"`) };
      }),
    removeScope: async (scope) => driver.transaction(() => removeScope(driver, scope)),
  };
}

function commitMany(driver: SqlDriver, changes: readonly Change[]): readonly (Committed | StoreError)[] {
  try {
    return driver.transaction(() => changes.map((change) => attempt(driver, change)));
  } catch (error) {
    if (!isStoreError(error) || error.code !== 'rejected' || changes.length === 1) {
      throw error;
    }
    // Nothing is written. The one that cannot be, say because it is too big, must not keep the others from it.
    return changes.map((change) => refusal(() => driver.transaction(() => attempt(driver, change))));
  }
}

/** A change among others: that it is refused is an answer. Before that nothing is written; what fails later undoes all. */
function attempt(driver: SqlDriver, change: Change): Committed | StoreError {
  const found = refusal(() => find(driver, change));
  if (isStoreError(found)) {
    return found;
  }
  return refusal(() => known(driver, change, found)) ?? write(driver, change, found);
}

function refusal<T>(decide: () => T): T | StoreError {
  try {
    return decide();
  } catch (error) {
    if (isStoreError(error)) {
      return error;
    }
    throw error;
  }
}

function find(driver: SqlDriver, { key }: Change): Found {
  const { appName: app, userId: user, sessionId } = key;
  return {
    app: readScope(driver, { app }),
    user: user === undefined ? UNTOUCHED : readScope(driver, { app, user }),
    session: sessionId === undefined ? undefined : readSession(driver, key as SessionKey),
  };
}

/** What is known of a change that has been made before. Throws when it cannot be made. Writes nothing. */
function known(driver: SqlDriver, { id, kind, key, guard = {} }: Change, found: Found): Committed | undefined {
  const { session } = found;
  const pos = posOf(found);
  if (kind === 'create') {
    if (session !== undefined && session.created !== id) {
      throw new StoreError('exists', `session "${key.sessionId ?? ''}" exists already`);
    }
    if (session !== undefined) {
      return { rev: session.rev, prev: session.rev, pos, duplicate: true };
    }
  } else if (kind === 'append') {
    if (session === undefined || (guard.created !== undefined && guard.created !== session.created)) {
      throw new StoreError('not-found', `session "${key.sessionId ?? ''}" is not there`);
    }
    const [event] = driver.all(sql.FIND_EVENT, [session.n, toColumn(id)]);
    if (event !== undefined) {
      return { rev: session.rev, prev: session.rev, pos, duplicate: true, data: textIn(event, 'data') };
    }
  } else if (driver.all(sql.FIND_UPDATE, [(key.userId === undefined ? found.app : found.user).n, toColumn(id)]).length > 0) {
    return { rev: 0, prev: null, pos, duplicate: true };
  }
  check(driver, guard, found);
  return undefined;
}

/** Throws `conflict` when a guard does not hold. */
function check(driver: SqlDriver, { rev, pos, keys = {} }: Guard, { app, user, session }: Found): void {
  const actual = session?.rev ?? 0;
  if (rev !== undefined && rev !== actual) {
    throw new StoreError('conflict', `the session is at revision ${actual}, not at the expected ${rev}`, { actual });
  }
  const isMoved = (pos?.app ?? app.pos) !== app.pos || (pos?.user ?? user.pos) !== user.pos;
  const parts = [
    [app.n, keys.app],
    [user.n, keys.user],
    [session?.n ?? 0, keys.session],
  ] as const;
  if (isMoved || !parts.every(([owner, expected = {}]) => holds(driver, owner, expected))) {
    throw new StoreError('conflict', 'the state is not what it was expected to be');
  }
}

function holds(driver: SqlDriver, owner: number, { set = {}, unset = [] }: Delta): boolean {
  const valueOf = (name: string) => driver.all(sql.READ_VALUE, [owner, toColumn(name)])[0]?.['value'];
  return (
    unset.every((name) => valueOf(name) === undefined) &&
    Object.keys(set).every((name) => valueOf(name) === sql.jsonColumn(set[name]))
  );
}

/** Makes a change that is known to be new, and allowed. */
function write(driver: SqlDriver, change: Change, found: Found): Committed {
  const { id, kind, key, time, event, delta } = change;
  const { appName, userId, sessionId } = key;
  const sessions = kind === 'create' ? 1 : 0;
  const app = ensureScope(driver, found.app, { app: appName });
  const user = userId === undefined ? UNTOUCHED : ensureScope(driver, found.user, { app: appName, user: userId });
  const pos = {
    app: move(driver, app, delta.app, sessions),
    user: userId === undefined ? 0 : move(driver, user, delta.user, sessions),
  };
  if (kind === 'update' || userId === undefined || sessionId === undefined) {
    driver.run(sql.FORGET_UPDATES, [Date.now() - REMEMBERED_MS]);
    driver.run(sql.ADD_UPDATE, [(userId === undefined ? app : user).n, toColumn(id), Date.now()]);
    return { rev: 0, prev: null, pos };
  }
  if (kind === 'create') {
    driver.run(sql.MAKE_SESSION, [toColumn(appName), toColumn(userId), toColumn(sessionId), toColumn(id), time]);
    if (event !== undefined || !isEmpty(delta.session)) {
      const n = readSession(driver, { appName, userId, sessionId })?.n ?? 0;
      apply(driver, n, 0, delta.session);
      if (event !== undefined) {
        addEvent(driver, n, 0, sql.BEGINNING, event);
      }
    }
    return { rev: 0, prev: null, pos };
  }
  const { n, rev: prev } = found.session as SessionRow;
  const rev = prev + 1;
  driver.run(sql.MOVE_SESSION, [rev, time, n]);
  addEvent(driver, n, rev, toColumn(id), event ?? { time, data: '' });
  apply(driver, n, rev, delta.session);
  return { rev, prev, pos };
}

function addEvent(driver: SqlDriver, n: number, rev: number, id: string, { time, data }: { time: number; data: string }): void {
  driver.run(sql.ADD_EVENT, [n, rev, n, id, time, n, Math.max(0, rev - 1), time, time, toColumn(data)]);
}

/** See `SessionStore.load`. */
function load(driver: SqlDriver, key: SessionKey, { events = {}, known: had = {} }: LoadQuery): Loaded | null {
  const { appName, userId, sessionId } = key;
  const session = readSession(driver, key);
  if (session === undefined) {
    return null;
  }
  const { n, created, rev, time } = session;
  const app = readScope(driver, { app: appName });
  const user = readScope(driver, { app: appName, user: userId });
  return {
    created,
    rev,
    time,
    pos: { app: app.pos, user: user.pos },
    state: {
      ...(had.created === created && had.rev === rev ? {} : { session: readValues(driver, n, `session "${sessionId}"`) }),
      ...(had.pos?.app === app.pos ? {} : { app: readValues(driver, app.n, `app "${appName}"`) }),
      ...(had.pos?.user === user.pos ? {} : { user: readValues(driver, user.n, `user "${userId}"`) }),
    },
    events: readEvents(driver, session, events),
  };
}

/** See `SessionStore.remove`. */
function remove(driver: SqlDriver, key: SessionKey): void {
  const session = readSession(driver, key);
  if (session === undefined) {
    return;
  }
  const { n } = session;
  driver.run(sql.REMOVE_EVENTS, [n, n]);
  driver.run(sql.CLEAR_VALUES, [n]);
  driver.run(sql.REMOVE_SESSION, [n]);
  driver.run(sql.MOVE_SCOPE, [0, -1, readScope(driver, { app: key.appName }).n]);
  driver.run(sql.MOVE_SCOPE, [0, -1, readScope(driver, { app: key.appName, user: key.userId }).n]);
}

/** See `SessionStore.removeScope`. */
function removeScope(driver: SqlDriver, scope: ScopeName): void {
  const { n } = readScope(driver, scope);
  driver.run(sql.CLEAR_VALUES, [n]);
  driver.run(sql.MOVE_SCOPE, [1, 0, n]);
}

function posOf({ app, user }: Found): Pos {
  return { app: app.pos, user: user.pos };
}

/** The row of a scope, which is made when there is none yet. */
function ensureScope(driver: SqlDriver, row: ScopeRow, scope: ScopeName): ScopeRow {
  if (row.n !== 0) {
    return row;
  }
  driver.run(sql.MAKE_SCOPE, [sql.scopeColumn(scope.app, scope.user)]);
  return readScope(driver, scope);
}

/** Writes what a change does to a scope. Says at which position the scope is then. */
function move(driver: SqlDriver, { n, pos }: ScopeRow, delta: Delta | undefined, sessions: number): number {
  const steps = isEmpty(delta) ? 0 : 1;
  if (steps + sessions > 0) {
    driver.run(sql.MOVE_SCOPE, [steps, sessions, n]);
  }
  apply(driver, n, pos + steps, delta);
  return pos + steps;
}

function apply(driver: SqlDriver, owner: number, born: number, { set = {}, unset = [] }: Delta = {}): void {
  unset.forEach((name) => driver.run(sql.UNSET_VALUE, [owner, toColumn(name)]));
  Object.keys(set).forEach((name, nth) => {
    driver.run(sql.SET_VALUE, [owner, toColumn(name), born, nth, sql.jsonColumn(set[name])]);
  });
}
