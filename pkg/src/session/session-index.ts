// An index of sessions by key.

import type { SessionRecord } from './record.js';
import type { SessionKey } from '../model/types.js';

/** Sessions by app, user and id. */
export class SessionIndex {
  readonly #apps = new Map<string, Map<string, Map<string, SessionRecord>>>();
  /** The users that have an id, by app and id: made when it is first asked for. */
  #owners: Map<string, Map<string, Set<string>>> | undefined;

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

  /** The users of an app that have a session with this id, in no order. */
  owners(appName: string, sessionId: string): Iterable<string> {
    if (this.#owners === undefined) {
      this.#owners = new Map();
      for (const users of this.#apps.values()) {
        for (const sessions of users.values()) {
          sessions.forEach((record) => this.#addOwner(record));
        }
      }
    }
    return this.#owners.get(appName)?.get(sessionId) ?? [];
  }

  /** The apps that have a session, in no order; the users of an app that have one. */
  names(appName?: string): Iterable<string> {
    return (appName === undefined ? this.#apps : this.#apps.get(appName))?.keys() ?? [];
  }

  add(record: SessionRecord): void {
    const { appName, userId, sessionId } = record.key;
    child(child(this.#apps, appName), userId).set(sessionId, record);
    this.#addOwner(record);
  }

  #addOwner({ key: { appName, userId, sessionId } }: SessionRecord): void {
    if (this.#owners !== undefined) {
      const owners = child(this.#owners, appName);
      owners.set(sessionId, (owners.get(sessionId) ?? new Set()).add(userId));
    }
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
    const ids = this.#owners?.get(appName);
    const owners = ids?.get(sessionId);
    owners?.delete(userId);
    if (owners?.size === 0) {
      ids?.delete(sessionId);
    }
    if (ids?.size === 0) {
      this.#owners?.delete(appName);
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
