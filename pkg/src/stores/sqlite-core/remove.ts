// Removing from SQLite tables: sessions, and the values of scopes.

import { checkFence } from '../../store/lease.js';
import { LogWrites } from './log-writes.js';
import { readLease } from './lease.js';
import { checkVersion } from './open.js';
import { findToWrite, readStored } from './read.js';
import * as sql from './statements.js';
import { hintOf, isNamed } from '../shared/keys.js';
import { REMEMBERED_MS } from '../shared/limits.js';
import type { SqlDriver } from './driver.js';
import type { Guard, ScopeName } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** See `SessionStore.remove`. */
export function remove(driver: SqlDriver, key: SessionKey, guard: Pick<Guard, 'created' | 'fence'> = {}): void {
  const { session, expired, app, user, version } = findToWrite(driver, key, null, null);
  checkVersion(version);
  if (isNamed(expired, guard)) {
    // It is not there for its caller, and must not stay any longer either.
    removeRow(driver, expired.n, app.n, user.n);
  }
  if (!isNamed(session, guard)) {
    return;
  }
  if (guard.fence !== undefined) {
    checkFence(readLease(driver, session.n).fence, guard.fence);
  }
  removeRow(driver, session.n, app.n, user.n);
}

/** Removes a session by the numbers of its row and of its scopes. Its creation is remembered. */
export function removeRow(driver: SqlDriver, n: number, app: number, user: number): void {
  driver.run(sql.FORGET_CREATIONS, [Date.now() - REMEMBERED_MS]);
  driver.run(sql.ADD_CREATION, [Date.now(), n]);
  driver.run(sql.REMOVE_EVENTS, [n, n]);
  driver.run(sql.CLEAR_VALUES, [n]);
  driver.run(sql.REMOVE_SESSION, [n]);
  driver.run(sql.COUNT_SESSIONS, [-1, app]);
  driver.run(sql.COUNT_SESSIONS, [-1, user]);
}

/** See `SessionStore.removeScope`. */
export function removeScope(driver: SqlDriver, scope: ScopeName, hasLog: boolean): void {
  const rows = findToWrite(driver, hintOf(scope), null, null);
  checkVersion(rows.version);
  const { n, pos } = scope.user === undefined ? rows.app : rows.user;
  if (n === 0) {
    return;
  }
  if (hasLog) {
    const log = new LogWrites(driver, [Date.now(), null, null, null]);
    log.add(n, pos + 1, readStored(driver, n));
    log.write();
  }
  driver.run(sql.CLEAR_VALUES, [n]);
  driver.run(sql.CLEAR_CHANGES, [n]);
  driver.run(hasLog ? sql.CLEAR_SCOPE : sql.CLEAR_UNLOGGED, [n]);
}
