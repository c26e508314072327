// What names a session, a user, an app or a call.

import type { Change, Hint, Known, ScopeName } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** A text for a session, a user or an app: another one for another. */
export function keyText({ appName, userId, sessionId }: { appName: string; userId?: string | undefined; sessionId?: string | undefined }): string {
  return JSON.stringify([appName, userId, sessionId]);
}

/** An app, or a user in it, as hints and keys name it. */
export function hintOf({ app, user }: ScopeName): Hint {
  return user === undefined ? { appName: app } : { appName: app, userId: user };
}

/** What tells a call from every other one: see `Change.call`. It is the mark of what the change moves. */
export function callOf({ id, call = id }: Pick<Change, 'id' | 'call'>): string {
  return call;
}

/** Whether a session is there, and the one that a guard names. */
export function isNamed<Session extends { readonly created: string }>(
  session: Session | undefined,
  { created }: { readonly created?: string } = {},
): session is Session {
  return session !== undefined && (created === undefined || created === session.created);
}

/** Whether a scope is where it is known to be. Two marks are compared only where both are there. */
export function isKnownScope(known: Pick<Known, 'pos' | 'marks'>, part: 'app' | 'user', pos: number, mark: string | undefined): boolean {
  const knownMark = known.marks?.[part];
  return known.pos?.[part] === pos && (knownMark === undefined || mark === undefined || knownMark === mark);
}

/** The users, each once, that own these sessions. */
export function usersOf(keys: readonly SessionKey[]): string[] {
  return [...new Set(keys.map(({ userId }) => userId))];
}
