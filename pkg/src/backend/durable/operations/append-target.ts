// The session that an append goes to, and the handle that it comes through.

import { NONE, rangeShownBy, startOf } from '../cache/event-range.js';
import { throwNotFound } from '../../../session/append.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { StoreComponents } from './components.js';
import type { View } from '../../../session/handle.js';
import type { SessionKey } from '../../../model/types.js';

type LoadComponents = Pick<StoreComponents, 'cache' | 'loader'>;

/** How often the log that an append goes to may turn out to be another one than the store has. */
const MAX_ROUNDS = 10;

/**
 * The session that an append goes to, with all events that the handle shows. It stays in the cache until it is
 * unpinned. Throws `SESSION_NOT_FOUND`.
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
    // The store had another log than was cached: what was loaded in its place is taken next.
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
 * The same when nothing has to be loaded for it: the session is cached, and it is the one that the handle shows, with
 * all events of it. `undefined` otherwise.
 */
export function pinAtOnce(
  { cache }: LoadComponents,
  key: SessionKey,
  view: View | undefined,
): SessionRecord | undefined {
  const isThere = view === undefined || showsCached(cache, key, view);
  return isThere ? pinCurrent(cache, key) : undefined;
}

/** Whether a handle shows a session as it is cached, and all events that it shows are there. */
function showsCached({ registry }: SessionCache, key: SessionKey, view: View): boolean {
  const { record } = view;
  return record.base <= startOf(rangeShownBy(view), record) && registry.find(key) === record;
}

/** Pins a cached session, if nothing is known to have moved it since it was loaded. */
function pinCurrent(cache: SessionCache, key: SessionKey): SessionRecord | undefined {
  const cached = cache.registry.find(key);
  return cached !== undefined && cache.isCurrent(cached) ? cache.pin(cached) : undefined;
}

/** Lets a handle go on with a cached session, which gets the events that the handle shows. */
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

/** Brings a handle up to date with what the store has. Throws `SESSION_NOT_FOUND`. */
export async function showCurrent(components: LoadComponents, view: View): Promise<void> {
  const { cache } = components;
  const { key } = view.record;
  const cached = cache.registry.find(key);
  if (cached !== undefined) {
    // What others have written is asked of the store.
    cache.markStale(cached);
  }
  const record = await pinForAppend(components, key, view);
  try {
    cache.registry.refresh(view);
  } finally {
    cache.unpin(record);
  }
}

/** Brings a handle up to date, with the log that the store has. When that cannot be read, the handle stays behind. */
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
    // It is brought up to date when it is used next.
  } finally {
    if (record !== undefined) {
      cache.unpin(record);
    }
  }
}
