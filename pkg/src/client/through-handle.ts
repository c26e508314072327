// Writes through a handle: to its session alone, and under its lease.

import { isStatepadError } from '../model/errors.js';
import type { RemoteView } from './handle.js';
import type { ServerCall } from './transport.js';

/** The header that proves a lease. */
export const LEASE_HEADER = 'statepad-lease';
/** The header that names the creation of a session: a session that was created anew is another one. */
export const CREATION_HEADER = 'if-match';

/** Sends requests with the headers of a handle. */
export type HandleSend = <T>(send: (headers: ServerCall['headers']) => Promise<T>) => Promise<T>;

/** Sends writes under the lease that a handle has now, whatever happens to the lease until they are sent. */
export function throughHandle(view: RemoteView | undefined): HandleSend {
  const hold = view?.lease;
  const creation = { [CREATION_HEADER]: view?.created };
  if (view === undefined || hold === undefined) {
    return async (send) => await send(creation);
  }
  return async (send) => {
    const { token } = hold;
    const lease = { [LEASE_HEADER]: token === undefined ? undefined : view.proofs.get(token) };
    try {
      return await send({ ...creation, ...lease });
    } catch (error) {
      const isLost = isStatepadError(error) && (error.code === 'LEASE_LOST' || error.code === 'SESSION_NOT_FOUND');
      throw isLost ? hold.markLost(error) : error;
    }
  };
}
