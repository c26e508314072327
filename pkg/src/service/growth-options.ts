// The options of a service that end growth: limits, expiry and sweeps.

import { StatepadError } from '../model/errors.js';
import { describe } from '../model/value-types.js';
import { checkOptions } from '../checks/arguments.js';
import { checkedMs } from '../input/expiry.js';
import { OPTIONS } from '../input/requests.js';
import { DEFAULT_LIMITS, STORED_LIMITS, type LimitName, type LimitOptions, type Limits } from '../model/limits.js';
import { keepsExpiry } from '../store/keeps-expiry.js';
import type { SessionStore } from '../store/contract.js';

/** The limits of what a service stores, and the end of what it keeps. */
export interface GrowthOptions {
  /** The most that is stored: a write beyond a limit is `LIMIT_EXCEEDED`, and writes nothing. */
  readonly limits?: LimitOptions | undefined;
  /**
   * Sessions expire so many milliseconds after their last write, unless their creation says otherwise: from then on
   * they are not there. They do not expire by default.
   */
  readonly ttl?: number | undefined;
  /**
   * A sweep also removes the values of users who have no session, and whose values were last written so many
   * milliseconds ago. Such values stay by default.
   */
  readonly userTtl?: number | undefined;
  /**
   * Sweeps by itself, from the first call of the service on: about so many milliseconds after the last time. Of the
   * services of one store one sweeps at a time. By default nothing is swept but by `sweep`.
   */
  readonly sweepEvery?: number | undefined;
}

/** The checked options. */
export interface Growth {
  readonly limits: Limits;
  readonly isValueNamed: boolean;
  readonly ttl: number | undefined;
  readonly userTtl: number | undefined;
  readonly sweepEvery: number | undefined;
}

/** Checks the options. Throws `INVALID_ARGUMENT`, and `STORE_UNSUITABLE` for what the store does not keep. */
export function checkGrowthOptions(
  { limits, ttl, userTtl, sweepEvery }: GrowthOptions,
  store: SessionStore | undefined,
): Growth {
  const growth = {
    limits: checkedLimits(limits),
    isValueNamed: limits?.value !== undefined,
    ttl: ttl === undefined ? undefined : checkedMs(ttl, 'ttl'),
    userTtl: userTtl === undefined ? undefined : checkedMs(userTtl, 'userTtl'),
    sweepEvery: sweepEvery === undefined ? undefined : checkedMs(sweepEvery, 'sweepEvery'),
  };
  if (store !== undefined) {
    const named = STORED_LIMITS.find((name) => limits?.[name] !== undefined && limits[name] !== Infinity);
    if (named !== undefined && store.keeps?.includes('limits') !== true) {
      unsuitable(`limits.${named}`, 'the store does not keep limits');
    }
    if (isEnd(growth.ttl) && !keepsExpiry(store)) {
      unsuitable('ttl', 'the store does not keep expiry');
    }
    if (store.sweep === undefined && (isEnd(growth.userTtl) || isEnd(growth.sweepEvery))) {
      unsuitable(isEnd(growth.userTtl) ? 'userTtl' : 'sweepEvery', 'the store has no sweep');
    }
  }
  return growth;
}

function isEnd(ms: number | undefined): boolean {
  return ms !== undefined && ms !== Infinity;
}

function unsuitable(path: string, why: string): never {
  throw new StatepadError('STORE_UNSUITABLE', `${path} cannot be kept: ${why}`, { path });
}

function checkedLimits(limits: LimitOptions | undefined): Limits {
  checkOptions(limits, OPTIONS.limits, 'limits');
  if (limits === undefined) {
    return DEFAULT_LIMITS;
  }
  const checked: Record<LimitName, number> = { ...DEFAULT_LIMITS };
  for (const name of OPTIONS.limits) {
    const given: unknown = limits[name];
    const limit = given === undefined ? DEFAULT_LIMITS[name] : given;
    if (limit !== Infinity && !(Number.isSafeInteger(limit) && (limit as number) >= 0)) {
      const path = `limits.${name}`;
      const message = `${path} must be a whole number that is not negative, or Infinity, not ${describe(limit)}`;
      throw new StatepadError('INVALID_ARGUMENT', message, { path });
    }
    checked[name] = limit as number;
  }
  return Object.freeze(checked);
}
