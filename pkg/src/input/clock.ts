// The caller's clock.

import { StatepadError } from '../model/errors.js';
import { describe } from '../model/value-types.js';

/** A clock that checks every answer: a `Date`, a text or a bigint would be stored as something else. */
export function checkedClock(now: () => unknown): () => number {
  return () => {
    const time = now();
    if (typeof time !== 'number' || !Number.isFinite(time)) {
      throw new StatepadError(
        'INVALID_ARGUMENT',
        `now() must return a number of milliseconds, not ${describe(time)}`,
        { path: 'now' },
      );
    }
    return time;
  };
}
