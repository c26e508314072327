// The lease that a handle's writes are made under.

import { StatepadError } from '../model/errors.js';

/** What a write needs of a lease. It is taken when the write is asked for, whatever becomes of the lease later. */
export interface LeaseHold {
  /**
   * For the guard of each change. `undefined`: the write was asked for while the lease was being given back, and it
   * has been since, so that the write needs none.
   */
  readonly token: number | undefined;
  /** In memory: why nothing can be written under it any more. A store compares the token itself. */
  refusal?(): StatepadError | undefined;
  /** A write has found out that it is lost. Answers what to tell its caller. */
  markLost(error: StatepadError): StatepadError;
  /** Why it is known to be lost. Its handle writes nothing any more. */
  readonly lost: StatepadError | undefined;
}

/** The error for what was to be written, renewed or given back under a lease that another has taken since. */
export function leaseLost(id: string, cause?: unknown): StatepadError {
  return new StatepadError('LEASE_LOST', `the lease of session "${id}" was lost: another has taken it since`, {
    id,
    ...(cause === undefined ? {} : { cause }),
  });
}
