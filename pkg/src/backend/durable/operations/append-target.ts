// The session of an append, and the handle that it comes through.

import { NONE, rangeShownBy, startOf } from '../cache/event-range.js';
import { throwNotFound } from '../../../session/append.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { StoreComponents } from './components.js';
import type { View } from '../../../session/handle.js';
import type { SessionKey } from '../../../model/types.js';

type LoadComponents = Pick<StoreComponents, 'cache' | 'loader'>;

/** The most times that the cached log may turn out to differ from the store's. */
const MAX_ROUNDS = 10;

/**
 * Pins the session of an append, with all events that the handle shows. It has to be unpinned. Throws
 * `SESSION_NOT_FOUND`.
 */
export async function pinForAppend(
  components: LoadComponents,
  key: SessionKey,
  view: View | undefined,
): Promise<SessionRecord> {
  for (let round = 1; ; round++) {
    const record = await pinBound(components, key, view);
    if (record.number !== NOT_LOADED) {
      return record;
    }
    components.cache.unpin(record);
    if (record.deleted || round >= MAX_ROUNDS) {
      return throwNotFound(key);
    }
    // The store had another log than was cached: the next round uses the one that was loaded instead.
  }
}

/** The same, but the session may have left the cache meanwhile. */
async function pinBound(components: LoadComponents, key: SessionKey, view: View | undefined): Promise<SessionRecord> {
  const { cache, loader } = components;
  const { created, deleted } = view?.record ?? {};
  const record = deleted
    ? undefined
    : (pinCurrent(cache, key) ??
      (await loader.load(key, NONE, (loaded) => cache.pin(loaded), { idle: view?.record })));
  if (record === undefined) {
    return throwNotFound(key);
  }
  try {
    if (created !== undefined && record.created !== created) {
      return throwNotFound(key);
    }
    if (view !== undefined) {
      await bindView(components, view, record);
    }
    return record;
  } catch (error) {
    cache.unpin(record);
    throw error;
  }
}

/**
 * The same without a load: the session is cached, and is the one that the handle shows, with all its events.
 * `undefined` otherwise.
 */
export function pinAtOnce(
  { cache }: LoadComponents,
  key: SessionKey,
  view: View | undefined,
): SessionRecord | undefined {
  const isThere = view === undefined || showsCached(cache, key, view);
  return isThere ? pinCurrent(cache, key) : undefined;
}

/** True when a handle shows the cached session, and the cache has all events that it shows. */
function showsCached({ registry }: SessionCache, key: SessionKey, view: View): boolean {
  const { record } = view;
  return record.base <= startOf(rangeShownBy(view), record) && registry.find(key) === record;
}

/** Pins a cached session, unless it is known to have changed since it was loaded. */
function pinCurrent(cache: SessionCache, key: SessionKey): SessionRecord | undefined {
  const cached = cache.registry.find(key);
  return cached !== undefined && cache.isCurrent(cached) ? cache.pin(cached) : undefined;
}

/** Binds a handle to a cached session, which gets the events that the handle shows. */
async function bindView({ cache, loader }: LoadComponents, view: View, record: SessionRecord): Promise<void> {
  cache.mergeEventsOf(view, record);
  const range = rangeShownBy(view, cache.showsOtherLog(view, record) ? record : undefined);
  if (record.base > startOf(range, record)) {
    await loader.load(record.key, range, () => undefined);
  }
  if (record.number !== NOT_LOADED) {
    cache.rebind(view, record);
  }
}

/** Brings a handle up to date with the store. Throws `SESSION_NOT_FOUND`. */
export async function showCurrent(components: LoadComponents, view: View): Promise<void> {
  const { cache } = components;
  const { key } = view.record;
  const cached = cache.registry.find(key);
  if (cached !== undefined) {
    // The writes of others have to be loaded.
    cache.markStale(cached);
  }
  const record = await pinForAppend(components, key, view);
  try {
    cache.registry.refresh(view);
  } finally {
    cache.unpin(record);
  }
}

/** Brings a handle up to date with the store's log. If that cannot be read, the handle stays behind. */
export async function showAppended(components: LoadComponents, key: SessionKey, view: View): Promise<void> {
  const { cache } = components;
  if (view.record.deleted) {
    return;
  }
  let record: SessionRecord | undefined;
  try {
    record = await pinForAppend(components, key, view);
    cache.registry.refresh(view);
  } catch {
    // It is brought up to date at its next use.
  } finally {
    if (record !== undefined) {
      cache.unpin(record);
    }
  }
}
