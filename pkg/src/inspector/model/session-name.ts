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

/** True when a session that was read again does not continue what was known of it; events may be missing before. */
export function isOtherHistory(before: Session, after: Session): boolean {
  const last = before.events.at(-1);
  const missing = after.revision - after.events.length;
  return after.revision < before.revision || after.events[before.revision - missing - 1]?.id !== last?.id;
}
