// The session that an append goes to, and the handle that it comes through.

import { NONE, rangeShownBy, startOf } from './event-range.js';
import { missing } from '../../session/append.js';
import { NOT_LOADED, type SessionRecord } from '../../session/record.js';
import type { StoreParts } from './parts.js';
import type { View } from '../../session/handle.js';
import type { SessionKey } from '../../model/types.js';

type Parts = Pick<StoreParts, 'cache' | 'loader'>;

/**
 * The session that an append goes to, with all events that the handle shows. It stays in the cache until it is
 * unpinned. Throws `SESSION_NOT_FOUND`.
 */
export async function pinForAppend(parts: Parts, key: SessionKey, view: View | undefined): Promise<SessionRecord> {
  const { cache, loader } = parts;
  const { created, deleted } = view?.record ?? {};
  const found = cache.registry.find(key);
  const pin = (record: SessionRecord): SessionRecord => cache.pin(record);
  const isFound = found !== undefined && cache.isCurrent(found);
  const record = deleted
    ? undefined
    : isFound
      ? pin(found)
      : await loader.load(key, NONE, pin, { idle: view?.record });
  if (record === undefined) {
    return missing(key);
  }
  try {
    if (created !== undefined && record.created !== created) {
      return missing(key);
    }
    if (view !== undefined) {
      await bindView(parts, view, record);
    }
    return record.number === NOT_LOADED ? missing(key) : record;
  } catch (error) {
    cache.unpin(record);
    throw error;
  }
}

/** Lets a handle go on with a cached session, which gets the events that the handle shows. */
async function bindView({ cache, loader }: Parts, view: View, record: SessionRecord): Promise<void> {
  cache.join(view, record);
  const range = rangeShownBy(view, cache.isOther(view, record) ? record : undefined);
  if (record.base > startOf(range, record)) {
    await loader.load(record.key, range, () => undefined);
  }
  if (record.number !== NOT_LOADED) {
    cache.rebind(view, record);
  }
}

/** Brings a handle up to date, with the log that the store has. When that cannot be read, the handle stays behind. */
export async function showAppended(parts: Parts, key: SessionKey, view: View | undefined): Promise<void> {
  const { cache } = parts;
  if (view === undefined || view.record.deleted) {
    return;
  }
  let record: SessionRecord | undefined;
  try {
    if (view.record.number === NOT_LOADED) {
      record = await pinForAppend(parts, key, view);
    }
    cache.registry.refresh(view);
  } catch {
    // It is brought up to date when it is used next.
  } finally {
    if (record !== undefined) {
      cache.unpin(record);
    }
  }
}
