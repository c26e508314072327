// Reading from SQLite tables: positions of sessions and scopes, values, events.

import { missingEvents } from '../../store/refusals.js';
import { eventOf, numberIn, numberOf, textIn, textOf, valuesIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import type { SqlDriver, SqlRow, SqlValue } from './driver.js';
import type { Written } from './delta-rows.js';
import type { Size } from '../shared/growth.js';
import type { StoredScope } from '../../model/scope.js';
import type { Change, LoadQuery, ScopeName, StoredEvent, Values } from '../../store/contract.js';

/** The content of a scope's row. A scope that has no row yet has the number 0, which owns nothing. */
export interface ScopeRow {
  readonly n: number;
  readonly pos: number;
  /** The change that brought it to `pos`. */
  readonly mark: string | undefined;
}

const NO_SCOPE: ScopeRow = { n: 0, pos: 0, mark: undefined };

/** The content of a session's row, and of its last event's row. */
export interface SessionRow {
  readonly n: number;
  readonly created: string;
  readonly rev: number;
  readonly time: number;
  /** The id of the event at `rev`. */
  readonly last: string | undefined;
  /** The latest time of its events. */
  readonly peak: number | undefined;
  /** The time by the clock from which on it is not there. */
  readonly expires: number | undefined;
}

/** The state of an app, a user and a session; one that has expired is not there. */
export interface KeyRows {
  readonly app: ScopeRow;
  readonly user: ScopeRow;
  readonly session: SessionRow | undefined;
}

/** The state that a change meets. */
export interface RowsForWrite extends KeyRows {
  /** The session of the key where it has expired. */
  readonly expired: SessionRow | undefined;
  /** The milliseconds after each append, or after its creation, at which the session expires. */
  readonly ttl: number | undefined;
  readonly sizes: Readonly<Record<StoredScope, Size>>;
  /** The text of the event of its id. */
  readonly eventData: string | undefined;
  /** True when its call was refused earlier. */
  readonly isRefused: boolean;
  /** The version of the tables. */
  readonly version: unknown;
}

/** Reads the app, the user and the session of a key. */
export function find(driver: SqlDriver, key: Change['key']): KeyRows {
  const rows = rowsIn(driver.first(sql.FIND, placeOf(key)) ?? []);
  return hasExpired(rows.session) ? { ...rows, session: undefined } : rows;
}

/** True from the moment on at which a session counts as removed, by the clock of the host. */
export function hasExpired(session: Pick<SessionRow, 'expires'> | undefined): boolean {
  return session?.expires !== undefined && session.expires <= Date.now();
}

/**
 * Reads all that there is of a key for a writer; also the event of an id in that session, and a call, where there is
 * one.
 */
export function findToWrite(
  driver: SqlDriver,
  key: Change['key'],
  event: string | null,
  call: string | null,
): RowsForWrite {
  const row = driver.first(sql.FIND_TO_WRITE, [call, ...placeOf(key), event]) ?? [];
  const { app, user, session } = rowsIn(row);
  const [eventData, refused, version] = [row[EVENT_DATA], row[EVENT_DATA + 1], row[EVENT_DATA + 2]];
  const isOver = hasExpired(session);
  const ttl = row[SIZES + 6];
  return {
    app,
    user,
    session: isOver ? undefined : session,
    expired: isOver ? session : undefined,
    eventData: isNull(eventData) ? undefined : textOf(eventData, 'data'),
    isRefused: !isNull(refused),
    version,
    ttl: isNull(ttl) ? undefined : numberOf(ttl, 'ttl'),
    sizes: {
      app: sizeOf(row[SIZES], row[SIZES + 1]),
      user: sizeOf(row[SIZES + 2], row[SIZES + 3]),
      session: isOver ? NO_SIZE : sizeOf(row[SIZES + 4], row[SIZES + 5]),
    },
  };
}

const NO_SIZE: Size = { keys: 0, bytes: 0 };

function sizeOf(keys: unknown, bytes: unknown): Size {
  return isNull(keys) ? NO_SIZE : { keys: numberOf(keys, 'keys'), bytes: numberOf(bytes, 'bytes') };
}

function placeOf({ appName, userId, sessionId }: Change['key']): SqlValue[] {
  return [
    sql.scopeColumn(appName, undefined),
    userId === undefined ? null : sql.scopeColumn(appName, userId),
    toColumn(appName),
    userId === undefined ? null : toColumn(userId),
    sessionId === undefined ? null : toColumn(sessionId),
  ];
}

/** Reads the version of the tables. */
export function readVersion(driver: SqlDriver): unknown {
  return driver.first(sql.READ_VERSION, [])?.[0];
}

/** Reads the row of an app, or of a user in it, and how many sessions it has. */
export function readScope(driver: SqlDriver, { app, user }: ScopeName): ScopeRow & { readonly sessions: number } {
  const [row = {}] = driver.all(sql.FIND_SCOPE, [sql.scopeColumn(app, user)]);
  const { n, pos, mark, sessions = 0 } = row;
  return { ...scopeOf(n, pos, mark), sessions: numberOf(sessions, 'sessions') };
}

/** Reads all values of a scope or a session by its number. `whose` says what is corrupt, if it is. */
export function readValues(driver: SqlDriver, owner: number, whose: string): Values {
  return valuesIn(owner === 0 ? [] : driver.all(sql.READ_VALUES, [owner]), whose);
}

/** Reads what the removal of a scope's values takes away, in their order: also those that are corrupt. */
export function readStored(driver: SqlDriver, owner: number): Written[] {
  const rows = driver.all(sql.READ_VALUES, [owner]);
  const place = (row: SqlRow, column: string): number => Number(row[column]);
  const sorted = [...rows].sort((a, b) => place(a, 'born') - place(b, 'born') || place(a, 'nth') - place(b, 'nth'));
  return sorted.flatMap((row) => {
    const { value: before } = row;
    return typeof before === 'string' ? [{ name: toColumn(textIn(row, 'name')), before, value: null }] : [];
  });
}

/** Reads events of a session. */
export function readEvents(
  driver: SqlDriver,
  { n, rev }: Pick<SessionRow, 'n' | 'rev'>,
  query: NonNullable<LoadQuery['events']>,
): StoredEvent[] {
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
      ? driver.lists(sql.READ_EVENTS, [n, start, n, end, last])
      : driver.lists(sql.READ_EVENTS_SINCE, [n, start, n, end, since, last]);
  const events = rows
    .map(([each, id, data, results, app, user]) => eventOf(each, id, data, results, app, user))
    .reverse();
  // Not every session has an event of revision 0.
  const isWithout = last > end && events[0]?.rev !== 0;
  if (since === undefined && events.length !== (isWithout ? end : last)) {
    throw missingEvents(start, end);
  }
  return events;
}

/** The first revision, of those from `first` on, at which there is an event of this time or a later one. */
function firstSince(driver: SqlDriver, n: number, first: number, rev: number, since: number): number {
  let [low, high] = [first, rev + 1];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const [row] = driver.all(sql.READ_PEAK, [n, middle]);
    if (row === undefined && middle > 0) {
      throw missingEvents(middle, middle);
    }
    if (row !== undefined && numberIn(row, 'peak') >= since) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/** The place of the first column behind those of `statements.FIND`, and of the sizes behind that. */
const EVENT_DATA = 13;
const SIZES = EVENT_DATA + 3;

/** Reads the columns of `statements.FIND`, in their order; all is missing where there is no row. */
function rowsIn(row: readonly unknown[]): KeyRows {
  return {
    app: scopeOf(row[0], row[1], row[2]),
    user: scopeOf(row[3], row[4], row[5]),
    session: isNull(row[6]) ? undefined : sessionOf(row),
  };
}

function scopeOf(n: unknown, pos: unknown, mark: unknown): ScopeRow {
  if (isNull(n)) {
    return NO_SCOPE;
  }
  return { n: numberOf(n, 'n'), pos: numberOf(pos, 'pos'), mark: isNull(mark) ? undefined : textOf(mark, 'mark') };
}

function sessionOf(row: readonly unknown[]): SessionRow {
  const [rev, last, peak, expires] = [numberOf(row[8], 'rev'), row[10], row[11], row[12]];
  return {
    n: numberOf(row[6], 'n'),
    created: textOf(row[7], 'created'),
    rev,
    time: numberOf(row[9], 'time'),
    last: rev > 0 && !isNull(last) ? textOf(last, 'id') : undefined,
    peak: typeof peak === 'number' ? peak : undefined,
    expires: isNull(expires) ? undefined : numberOf(expires, 'expires'),
  };
}

function isNull(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}
