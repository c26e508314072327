// Unique names of sessions.

import type { Session } from '../../index.js';

/** A text that no other session has: its full key. */
export function nameOf({ appName, userId, id }: Pick<Session, 'appName' | 'userId' | 'id'>): string {
  return JSON.stringify([appName, userId, id]);
}

/** True when two handles are of one session. */
export function isSameSession(one: Session, other: Session): boolean {
  return nameOf(one) === nameOf(other);
}
