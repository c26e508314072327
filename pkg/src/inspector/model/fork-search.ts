// The known forks of sessions. No list tells them: a fork names its origin in an event of its own.

import type { Session, SessionName } from '../../index.js';
import { forkIn, type Origin, type SessionMoment } from './forks.js';
import { nameOf } from './session-name.js';
import type { InspectorSource } from './source.js';

/** The most sessions that are read for one session on show. */
const READ_SESSIONS = 20;

/** The number of last events of a session among which the one is looked for that names its origin. */
const READ_EVENTS = 100;

/** The forks that were created or seen here, and those among sessions that were looked into. */
export class ForkSearch {
  readonly #source: InspectorSource;
  readonly #forks = new Map<string, SessionMoment[]>();
  /** The sessions that were looked into. */
  readonly #read = new Set<string>();

  constructor(source: InspectorSource) {
    this.#source = source;
  }

  /** The known forks of a session. */
  of(session: Session): readonly SessionMoment[] {
    return this.#forks.get(nameOf(session)) ?? [];
  }

  /** Notes that a session continues from a revision of another one of the same user. Answers true for news. */
  note(fork: SessionName, from: Origin): boolean {
    const { appName, userId, id } = fork;
    const origin = nameOf({ appName, userId, id: from.sessionId });
    const known = this.#forks.get(origin) ?? [];
    if (known.some(({ session }) => session.sessionId === id)) {
      return false;
    }
    this.#forks.set(origin, [...known, { session: { appName, userId, sessionId: id }, revision: from.revision }]);
    return true;
  }

  /** Looks for forks of a session among others, one after the other. Answers true when it has found some. */
  async search(origin: Session, sessions: readonly Session[], signal: AbortSignal): Promise<boolean> {
    const { appName, userId, id } = origin;
    const others = sessions.filter(
      (other) =>
        other.appName === appName &&
        other.userId === userId &&
        other.id !== id &&
        other.revision > 0 &&
        !this.#read.has(nameOf(other)),
    );
    let hasFound = false;
    for (const other of others.slice(0, READ_SESSIONS)) {
      signal.throwIfAborted();
      const key = { appName, userId, sessionId: other.id };
      const read = await this.#source.getSession({ ...key, config: { numRecentEvents: READ_EVENTS }, signal });
      this.#read.add(nameOf(other));
      const from = read === undefined ? undefined : originIn(read);
      hasFound = (from !== undefined && this.note(other, from)) || hasFound;
    }
    return hasFound;
  }
}

/** The last origin that the events of a session name: a fork of a fork has the event of its own origin, too. */
function originIn({ events, revision }: Session): Origin | undefined {
  const first = revision - events.length + 1;
  return events.map((event, place) => forkIn(event, first + place)).findLast((from) => from !== undefined);
}
