// Forks: sessions that continue from a moment of another one.

import type { Event, SessionKey } from '../../index.js';
import { countFrom, membersOf } from './members.js';

/** A moment of another session. */
export interface SessionMoment {
  readonly session: SessionKey;
  readonly revision: number;
}

/**
 * The session of the same user that an event, the last one of a fork's beginning, says to continue from; `undefined`
 * for other events. Such an event follows those that were copied: it is the one after the revision that it names.
 */
export function forkIn(
  event: Event,
  revision: number,
): { readonly sessionId: string; readonly revision: number } | undefined {
  const { statepad } = membersOf((event as Partial<Event>).customMetadata);
  const { forkedFrom } = membersOf(statepad);
  const { sessionId, revision: at } = membersOf(forkedFrom);
  const from = countFrom(at);
  return typeof sessionId === 'string' && from !== undefined && from === revision - 1
    ? { sessionId, revision: from }
    : undefined;
}
