// Leases in SQLite tables: columns of the row of the session.

import { decideLease } from '../../store/lease.js';
import { sessionNotFound } from '../../store/refusals.js';
import { checkVersion } from './open.js';
import { find, findToWrite, readVersion } from './read.js';
import { numberIn, textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import { isNamed } from '../shared/keys.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { LeaseRow } from '../../store/lease.js';
import type { LeaseAnswer, LeaseRequest } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** See `SessionStore.lease`. The clock is that of the host: all processes of an SQLite file have the same. */
export function lease(driver: SqlDriver, key: SessionKey, request: LeaseRequest): LeaseAnswer {
  const { session, version } = findToWrite(driver, key, null, null);
  checkVersion(version);
  if (!isNamed(session, request)) {
    throw sessionNotFound({ key });
  }
  const now = Date.now();
  const { fence, holder, until } = decideLease(readLease(driver, session.n), request, now);
  driver.run(sql.SET_LEASE, [fence, holder === undefined ? null : toColumn(holder), until ?? null, session.n]);
  return { fence, until: until ?? now };
}

/** See `SessionStore.claim`. */
export function claim(driver: SqlDriver, name: string, request: Omit<LeaseRequest, 'created'>): LeaseAnswer {
  checkVersion(readVersion(driver));
  const now = Date.now();
  const [row] = driver.all(sql.READ_CLAIM, [toColumn(name)]);
  const { fence, holder, until } = decideLease(row === undefined ? { fence: 0 } : leaseIn(row), request, now);
  const held = holder === undefined ? null : toColumn(holder);
  driver.run(sql.SET_CLAIM, [toColumn(name), fence, held, until ?? null]);
  return { fence, until: until ?? now };
}

/** See `SessionStore.readLease`. */
export function readLeaseOf(driver: SqlDriver, key: SessionKey): LeaseRow | null {
  const { session } = find(driver, key);
  return session === undefined ? null : readLease(driver, session.n);
}

/** The stored data of a session for its leases. */
export function readLease(driver: SqlDriver, n: number): LeaseRow {
  const [row = {}] = driver.all(sql.READ_LEASE, [n]);
  return leaseIn(row);
}

/** The lease in a row with `fence`, `holder` and `until`. */
export function leaseIn(row: SqlRow): LeaseRow {
  return {
    fence: numberIn(row, 'fence'),
    holder: row['holder'] === null ? undefined : textIn(row, 'holder'),
    until: row['until'] === null ? undefined : numberIn(row, 'until'),
  };
}
