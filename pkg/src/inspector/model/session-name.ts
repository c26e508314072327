// Unique names of sessions.

import type { Session, SessionKey, SessionName } from '../../index.js';

/** A text that no other session has: its full key. */
export function nameOf({ appName, userId, id }: SessionName): string {
  return JSON.stringify([appName, userId, id]);
}

/** The key of a session. */
export function keyOf({ appName, userId, id: sessionId }: SessionName): SessionKey {
  return { appName, userId, sessionId };
}

/** True when two handles are of one session. */
export function isSameSession(one: Session, other: Session): boolean {
  return nameOf(one) === nameOf(other);
}
