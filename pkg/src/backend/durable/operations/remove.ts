// The deletion of a session over a store.

import { StatepadError, isStatepadError } from '../../../model/errors.js';
import { leaseLost } from '../../../lease/lease-hold.js';
import { isStoreError } from '../../../store/store-error.js';
import type { StoreComponents } from './components.js';
import type { RemovalTarget } from '../../backend.js';
import type { SessionRecord } from '../../../session/record.js';
import type { Guard } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** The guard of a deletion. */
type RemovalGuard = Pick<Guard, 'created' | 'fence'>;

/** Deletes a session, which may be missing. See `SessionBackend.remove`. */
export async function removeStored(
  components: StoreComponents,
  key: SessionKey,
  signal: Signal | undefined,
  only: RemovalTarget | undefined,
): Promise<void> {
  const { cache, connection, writer } = components;
  await writer.runExclusive(key, signal, async (begin) => {
    const guard = guardOfTarget(components, key, only) ?? (await guardOfRemoval(components, key, signal));
    if (guard === 'deleted') {
      return;
    }
    begin(key.sessionId);
    try {
      await connection.ask(
        async (store, context) => await store.remove(key, context, guard),
        undefined,
        key.sessionId,
      );
    } catch (error) {
      // The outcome is unknown.
      withCached(components, key, (record) => cache.evict(record));
      throw isFenced(error) ? leaseLostError(key, only, error) : error;
    }
    withCached(components, key, (record) => {
      if (guard?.created === undefined || guard.created === record.created) {
        cache.markDeleted(record);
      }
    });
  });
}

/** The guard of the named session, and of its lease; `undefined` when the lease was released before. */
function guardOfTarget(
  { connection: { store } }: Pick<StoreComponents, 'connection'>,
  { sessionId: id }: SessionKey,
  only: RemovalTarget | undefined,
): RemovalGuard | undefined {
  const fence = only?.lease?.token;
  if (only === undefined || (only.lease !== undefined && fence === undefined)) {
    return undefined;
  }
  const { created } = only;
  if (fence === undefined) {
    if (!store.keeps?.includes('creations')) {
      const message =
        'the session cannot be deleted by its creation: the store does not compare creations on deletion';
      throw new StatepadError('INVALID_ARGUMENT', message, { id });
    }
    return { created };
  }
  if (!store.keeps?.includes('removals')) {
    const message =
      'the session cannot be deleted under its lease: the store does not compare tokens on deletion; release the lease first';
    throw new StatepadError('INVALID_ARGUMENT', message, { id });
  }
  return { created, fence };
}

/** True when the store has refused the token: then no attempt takes effect, even if an answer was lost. */
function isFenced(error: unknown): boolean {
  const { code, cause } = isStatepadError(error) ? error : {};
  return code === 'LEASE_LOST' || (code === 'COMMIT_UNKNOWN' && isStoreError(cause) && cause.code === 'fenced');
}

function leaseLostError(
  { sessionId: id }: SessionKey,
  only: RemovalTarget | undefined,
  cause: unknown,
): StatepadError {
  const error = leaseLost(id, cause);
  return only?.lease?.markLost(error) ?? error;
}

/**
 * The session to be deleted: a repeated attempt must not delete one that was created anew in between. `undefined` over
 * a store that does not compare it, `'deleted'` for a missing session.
 */
async function guardOfRemoval(
  components: StoreComponents,
  key: SessionKey,
  signal: Signal | undefined,
): Promise<RemovalGuard | 'deleted' | undefined> {
  const { cache, connection, loader } = components;
  const { keeps, exclusive } = connection.store;
  if (!keeps?.includes('creations')) {
    return undefined;
  }
  const cached = cache.registry.find(key);
  if (cached !== undefined && exclusive) {
    return { created: cached.created };
  }
  try {
    const created = await loader.loadCreationId(key, signal);
    if (created === undefined) {
      withCached(components, key, (record) => cache.markDeleted(record));
      return 'deleted';
    }
    return { created };
  } catch (error) {
    if (isStatepadError(error) && error.code === 'STORE_CORRUPT') {
      // A session that cannot be read can still be deleted.
      return undefined;
    }
    throw error;
  }
}

function withCached({ cache }: StoreComponents, key: SessionKey, change: (record: SessionRecord) => void): void {
  const record = cache.registry.find(key);
  if (record !== undefined) {
    change(record);
  }
}
