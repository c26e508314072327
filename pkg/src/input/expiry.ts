// The end of a session, in the request that creates it.

import { StatepadError } from '../model/errors.js';
import { describe } from '../model/value-types.js';
import type { SessionEnd } from '../model/types.js';

/** The end of a session that expires: so many milliseconds after its last write, or at a time. */
export type Ending = { readonly ttl: number; readonly at?: never } | { readonly at: number; readonly ttl?: never };

/** The clock of a service, and the end of the sessions whose requests name none. */
export interface EndDefaults {
  /** In milliseconds since the epoch. */
  readonly now: () => number;
  /** In milliseconds; absent where sessions do not expire by default. */
  readonly ttl?: number | undefined;
}

/** Those of a client: its server decides what is over, and has a default. */
export const OF_SERVER: EndDefaults = { now: () => -Infinity };

/** The end that a request names, or else the default. `undefined`: the session does not expire. */
export function admitEnd({ ttl, expireTime }: SessionEnd, defaults: EndDefaults): Ending | undefined {
  if (ttl !== undefined && expireTime !== undefined) {
    refuse('expireTime', 'cannot go together with ttl');
  }
  if (expireTime !== undefined) {
    if (typeof expireTime !== 'number' || !Number.isFinite(expireTime)) {
      refuse('expireTime', `must be a number of milliseconds since the epoch, not ${describe(expireTime)}`);
    }
    if (expireTime <= defaults.now()) {
      refuse('expireTime', 'is over: a session cannot be created when it has expired');
    }
    return { at: expireTime };
  }
  const lasts = ttl === undefined ? defaults.ttl : checkedMs(ttl, 'ttl');
  return lasts === undefined || lasts === Infinity ? undefined : { ttl: lasts };
}

/** Checks a number of milliseconds: more than 0, or `Infinity`. */
export function checkedMs(ms: unknown, path: string): number {
  if (typeof ms !== 'number' || !(ms > 0)) {
    refuse(path, `must be a number of milliseconds greater than 0, not ${describe(ms)}`);
  }
  return ms;
}

function refuse(path: string, what: string): never {
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}
