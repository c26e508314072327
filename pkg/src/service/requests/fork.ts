// A fork for a request with an identity: the same one in each of its attempts.

import { derivedId } from './derived-id.js';
import { fork } from '../fork.js';
import { currentLog, type ServiceComponents } from '../current-log.js';
import { notFound } from '../../session/append.js';
import { sessionIdFrom } from '../../input/creation.js';
import { keyReused, type Once } from '../../model/once.js';
import type { StoredRequests } from '../../backend/backend-access.js';
import type { Session, SessionKey, SessionName } from '../../model/types.js';
import type { ForkOptions } from '../../model/rewind.js';

/** The key of the session that a fork for a request creates. */
export async function forkKey(
  { appName, userId }: SessionName,
  { sessionId }: ForkOptions,
  { id }: Once,
): Promise<SessionKey> {
  const named = sessionIdFrom(sessionId);
  return { appName, userId, sessionId: named.isNew ? await derivedId(id) : named.id };
}

/**
 * Forks over a store. The first attempt claims the revision at which the fork branches off: the source may have moved
 * on when the next one comes. Throws as `fork`; `KEY_REUSED`; `SESSION_NOT_FOUND` also when the fork was made and
 * deleted since.
 */
export async function forkStoredOnce(
  components: ServiceComponents,
  requests: StoredRequests,
  source: SessionName,
  options: ForkOptions,
  once: Once,
): Promise<Session> {
  const { sessions } = components;
  const { at, signal } = options;
  const key = await forkKey(source, options, once);
  const begun = await requests.forkOf(key, once, signal);
  const wanted = begun?.revision ?? at ?? (await currentLog(components, source, signal)).revision;
  const revision = await claimRevision(requests, { ...key, sessionId: await derivedId(once.id) }, once, wanted);
  if (begun?.isWhole === true) {
    const session = await sessions.get(key, undefined, signal);
    if (session === undefined) {
      throw notFound(key.sessionId);
    }
    once.onRepeated?.(begun.isUnmoved);
    return session;
  }
  return await fork(components, source, { at: revision, sessionId: key.sessionId, signal }, once);
}

/** The revision that the first attempt of a request has claimed. Throws `KEY_REUSED`. */
async function claimRevision(
  requests: StoredRequests,
  home: SessionKey,
  { id, digest }: Once,
  wanted: number,
): Promise<number> {
  const claimed = await requests.claim(home, `${id}/claim`, `${digest}@${wanted}`);
  const [first, revision] = claimed.split('@');
  if (first !== digest) {
    throw keyReused();
  }
  return Number(revision);
}
