// The creation of a session over a store.

import { applied } from './applied.js';
import { creationEvent, type CreationEvent } from '../../session/creation.js';
import { StatepadError } from '../../model/errors.js';
import { newId } from '../../model/ids.js';
import { sharedCell } from './list.js';
import { isStoreError } from '../../store/store-error.js';
import { ALL, NONE } from './event-range.js';
import type { Cell } from '../../session/handle.js';
import type { Sent } from './positions.js';
import type { Creation } from '../backend.js';
import type { Change, Committed, Delta, Values } from '../../store/contract.js';
import type { Begin, StoredSessions } from './store-backend.js';
import type { Session, SessionKey } from '../../model/types.js';

/** Creates a session. Answers with a handle of it as it was created, whatever has become of it since. */
export async function createStored(sessions: StoredSessions, { key, state }: Creation, begin: Begin): Promise<Session> {
  const { cache } = sessions;
  if (cache.find(key) !== undefined) {
    // Others may have deleted it; otherwise the core refuses.
    await sessions.load(key, NONE, () => undefined);
  }
  const [time, id] = [sessions.now(), newId()];
  const creation = creationEvent(time, state);
  const ticket = cache.prepareCreate(key, time, state);
  const event = { id, time, data: JSON.stringify(creation) };
  const known = cache.knownScopes(key.appName, key.userId);
  const change: Change = { id, kind: 'create', key, time, event, delta: cache.scopedDelta(ticket), known };
  const sent: Sent = { change, known };
  let committed: Committed;
  try {
    committed = await sessions.commit(change, ticket, begin);
  } catch (error) {
    throw isStoreError(error) ? refused(error.code, key, error) : error;
  }
  const record = cache.settleCreate(key, creation, ticket, sent, committed);
  return record === undefined ? await readBack(sessions, key, creation, change) : cache.read(record);
}

function refused(code: string, { sessionId: id }: SessionKey, cause: unknown): StatepadError {
  return new StatepadError(code === 'exists' ? 'SESSION_EXISTS' : 'STATE_CONFLICT', `session "${id}" exists already`, { id, cause });
}

/** What is stored is acknowledged: also when it is not so any more, or cannot be read now. */
async function readBack(sessions: StoredSessions, key: SessionKey, creation: CreationEvent, { id, delta }: Change): Promise<Session> {
  const { cache } = sessions;
  let isDeleted = false;
  try {
    let session: Session | undefined;
    const found = await sessions.load(key, ALL, (record) => {
      session = record.created === id && record.revision === 0 ? cache.read(record) : undefined;
      return record.created;
    });
    if (session !== undefined) {
      return session;
    }
    isDeleted = found !== id;
  } catch {
    // Its handle finds out when it is used.
  }
  const cells = await Promise.all([scopeCell(sessions, 'app', key, delta.app), scopeCell(sessions, 'user', key, delta.user)]);
  return cache.created(key, id, creation, delta.session?.set ?? {}, cells, isDeleted);
}

/** The values of an app or a user with what a creation has written there; that alone, when they cannot be read. */
async function scopeCell(sessions: StoredSessions, part: 'app' | 'user', { appName, userId }: SessionKey, own: Delta = {}): Promise<Cell> {
  let values: Values = {};
  try {
    values = (await sessions.loadScope(appName, part === 'app' ? undefined : userId)).state;
  } catch {
    // It is shown when the handle is used.
  }
  return sharedCell(part, applied(values, own));
}
