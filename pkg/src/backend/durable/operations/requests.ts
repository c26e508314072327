// The memory of a store for requests with an identity, beyond the changes that they make.

import { requestMembers, checkRequest } from '../commit/requests.js';
import { isUnfinished, uniquePart, wholeAt } from '../cache/unfinished.js';
import { defined } from '../../../model/defined.js';
import { isStoreError } from '../../../store/store-error.js';
import type { RequestFork, RequestKind } from '../../backend-access.js';
import type { StoreComponents } from './components.js';
import type { Once } from '../../../model/once.js';
import type { Change, Guard, SessionStore } from '../../../store/contract.js';
import type { SessionKey, UpdateStateTarget } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** A guard that never holds: a key both has a value and is missing. */
const NEVER: Guard = { keys: { app: { set: { '': null }, unset: [''] } } };

/** True if a store refuses a change under this guard, and remembers it. */
function canRemember({ keeps = [], guards }: SessionStore, what: 'calls' | 'digests'): boolean {
  return guards !== 'none' && keeps.includes(what);
}

/** See `StoredRequests.claim`. It is a creation that the store refuses: it remembers the first digest. */
export async function claimRequest(
  { connection, writer, now }: StoreComponents,
  key: SessionKey,
  id: string,
  digest: string,
): Promise<string> {
  if (!canRemember(connection.store, 'digests')) {
    return digest;
  }
  const refused: Change = {
    id,
    kind: 'create',
    key,
    time: now(),
    delta: {},
    guard: NEVER,
    ...requestMembers(connection.store, { digest }),
  };
  try {
    const { digest: first } = await writer.runExclusive(key, undefined, () => writer.send(refused));
    return first ?? digest;
  } catch (error) {
    if (!isStoreError(error)) {
      throw error;
    }
    return error.digest ?? digest;
  }
}

/** See `StoredRequests.refuse`. */
export async function refuseRequest(
  { connection, writer, now }: StoreComponents,
  target: UpdateStateTarget,
  kind: RequestKind,
  once: Once,
  created: string | undefined,
): Promise<boolean> {
  if (!canRemember(connection.store, 'calls')) {
    return false;
  }
  const { id } = once;
  const time = now();
  const refused: Change = {
    id,
    kind,
    key: defined({ ...target }),
    time,
    ...(kind === 'append' && { event: { id, time, data: 'null' }, call: id }),
    delta: {},
    guard: defined({ ...NEVER, created }),
    ...requestMembers(connection.store, once),
  };
  try {
    // The store gets one change of a session at a time.
    const queue = target.sessionId === undefined ? id : (target as SessionKey);
    checkRequest(await writer.runExclusive(queue, undefined, () => writer.send(refused)), once);
    return true;
  } catch (error) {
    if (!isStoreError(error)) {
      throw error;
    }
    return false;
  }
}

/** See `StoredRequests.forkOf`. */
export async function forkOf(
  { loader }: Pick<StoreComponents, 'loader'>,
  key: SessionKey,
  { id }: Once,
  signal: Signal | undefined,
): Promise<RequestFork | undefined> {
  const loaded = await loader.loadAny(key, { events: { last: 1 } }, signal);
  const whole = loaded === null ? undefined : wholeAt(loaded.created);
  if (loaded === null || whole === undefined || uniquePart(loaded.created) !== id) {
    return undefined;
  }
  const [last] = loaded.events;
  const isUnmoved = last?.pos?.app === loaded.pos.app && last.pos.user === loaded.pos.user;
  return { revision: whole - 1, isWhole: !isUnfinished(loaded), isUnmoved: loaded.rev === whole && isUnmoved };
}
