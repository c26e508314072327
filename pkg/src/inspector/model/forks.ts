// Forks: sessions that continue from a moment of another one.

import type { Event, SessionKey, SessionName } from '../../index.js';
import { countFrom, membersOf } from './members.js';

/** A moment of another session. */
export interface SessionMoment {
  readonly session: SessionKey;
  readonly revision: number;
}

/** A moment of another session of the same user, as an event of a fork names it. */
export interface Origin {
  readonly sessionId: string;
  readonly revision: number;
}

/** The moment that a fork continues from; `undefined` when it is none. */
export function originOf({ appName, userId }: SessionName, origin: Origin | undefined): SessionMoment | undefined {
  return origin && { session: { appName, userId, sessionId: origin.sessionId }, revision: origin.revision };
}

/**
 * The session of the same user that an event, the last one of a fork's beginning, says to continue from; `undefined`
 * for other events. Such an event follows those that were copied: it is the one after the revision that it names.
 */
export function forkIn(event: Event, revision: number): Origin | undefined {
  const { statepad } = membersOf((event as Partial<Event>).customMetadata);
  const { forkedFrom } = membersOf(statepad);
  const { sessionId, revision: at } = membersOf(forkedFrom);
  const from = countFrom(at);
  return typeof sessionId === 'string' && from !== undefined && from === revision - 1
    ? { sessionId, revision: from }
    : undefined;
}
