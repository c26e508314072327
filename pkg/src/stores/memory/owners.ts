// The users of one app by the ids of their sessions.

import { sortedNames } from '../shared/name-page.js';
import type { SessionKey } from '../../model/types.js';

/** An index of the sessions of one app. */
export class Owners {
  /** The users that have a session with an id. */
  readonly #users = new Map<string, Set<string>>();

  add({ sessionId, userId }: SessionKey): void {
    const users = this.#users.get(sessionId);
    if (users === undefined) {
      this.#users.set(sessionId, new Set([userId]));
    } else {
      users.add(userId);
    }
  }

  remove({ sessionId, userId }: SessionKey): void {
    const users = this.#users.get(sessionId);
    users?.delete(userId);
    if (users?.size === 0) {
      this.#users.delete(sessionId);
    }
  }

  /** The users that have a session with this id, in the order of UTF-8 bytes. */
  of(sessionId: string): readonly string[] {
    return sortedNames(this.#users.get(sessionId) ?? []);
  }
}
