// The options of leases, and their checks.

import { checkCount, invalid } from '../checks/arguments.js';
import { describe } from '../model/value-types.js';
import type { Signal } from '../async/abort.js';
import type { WithLeaseOptions } from '../model/lease.js';

const DEFAULT_TTL_MS = 30_000;
/** The longest delay of a timer. */
const MAX_TTL_MS = 2 ** 31 - 1;

/** The checked options of a lease. */
export interface LeasePlan {
  readonly ttl: number;
  readonly wait: number;
  readonly signal: Signal | undefined;
}

/** Checks the options of a lease. */
export function checkLeaseOptions({ ttl, wait, signal }: WithLeaseOptions): LeasePlan {
  checkCount(wait, 'wait');
  return { ttl: checkedTtl(ttl), wait: wait ?? 0, signal };
}

/** Checks a duration. */
export function checkedTtl(ttl: unknown = DEFAULT_TTL_MS): number {
  if (!(typeof ttl === 'number' && Number.isSafeInteger(ttl) && ttl >= 1 && ttl <= MAX_TTL_MS)) {
    invalid('ttl', `must be a whole number of milliseconds from 1 to ${MAX_TTL_MS}, not ${describe(ttl)}`);
  }
  return ttl;
}
