// An index of sessions by key.

import type { SessionRecord } from './record.js';
import type { SessionKey } from '../model/types.js';

/** Sessions by app, user and id. */
export class SessionIndex {
  readonly #apps = new Map<string, Map<string, Map<string, SessionRecord>>>();

  /** The session of a full key. */
  find({ appName, userId, sessionId }: SessionKey): SessionRecord | undefined {
    return this.#apps.get(appName)?.get(userId)?.get(sessionId);
  }

  /** Any session of an app, of a user in it, or the one of a full key. */
  findAny({
    appName,
    userId,
    sessionId,
  }: Partial<SessionKey> & Pick<SessionKey, 'appName'>): SessionRecord | undefined {
    for (const [user, sessions] of this.#apps.get(appName) ?? []) {
      if (userId === undefined || userId === user) {
        return sessionId === undefined ? sessions.values().next().value : sessions.get(sessionId);
      }
    }
    return undefined;
  }

  /** True when there is a session of an app, or of a user in it. */
  has(appName: string, userId?: string): boolean {
    const users = this.#apps.get(appName);
    return userId === undefined ? users !== undefined : users?.has(userId) === true;
  }

  add(record: SessionRecord): void {
    const { appName, userId, sessionId } = record.key;
    child(child(this.#apps, appName), userId).set(sessionId, record);
  }

  remove({ key: { appName, userId, sessionId } }: SessionRecord): void {
    const users = this.#apps.get(appName);
    const sessions = users?.get(userId);
    sessions?.delete(sessionId);
    if (sessions?.size === 0) {
      users?.delete(userId);
    }
    if (users?.size === 0) {
      this.#apps.delete(appName);
    }
  }
}

function child<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  let inner = map.get(key);
  if (inner === undefined) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}
