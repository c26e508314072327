// Keys of sessions, scopes and calls, and how they are compared.

import type { Change, Hint, Known, ScopeName } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** A text that identifies a session, a user or an app. */
export function keyText({
  appName,
  userId,
  sessionId,
}: {
  appName: string;
  userId?: string | undefined;
  sessionId?: string | undefined;
}): string {
  return JSON.stringify([appName, userId, sessionId]);
}

/** An app, or a user in it, as hints and keys name it. */
export function hintOf({ app, user }: ScopeName): Hint {
  return user === undefined ? { appName: app } : { appName: app, userId: user };
}

/** Identifies a call: see `Change.call`. It is also the mark of the scopes that the change moves. */
export function callOf({ id, call = id }: Pick<Change, 'id' | 'call'>): string {
  return call;
}

/** True if there is a session, and its creation is the one that a guard names, if it names one. */
export function isNamed<Session extends { readonly created: string }>(
  session: Session | undefined,
  { created }: { readonly created?: string } = {},
): session is Session {
  return session !== undefined && (created === undefined || created === session.created);
}

/** True if a scope is at its known position. Two marks are compared only where both are there. */
export function isKnownScope(
  known: Pick<Known, 'pos' | 'marks'>,
  part: 'app' | 'user',
  pos: number,
  mark: string | undefined,
): boolean {
  const knownMark = known.marks?.[part];
  return known.pos?.[part] === pos && (knownMark === undefined || mark === undefined || knownMark === mark);
}

/** The users, each once, that own these sessions. */
export function usersOf(keys: readonly SessionKey[]): string[] {
  return [...new Set(keys.map(({ userId }) => userId))];
}
