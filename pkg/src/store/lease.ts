// Leases: one runner at a time for a session, numbered by a token that only grows.

import { StoreError } from './store-error.js';

/** A request for a lease. */
export interface LeaseRequest {
  /**
   * The id of the requester, unique for each lease. A holder that asks again, because the answer was lost, gets the
   * lease that it has.
   */
  readonly holder: string;
  /** The duration of the lease from now on, in milliseconds, by the store's clock; 0 gives it back. */
  readonly ttl: number;
  /** To make it last longer, or to give it back: the token that was answered. Absent: to take it. */
  readonly fence?: number;
  /** The `Row.created` that the session must have: `not-found` otherwise, as it is another session. */
  readonly created?: string;
}

/** A lease that was granted, or made to last longer. */
export interface LeaseAnswer {
  /** The fencing token: greater than that of every earlier lease of the session. For `Guard.fence`. */
  readonly fence: number;
  /** The end of the lease, in milliseconds since the epoch, by the store's clock. Any number if it was given back. */
  readonly until: number;
}

/** The part of a session that a store keeps for its leases. */
export interface LeaseRow {
  /** The last token that was issued; 0 before the first. */
  readonly fence: number;
  /** The holder of the lease; absent when it was given back. */
  readonly holder?: string | undefined;
  /** The end of the lease, in milliseconds since the epoch. */
  readonly until?: number | undefined;
}

/**
 * Decides a request for a lease: the row as it is after the request. `now` is the store's clock, in milliseconds
 * since the epoch. A lease is lost when another holder has taken it, never by time alone: until then its holder may
 * write and make it last longer. Giving it back moves the token on, so that nothing is written with it afterwards. It
 * may be given back once more, because the answer was lost: where nobody has it and the token is the next one, nobody
 * has taken it since, and nothing changes.
 *
 * Throws `held` while another holder has it, `fenced` when the token is not the session's.
 */
export function decideLease(row: LeaseRow, { holder, ttl, fence }: LeaseRequest, now: number): Required<LeaseRow> {
  if (fence === undefined) {
    const isOwn = row.holder === holder;
    if (!isOwn && row.holder !== undefined && (row.until ?? 0) > now) {
      throw new StoreError('held', 'the session is leased', { until: row.until ?? 0 });
    }
    return { fence: isOwn ? row.fence : row.fence + 1, holder, until: now + ttl };
  }
  if (ttl === 0 && row.holder === undefined && row.fence === fence + 1) {
    return { fence: row.fence, holder: undefined, until: undefined };
  }
  if (row.fence !== fence || row.holder !== holder) {
    throw fenced(row.fence, fence);
  }
  return ttl > 0 ? { fence, holder, until: now + ttl } : { fence: fence + 1, holder: undefined, until: undefined };
}

/** Looks at the token of a change, or of a removal: throws `fenced` when the session is at another one. */
export function checkFence(actual: number, expected: number | undefined): void {
  if (expected !== undefined && expected !== actual) {
    throw fenced(actual, expected);
  }
}

/** `fenced`: the token of a change, or of a lease, is not the session's any more. */
export function fenced(actual: number, expected: number): StoreError {
  const message = `the lease with the token ${expected} was lost: the session is at token ${actual}`;
  return new StoreError('fenced', message, { actual });
}
