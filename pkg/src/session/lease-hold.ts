// The lease that a handle's writes are made under.

import { StatepadError } from '../model/errors.js';

/** What a write needs of a lease. */
export interface LeaseHold {
  /** For the guard of each change. */
  readonly token: number;
  /** In memory: why nothing can be written under it any more. A store compares the token itself. */
  refusal?(): StatepadError | undefined;
  /** A write has found out that it is lost. */
  lose(error: StatepadError): void;
}

/** The error for what was to be written, renewed or given back under a lease that another has taken since. */
export function leaseLost(id: string, cause?: unknown): StatepadError {
  return new StatepadError('LEASE_LOST', `the lease of session "${id}" was lost: another has taken it since`, {
    id,
    ...(cause === undefined ? {} : { cause }),
  });
}
