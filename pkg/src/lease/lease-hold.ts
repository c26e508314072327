// The lease of a handle's writes.

import { defined } from '../model/defined.js';
import { StatepadError } from '../model/errors.js';

/** A write's side of a lease. The write takes it at its request, whatever happens to the lease later. */
export interface LeaseHold {
  /**
   * The token for the guard of each change. `undefined` when the write was requested during the release of the lease,
   * which has succeeded since: the write needs none.
   */
  readonly token: number | undefined;
  /** In memory: the error for a write under the lease. A store compares the token itself. */
  refusal?(): StatepadError | undefined;
  /** Records that a write found the lease lost. Returns the error for its caller. */
  markLost(error: StatepadError): StatepadError;
  /** The reason that it is known to be lost. Its handle writes nothing any more. */
  readonly loss: StatepadError | undefined;
}

/** The error for a write, a renewal or a release under a lease that another has taken since. */
export function leaseLost(id: string, cause?: unknown): StatepadError {
  return new StatepadError(
    'LEASE_LOST',
    `the lease of session "${id}" was lost: another holder has taken it`,
    defined({ id, cause }),
  );
}
