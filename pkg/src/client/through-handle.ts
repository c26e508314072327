// Writes under the lease of a handle.

import { isStatepadError } from '../model/errors.js';
import type { RemoteView } from './handle.js';
import type { ServerCall } from './transport.js';

/** The header that proves a lease. */
export const LEASE_HEADER = 'statepad-lease';

/** Sends writes with the header of a lease. */
export type LeasedSend = <T>(send: (headers: ServerCall['headers']) => Promise<T>) => Promise<T>;

/** Sends writes under the lease that a handle has now, whatever happens to the lease until they are sent. */
export function underLease(view: RemoteView | undefined): LeasedSend {
  const hold = view?.lease;
  if (view === undefined || hold === undefined) {
    return async (send) => await send(undefined);
  }
  return async (send) => {
    const { token } = hold;
    try {
      return await send(token === undefined ? undefined : { [LEASE_HEADER]: view.proofs.get(token) });
    } catch (error) {
      const isLost = isStatepadError(error) && (error.code === 'LEASE_LOST' || error.code === 'SESSION_NOT_FOUND');
      throw isLost ? hold.markLost(error) : error;
    }
  };
}
