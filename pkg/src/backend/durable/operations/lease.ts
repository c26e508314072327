// Leases over a store that supports them.

import { StatepadError } from '../../../model/errors.js';
import { throwNotFound } from '../../../session/append.js';
import type { StoreComponents } from './components.js';
import type { View } from '../../../session/handle.js';
import type { LeaseAnswer, LeaseRequest, LeaseRow } from '../../../store/lease.js';
import type { SessionKey } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** Reads what the store has for the leases of a session; `null` when there is none any more. */
export async function readLeaseStored(
  { connection }: Pick<StoreComponents, 'connection'>,
  key: SessionKey,
  signal: Signal | undefined,
): Promise<LeaseRow | null> {
  if (connection.store.readLease === undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'the lease cannot be read: the store does not tell leases');
  }
  return await connection.ask(async (store, context) => (await store.readLease?.(key, context)) ?? null, signal);
}

/**
 * Takes, renews or releases the lease of a handle's session. A request whose answer was lost is repeated: the store
 * recognizes the holder by its name.
 */
export async function leaseStored(
  { connection, writer }: Pick<StoreComponents, 'connection' | 'writer'>,
  { record: { key, created, deleted } }: View,
  request: LeaseRequest,
  { signal, onDone }: { readonly signal: Signal | undefined; readonly onDone: (() => void) | undefined },
): Promise<LeaseAnswer> {
  if (connection.store.lease === undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'the session cannot be leased: the store does not support leases');
  }
  if (deleted) {
    throwNotFound(key);
  }
  const ask = async (): Promise<LeaseAnswer> => {
    const answered = await connection.ask(async (store, context) => {
      const answer = await store.lease?.(key, { ...request, created }, context);
      if (typeof answer?.fence !== 'number' || typeof answer.until !== 'number') {
        throw new TypeError('the store did not report the outcome of the lease request');
      }
      return answer;
    }, signal);
    onDone?.();
    return answered;
  };
  // Writes that were requested under a lease are made under it: the release comes after them.
  return request.ttl === 0 ? await writer.runExclusive(key, signal, ask) : await ask();
}
