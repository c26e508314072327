// Leases of sessions in an IndexedDB database.

import { unended } from './expiry.js';
import { sessionKey } from './keys.js';
import { get, put } from './requests.js';
import type { ClaimRow, SessionRow } from './rows.js';
import { decideLease, type LeaseAnswer, type LeaseRequest, type LeaseRow } from '../../store/lease.js';
import { sessionNotFound } from '../../store/refusals.js';
import { isNamed } from '../shared/keys.js';
import type { SessionKey } from '../../model/types.js';

/** See `SessionStore.readLease`. */
export async function readLease(transaction: IDBTransaction, key: SessionKey): Promise<LeaseRow | null> {
  const row = unended(await get(transaction, 'sessions', sessionKey(key)));
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
  const row = unended(await get(transaction, 'sessions', sessionKey(key)));
  if (!isNamed(row, request)) {
    throw sessionNotFound({ key });
  }
  const { row: leased, answer } = leaseRow(row, request);
  put(transaction, 'sessions', leased);
  return answer;
}

/** See `SessionStore.claim`. */
export async function claimName(
  transaction: IDBTransaction,
  name: string,
  request: Omit<LeaseRequest, 'created'>,
): Promise<LeaseAnswer> {
  const { row, answer } = leaseRow((await get(transaction, 'claims', name)) ?? { name, fence: 0 }, request);
  put(transaction, 'claims', row);
  return answer;
}

/** The row after a request, and the answer to it. */
function leaseRow<Row extends SessionRow | ClaimRow>(
  { lease, ...rest }: Row,
  request: LeaseRequest,
): { readonly row: Row; readonly answer: LeaseAnswer } {
  const now = Date.now();
  const { fence, holder, until } = decideLease({ fence: rest.fence, ...lease }, request, now);
  const isHeld = holder !== undefined && until !== undefined;
  const row = { ...rest, fence, ...(isHeld && { lease: { holder, until } }) } as Row;
  return { row, answer: { fence, until: until ?? now } };
}
