// The deletion of a session over a store.

import { isStatepadError } from '../../model/errors.js';
import type { StoreParts } from './parts.js';
import type { SessionRecord } from '../../session/record.js';
import type { Guard } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';
import type { Signal } from '../../async/abort.js';

/** Deletes a session; it need not be there. */
export async function removeStored(parts: StoreParts, key: SessionKey, signal: Signal | undefined): Promise<void> {
  const { cache, connection, writer } = parts;
  await writer.runExclusive(key, signal, async (begin) => {
    const guard = await guardOfRemoval(parts, key, signal);
    if (guard === 'gone') {
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
      // It may be there, or not.
      withCached(parts, key, (record) => cache.forget(record));
      throw error;
    }
    withCached(parts, key, (record) => cache.drop(record));
  });
}

/**
 * Which session is to be deleted: a second try must not delete one that was created anew in between. Only where the
 * store looks at it. `'gone'` when there is none.
 */
async function guardOfRemoval(
  parts: StoreParts,
  key: SessionKey,
  signal: Signal | undefined,
): Promise<Pick<Guard, 'created'> | 'gone' | undefined> {
  const { cache, connection, loader } = parts;
  const { keeps, exclusive } = connection.store;
  if (!keeps?.includes('creations')) {
    return undefined;
  }
  const found = cache.registry.find(key);
  if (found !== undefined && exclusive) {
    return { created: found.created };
  }
  try {
    const created = await loader.loadCreated(key, signal);
    if (created === undefined) {
      withCached(parts, key, (record) => cache.drop(record));
      return 'gone';
    }
    return { created };
  } catch (error) {
    if (isStatepadError(error) && error.code === 'STORE_CORRUPT') {
      // What cannot be read can be deleted all the same.
      return undefined;
    }
    throw error;
  }
}

function withCached({ cache }: StoreParts, key: SessionKey, change: (record: SessionRecord) => void): void {
  const record = cache.registry.find(key);
  if (record !== undefined) {
    change(record);
  }
}
