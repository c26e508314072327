// The creation of a session over a store.

import { createdHandle, sharedVersion } from '../cache/uncached-handle.js';
import { ALL, NONE } from '../cache/event-range.js';
import { creationEvent, parseCreation, type CreationEvent } from '../../../session/creation-event.js';
import { scopedDelta } from '../../../engine/sessions.js';
import { checkDeltaSize } from '../../../input/sizes.js';
import { defined } from '../../../model/defined.js';
import { withDeltas } from '../../../model/delta.js';
import { dropUnfinishedCreation } from './unfinished-creation.js';
import { isStatepadError, StatepadError } from '../../../model/errors.js';
import { limitRefusal } from '../commit/limits.js';
import { checkRequest, requestMembers, requestRefusal } from '../commit/requests.js';
import { newId } from '../../../model/ids.js';
import { isStoreError, type StoreError } from '../../../store/store-error.js';
import type { SharedScope } from '../../../model/scope.js';
import type { StoreComponents } from './components.js';
import type { Begin } from './writer.js';
import type { Creation } from '../../backend.js';
import type { ScopeVersion } from '../../../session/scope-version.js';
import type { Change, Committed, Delta, Values } from '../../../store/contract.js';
import type { Session, SessionKey } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** Creates a session. Returns a handle of its state at creation, whatever has happened to it since. */
export async function createStored(
  components: StoreComponents,
  creation: Creation,
  signal: Signal | undefined,
): Promise<Session> {
  checkDeltaSize(components.limits.all, creation.state, creation.key, 'state');
  return await components.writer.runExclusive(
    creation.key,
    signal,
    async (begin) => await create(components, creation, begin),
  );
}

async function create(components: StoreComponents, creation: Creation, begin: Begin): Promise<Session> {
  try {
    return await createOnce(components, creation, begin);
  } catch (error) {
    // A creation with an id of its own is asked for again until it is answered: one that was cut off is in its way.
    const mayReplace = creation.id !== undefined && isStatepadError(error) && error.code === 'SESSION_EXISTS';
    if (!mayReplace || !(await dropUnfinishedCreation(components, creation.key))) {
      throw error;
    }
    return await createOnce(components, creation, begin);
  }
}

async function createOnce(
  components: StoreComponents,
  { key, state, time: requestedTime, id: requestedId, once, expires }: Creation,
  begin: Begin,
): Promise<Session> {
  const { cache, connection, limits, loader, writer, now } = components;
  const { registry } = cache;
  const existing = registry.find(key);
  if (existing !== undefined && once !== undefined) {
    // The core would refuse. The store knows whether an earlier attempt has created it.
    cache.evict(existing);
  } else if (existing !== undefined) {
    // Others may have deleted it; otherwise the core refuses.
    await loader.load(key, NONE, () => undefined);
  }
  const [time, id] = [requestedTime ?? now(), once?.id ?? requestedId ?? newId()];
  const creation = creationEvent(time, state, expires?.ttl);
  const prepared = registry.engine.prepareCreate(key, time, state);
  const event = { id, time, data: JSON.stringify(creation) };
  const known = cache.knownPositions(key);
  const delta = scopedDelta(prepared);
  const request = requestMembers(connection.store, once);
  const end = defined({ expires });
  const change: Change = { id, kind: 'create', key, time, event, delta, known, ...request, ...end, ...limits.ofOther };
  const sentChange = { change, prepared, known };
  let committed: Committed;
  try {
    committed = await writer.commit(sentChange, begin);
  } catch (error) {
    throw isStoreError(error) ? (requestRefusal(error, once) ?? creationRefused(error, key)) : error;
  }
  const record = cache.applyCommittedCreate(key, creation, sentChange, committed);
  let first: CreationEvent | undefined;
  if (once !== undefined && committed.duplicate) {
    checkRequest(committed, once);
    const earlier = await earlierCreation(components, change, committed);
    ({ first } = earlier);
    once.onRepeated?.(earlier.isUnmoved);
  }
  return record === undefined
    ? await readBack(components, key, first ?? creation, change, committed)
    : registry.read(record);
}

/** The error for a refused creation. */
export function creationRefused(cause: StoreError, key: SessionKey): StatepadError {
  const { sessionId: id } = key;
  const ofLimit = limitRefusal(cause, key);
  if (ofLimit !== undefined) {
    return ofLimit;
  }
  const { code } = cause;
  return new StatepadError(code === 'exists' ? 'SESSION_EXISTS' : 'STATE_CONFLICT', `session "${id}" already exists`, {
    id,
    cause,
  });
}

/** A stored creation succeeds, even if the session has changed since or cannot be read now. */
async function readBack(
  components: StoreComponents,
  key: SessionKey,
  creation: CreationEvent,
  { id, delta }: Change,
  { created = id, expires }: Committed,
): Promise<Session> {
  const { registry } = components.cache;
  let isDeleted = false;
  try {
    let session: Session | undefined;
    const storedId = await components.loader.load(key, ALL, (record) => {
      session = record.created === created && record.revision === 0 ? registry.read(record) : undefined;
      return record.created;
    });
    if (session !== undefined) {
      return session;
    }
    isDeleted = storedId !== created;
  } catch {
    // The next use of its handle reports the failure.
  }
  const shared = await Promise.all([
    versionAfter(components, 'app', key, delta.app),
    versionAfter(components, 'user', key, delta.user),
  ]);
  const row = {
    key,
    created,
    rev: 0,
    time: creation.timestamp,
    state: delta.session?.set ?? {},
    ...defined({ expires }),
  };
  return createdHandle(registry, row, creation, shared, isDeleted);
}

/**
 * The creation that an earlier attempt has made, if it can be read. `isUnmoved` is true if no scope of the session has
 * certainly moved since, in this step or before.
 */
async function earlierCreation(
  { loader }: Pick<StoreComponents, 'loader'>,
  { id, key, delta }: Change,
  { created = id, pos }: Committed,
): Promise<{ readonly isUnmoved: boolean; readonly first?: CreationEvent }> {
  try {
    const loaded = await loader.loadRange(key as SessionKey, { events: { from: 0, to: 0 } });
    const isThere = loaded?.created === created;
    const now = isThere ? loaded.pos : pos;
    const then = (isThere ? loaded.events[0]?.pos : undefined) ?? { app: delta.app ? 1 : 0, user: delta.user ? 1 : 0 };
    const first = isThere ? parseCreation(loaded.events[0]) : 'unknown';
    const isUnmoved = now.app === then.app && now.user === then.user;
    return first === 'unknown' ? { isUnmoved } : { isUnmoved, first };
  } catch {
    // The next use of its handle reports the failure.
    return { isUnmoved: false };
  }
}

/** The values of an app or a user with the writes of a creation; the writes alone, when the values cannot be read. */
async function versionAfter(
  { loader }: Pick<StoreComponents, 'loader'>,
  scope: SharedScope,
  { appName, userId }: SessionKey,
  own: Delta | undefined,
): Promise<ScopeVersion> {
  let values: Values = {};
  try {
    values = (await loader.loadScope({ appName, userId: scope === 'app' ? undefined : userId })).state;
  } catch {
    // The next use of the handle reports the failure.
  }
  return sharedVersion(scope, withDeltas(values, own));
}
