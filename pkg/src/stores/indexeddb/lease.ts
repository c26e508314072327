// Leases of sessions in an IndexedDB database.

import { sessionKey } from './keys.js';
import { get, put } from './requests.js';
import type { SessionRow } from './rows.js';
import { decideLease, type LeaseAnswer, type LeaseRequest, type LeaseRow } from '../../store/lease.js';
import { sessionNotFound } from '../../store/refusals.js';
import { isNamed } from '../shared/keys.js';
import type { SessionKey } from '../../model/types.js';

/** See `SessionStore.readLease`. */
export async function readLease(transaction: IDBTransaction, key: SessionKey): Promise<LeaseRow | null> {
  const row = await get(transaction, 'sessions', sessionKey(key));
  return row === undefined ? null : { fence: row.fence, ...row.lease };
}

/**
 * See `SessionStore.lease`. The clock is that of the page: all pages of an origin run on one machine. A refusal has
 * written nothing.
 */
export async function leaseSession(
  transaction: IDBTransaction,
  key: SessionKey,
  request: LeaseRequest,
): Promise<LeaseAnswer> {
  const row = await get(transaction, 'sessions', sessionKey(key));
  if (!isNamed(row, request)) {
    throw sessionNotFound({ key });
  }
  const now = Date.now();
  const { lease, ...rest } = row;
  const { fence, holder, until } = decideLease({ fence: row.fence, ...lease }, request, now);
  const leased: SessionRow = { ...rest, fence };
  put(
    transaction,
    'sessions',
    holder === undefined || until === undefined ? leased : { ...leased, lease: { holder, until } },
  );
  return { fence, until: until ?? now };
}
