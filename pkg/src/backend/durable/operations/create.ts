// The creation of a session over a store.

import { createdHandle, sharedVersion } from '../cache/uncached-handle.js';
import { ALL, NONE } from '../cache/event-range.js';
import { creationEvent, type CreationEvent } from '../../../session/creation-event.js';
import { scopedDelta } from '../../../engine/sessions.js';
import { withDeltas } from '../../../model/delta.js';
import { StatepadError } from '../../../model/errors.js';
import { newId } from '../../../model/ids.js';
import { isStoreError } from '../../../store/store-error.js';
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
  return await components.writer.runExclusive(
    creation.key,
    signal,
    async (begin) => await create(components, creation, begin),
  );
}

async function create(
  components: StoreComponents,
  { key, state, time: requestedTime }: Creation,
  begin: Begin,
): Promise<Session> {
  const { cache, loader, writer, now } = components;
  const { registry } = cache;
  if (registry.find(key) !== undefined) {
    // Others may have deleted it; otherwise the core refuses.
    await loader.load(key, NONE, () => undefined);
  }
  const [time, id] = [requestedTime ?? now(), newId()];
  const creation = creationEvent(time, state);
  const prepared = registry.engine.prepareCreate(key, time, state);
  const event = { id, time, data: JSON.stringify(creation) };
  const known = cache.knownPositions(key);
  const change: Change = { id, kind: 'create', key, time, event, delta: scopedDelta(prepared), known };
  const sentChange = { change, prepared, known };
  let committed: Committed;
  try {
    committed = await writer.commit(sentChange, begin);
  } catch (error) {
    throw isStoreError(error) ? creationRefused(error.code, key, error) : error;
  }
  const record = cache.applyCommittedCreate(key, creation, sentChange, committed);
  return record === undefined ? await readBack(components, key, creation, change, committed) : registry.read(record);
}

/** The error for a refused creation. */
export function creationRefused(code: string, { sessionId: id }: SessionKey, cause: unknown): StatepadError {
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
  { created = id }: Committed,
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
  const row = { key, created, rev: 0, time: creation.timestamp, state: delta.session?.set ?? {} };
  return createdHandle(registry, row, creation, shared, isDeleted);
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
