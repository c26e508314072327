// Sweeping SQLite tables: what has expired is looked up first, and then removed in transactions that are short.

import { sleep } from '../../async/sleep.js';
import { checkVersion } from './open.js';
import { findToWrite, readVersion } from './read.js';
import { removeRow, removeScope } from './remove.js';
import { numberIn, textIn } from './rows.js';
import * as sql from './expiry-statements.js';
import { scopeColumn } from './statements.js';
import { toColumn } from '../shared/column-text.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { SweepQuery, Swept } from '../../store/contract.js';
import type { Signal } from '../../async/abort.js';

/**
 * The number of rows after which a transaction ends: other writers wait for as long as one takes, some milliseconds.
 * A session is removed whole, however many rows it has.
 */
const MOST_ROWS = 1_000;

/** One thing to remove. */
interface Removal {
  /** About how many rows go with it. */
  readonly rows: number;
  /** Removes it within a transaction. Says whether it was still to be removed. */
  readonly remove: () => boolean;
}

/**
 * See `SessionStore.sweep`. After each transaction it stands back for as long as that has taken: processes that wait
 * for a lock of SQLite only try now and then, and would hardly ever come between two transactions otherwise.
 */
export async function sweep(driver: SqlDriver, query: SweepQuery, hasLog: boolean, signal: Signal): Promise<Swept> {
  const { limit, userTtl } = query;
  const expired = driver.snapshot(() => findExpired(driver, query));
  const sessions = await removeAll(driver, expired, signal);
  const left = limit - expired.length;
  if (userTtl === undefined || left <= 0) {
    return { sessions, users: 0, more: left <= 0 };
  }
  const idle = driver.snapshot(() => findIdle(driver, { ...query, limit: left, userTtl }, hasLog));
  const users = await removeAll(driver, idle, signal);
  return { sessions, users, more: idle.length >= left };
}

function findExpired(driver: SqlDriver, query: SweepQuery): Removal[] {
  return driver.all(sql.findExpired(query), parametersOf(query, Date.now())).map((row) => ({
    rows: 1 + numberIn(row, 'rev') + numberIn(row, 'keys'),
    remove: () => removeExpired(driver, row),
  }));
}

/** Removes the session of a row, if it has expired now. */
function removeExpired(driver: SqlDriver, row: SqlRow): boolean {
  const key = { appName: textIn(row, 'app'), userId: textIn(row, 'user'), sessionId: textIn(row, 'id') };
  const { expired, app, user } = findToWrite(driver, key, null, null);
  if (expired !== undefined) {
    removeRow(driver, expired.n, app.n, user.n);
  }
  return expired !== undefined;
}

function findIdle(driver: SqlDriver, query: Required<Pick<SweepQuery, 'userTtl'>> & SweepQuery, hasLog: boolean) {
  const latest = Date.now() - query.userTtl;
  return driver.all(sql.findIdle(query), parametersOf(query, latest)).map((row): Removal => ({
    rows: 1 + numberIn(row, 'keys'),
    remove: () => removeIdle(driver, row, latest, hasLog),
  }));
}

/** Removes the values of the user of a row, if there are no sessions now, and no later change. */
function removeIdle(driver: SqlDriver, row: SqlRow, latest: number, hasLog: boolean): boolean {
  const scope = { app: textIn(row, 'of_app'), user: textIn(row, 'name') };
  const isIdle = driver.all(sql.IS_STILL_IDLE, [scopeColumn(scope.app, scope.user), latest]).length > 0;
  if (isIdle) {
    removeScope(driver, scope, hasLog);
  }
  return isIdle;
}

function parametersOf({ app, limit }: SweepQuery, latest: number): (string | number)[] {
  return [latest, ...(app === undefined ? [] : [toColumn(app)]), Math.min(limit, Number.MAX_SAFE_INTEGER)];
}

/** Makes removals, in as many transactions as it takes. Resolves to how many there were to make still. */
async function removeAll(driver: SqlDriver, removals: readonly Removal[], signal: Signal): Promise<number> {
  let count = 0;
  for (let done = 0; done < removals.length;) {
    signal.throwIfAborted();
    const started = performance.now();
    const slice = sliceOf(removals, done);
    count += driver.transaction(() => {
      checkVersion(readVersion(driver));
      return slice.filter(({ remove }) => remove()).length;
    });
    done += slice.length;
    await sleep(performance.now() - started, signal);
  }
  return count;
}

/** The removals from one on that go into a transaction: at least one. */
function sliceOf(removals: readonly Removal[], start: number): readonly Removal[] {
  let [end, rows] = [start, 0];
  while (end < removals.length && rows < MOST_ROWS) {
    rows += (removals[end] as Removal).rows;
    end += 1;
  }
  return removals.slice(start, end);
}
