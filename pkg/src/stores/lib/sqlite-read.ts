// What the SQLite stores read: values, events, and pages of a list.

import { isStoreError, StoreError } from '../../store-error.js';
import { emptyValues } from './values.js';
import { numberIn, textIn } from './sqlite-rows.js';
import * as sql from './sqlite-schema.js';
import { toColumn } from './sql-text.js';
import type { SqlDriver, SqlRow } from './sqlite-driver.js';
import type { ListQuery, LoadQuery, Page, Row, ScopeName, StoredEvent, Values } from '../../store.js';
import type { Json, SessionKey } from '../../types.js';

/** What the row of a scope says. One that has no row yet has the number 0, which owns nothing. */
export interface ScopeRow {
  readonly n: number;
  readonly pos: number;
  readonly sessions: number;
}

/** What the row of a session says. */
export interface SessionRow {
  readonly n: number;
  readonly created: string;
  readonly rev: number;
  readonly time: number;
}

/** Reads the row of an app, or of a user in it. */
export function readScope(driver: SqlDriver, { app, user }: ScopeName): ScopeRow {
  const [row] = driver.all(sql.FIND_SCOPE, [sql.scopeColumn(app, user)]);
  if (row === undefined) {
    return { n: 0, pos: 0, sessions: 0 };
  }
  return { n: numberIn(row, 'n'), pos: numberIn(row, 'pos'), sessions: numberIn(row, 'sessions') };
}

/** Reads the row of a session. */
export function readSession(driver: SqlDriver, { appName, userId, sessionId }: SessionKey): SessionRow | undefined {
  const [row] = driver.all(sql.FIND_SESSION, [toColumn(appName), toColumn(userId), toColumn(sessionId)]);
  return row && sessionIn(row);
}

/** Reads all values of a scope or a session by its number. `whose` says what is corrupt, if it is. */
export function readValues(driver: SqlDriver, owner: number, whose: string): Values {
  const entries = owner === 0 ? [] : driver.all(sql.READ_VALUES, [owner]).map(entryIn);
  const record = emptyValues();
  for (const { name, value } of entries.sort((a, b) => a.born - b.born || a.nth - b.nth)) {
    try {
      record[name] = JSON.parse(value) as Json;
    } catch (cause) {
      throw new StoreError('corrupt', `the value of "${name}" of ${whose} cannot be read`, { cause });
    }
  }
  return Object.freeze(record);
}

/** Reads events of a session. */
export function readEvents(driver: SqlDriver, { n, rev }: SessionRow, query: NonNullable<LoadQuery['events']>): StoredEvent[] {
  const { from = 1, to = rev, since, last: most = Infinity } = query;
  const end = Math.min(to, rev);
  const first = Math.max(0, from);
  const start = since === undefined ? first : firstSince(driver, n, first, rev, since);
  const last = Math.min(most, end - start + 1);
  if (last <= 0) {
    return [];
  }
  const rows =
    since === undefined
      ? driver.all(sql.READ_EVENTS, [n, start, n, end, last])
      : driver.all(sql.READ_EVENTS_SINCE, [n, start, n, end, since, last]);
  const events = rows.map((row) => ({ rev: numberIn(row, 'rev'), data: textIn(row, 'data') })).reverse();
  // Not all sessions have said what they began with.
  const isWithout = last > end && events[0]?.rev !== 0;
  if (since === undefined && events.length !== (isWithout ? end : last)) {
    throw new StoreError('corrupt', `events between the revisions ${start} and ${end} are missing`);
  }
  return events;
}

/** See `SessionStore.list`. */
export function readPage(driver: SqlDriver, query: ListQuery): Page {
  const { app, user, after, offset = 0, limit = Infinity } = query;
  const rows = driver.all(sql.listSessions(query), [
    toColumn(app),
    ...(user === undefined ? [] : [toColumn(user)]),
    ...(after === undefined ? [] : sql.placeValues(query.descending, after)),
    Math.min(limit, Number.MAX_SAFE_INTEGER),
    offset,
  ]);
  const [users, readable, corrupt] = [new Map<string, Values>(), [] as Row[], [] as SessionKey[]];
  for (const row of rows) {
    const key = { appName: app, userId: textIn(row, 'user'), sessionId: textIn(row, 'id') };
    try {
      const { n, ...session } = sessionIn(row);
      const state = readValues(driver, n, `session "${key.sessionId}"`);
      if (!users.has(key.userId)) {
        users.set(key.userId, readValues(driver, readScope(driver, { app, user: key.userId }).n, `user "${key.userId}"`));
      }
      readable.push({ key, ...session, state });
    } catch (error) {
      if (!isStoreError(error)) {
        throw error;
      }
      corrupt.push(key);
    }
  }
  const scope = readScope(driver, { app });
  return {
    rows: readable,
    app: readValues(driver, scope.n, `app "${app}"`),
    users,
    total: user === undefined ? scope.sessions : readScope(driver, { app, user }).sessions,
    ...(corrupt.length > 0 && { corrupt }),
  };
}

/** The first revision, of those from `first` on, at which there is an event of this time or a later one. */
function firstSince(driver: SqlDriver, n: number, first: number, rev: number, since: number): number {
  let [low, high] = [first, rev + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = driver.all(sql.READ_PEAK, [n, middle]);
    if (row === undefined && middle > 0) {
      throw new StoreError('corrupt', `the event of revision ${middle} is missing`);
    }
    if (row !== undefined && numberIn(row, 'peak') >= since) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

function sessionIn(row: SqlRow): SessionRow {
  return { n: numberIn(row, 'n'), created: textIn(row, 'created'), rev: numberIn(row, 'rev'), time: numberIn(row, 'time') };
}

function entryIn(row: SqlRow) {
  return { name: textIn(row, 'name'), value: textIn(row, 'value'), born: numberIn(row, 'born'), nth: numberIn(row, 'nth') };
}
