// A fork for a request with an identity: the same one in each of its attempts.

import { derivedId } from './derived-id.js';
import { fork } from '../fork.js';
import { currentLog, type ServiceComponents } from '../current-log.js';
import { throwNotFound } from '../../session/append.js';
import { sessionIdFrom } from '../../input/creation.js';
import { keyReused, refusedBefore, type Once } from '../../model/once.js';
import type { StoredRequests } from '../../backend/backend-access.js';
import type { Session, SessionKey, SessionName } from '../../model/types.js';
import type { ForkOptions } from '../../model/rewind.js';

/** The revision in the claim of a request that was refused before any attempt has begun a fork. */
const NONE = 'none';

/** A fork for a request, in each of its attempts. */
export class ForkRequest {
  /** The session that it creates. */
  readonly key: SessionKey;
  readonly #requests: StoredRequests;
  /** The key of the session that the id of the request determines. */
  readonly #home: SessionKey;
  readonly #once: Once;

  private constructor(requests: StoredRequests, key: SessionKey, home: SessionKey, once: Once) {
    this.#requests = requests;
    this.key = key;
    this.#home = home;
    this.#once = once;
  }

  static async of(
    requests: StoredRequests,
    source: SessionName,
    options: ForkOptions,
    once: Once,
  ): Promise<ForkRequest> {
    const key = await forkKey(source, options, once);
    return new ForkRequest(requests, key, { ...key, sessionId: await derivedId(once.id) }, once);
  }

  /**
   * Carries it out. The first attempt claims the revision at which the fork branches off: the source may have moved on
   * when the next one comes. Throws as `fork`; `KEY_REUSED`; `SESSION_NOT_FOUND` also when the fork was made and
   * deleted since.
   */
  async run(components: ServiceComponents, source: SessionName, options: ForkOptions): Promise<Session> {
    const { at, signal, ttl, expireTime } = options;
    const begun = await this.#requests.forkOf(this.key, this.#once, signal);
    const wanted = begun?.revision ?? at ?? (await currentLog(components, source, signal)).revision;
    const claimed = await this.#claim(String(wanted));
    if (claimed === NONE) {
      throw refusedBefore();
    }
    if (begun?.isWhole === true) {
      const session = await components.sessions.get(this.key, undefined, signal);
      this.#once.onRepeated?.(begun.isUnmoved);
      return session ?? throwNotFound(this.key);
    }
    const { sessionId } = this.key;
    return await fork(components, source, { at: Number(claimed), sessionId, ttl, expireTime, signal }, this.#once);
  }

  /** Records its refusal: see `StoredRequests.refuse`. */
  async refuse(): Promise<boolean> {
    const claimed = await this.#claim(NONE);
    return claimed !== NONE && (await this.#requests.refuseFork(this.key, this.#once, Number(claimed)));
  }

  /** Claims a revision: the one that the first attempt has claimed. Throws `KEY_REUSED`. */
  async #claim(revision: string): Promise<string> {
    const { id, digest } = this.#once;
    const claimed = await this.#requests.claim(this.#home, `${id}/claim`, `${digest}@${revision}`);
    const end = claimed.lastIndexOf('@');
    if (claimed.slice(0, end) !== digest) {
      throw keyReused();
    }
    return claimed.slice(end + 1);
  }
}

/** The key of the session that a fork for a request creates. */
export async function forkKey(
  { appName, userId }: SessionName,
  { sessionId }: ForkOptions,
  { id }: Once,
): Promise<SessionKey> {
  const named = sessionIdFrom(sessionId);
  return { appName, userId, sessionId: named.isNew ? await derivedId(id) : named.id };
}
