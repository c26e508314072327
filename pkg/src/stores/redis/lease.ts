// The arguments and the answers of the script for leases.

import { StoreError } from '../../store/store-error.js';
import { fenced, type LeaseRow } from '../../store/lease.js';
import { sessionNotFound, unreadable } from '../../store/refusals.js';
import { textOf } from './client.js';
import { memberOf } from './keys.js';
import type { LeaseAnswer, LeaseRequest } from '../../store/contract.js';
import { textAfterSign, type List } from './hashes.js';
import type { SessionKey } from '../../model/types.js';

/** The arguments of the script. */
export function leaseArgs(key: SessionKey, { holder, ttl, fence, created }: LeaseRequest): string[] {
  return [
    memberOf(key),
    created === undefined ? '' : `=${created}`,
    `=${holder}`,
    String(ttl),
    fence === undefined ? '' : String(fence),
  ];
}

/** The arguments of the script for claims. */
export function claimArgs({ holder, ttl, fence }: Omit<LeaseRequest, 'created'>): string[] {
  return [`=${holder}`, String(ttl), fence === undefined ? '' : String(fence)];
}

/** Looks at what the script for removals has answered. Throws `fenced`. */
export function checkRemoved(reply: unknown, expected = 0): void {
  const [status, detail] = reply as List;
  if (textOf(status) === 'fenced') {
    throw fenced(Number(detail), expected);
  }
}

/** Reads what the script that looks at a lease has answered. */
export function decodeLeaseRow(reply: unknown): LeaseRow | null {
  if (reply === null) {
    return null;
  }
  const [fence, holder, until] = reply as List;
  const isHeld = holder !== undefined && holder !== null;
  return {
    fence: Number(textOf(fence)),
    ...(isHeld && { holder: textAfterSign(holder), until: Number(textOf(until)) }),
  };
}

/** Reads what the script for claims has answered. Throws `held`, `fenced`, `corrupt`. */
export function decodeClaim(name: string, { fence: expected = 0 }: LeaseRequest, reply: unknown): LeaseAnswer {
  const [status, detail, until] = reply as List;
  switch (textOf(status)) {
    case 'leased':
      return { fence: Number(detail), until: Number(until) };
    case 'held':
      throw new StoreError('held', `the claim "${name}" is held`, { until: Number(detail) });
    case 'fenced':
      throw fenced(Number(detail), expected);
    default:
      throw unreadable(`the claim "${name}"`);
  }
}

/** Reads what it answers. Throws `held`, `fenced`, `not-found`. */
export function decodeLease(key: SessionKey, { fence: expected = 0 }: LeaseRequest, reply: unknown): LeaseAnswer {
  const [status, detail, until] = reply as List;
  switch (textOf(status)) {
    case 'leased':
      return { fence: Number(detail), until: Number(until) };
    case 'held':
      throw new StoreError('held', 'the session is leased', { until: Number(detail) });
    case 'fenced':
      throw fenced(Number(detail), expected);
    default:
      throw sessionNotFound({ key });
  }
}
