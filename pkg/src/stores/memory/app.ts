// An app in memory, with its users and their sessions.

import { Expiring } from './expiring.js';
import { NamedMap } from './named-map.js';
import { Owners } from './owners.js';
import { Scope } from './scope.js';
import { Session } from './session.js';
import type { Change } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The values of a user, and the sessions. */
export class User extends Scope {
  readonly sessions = new Map<string, Session>();
}

/** The values of an app, its users, and what finds sessions of them without a look at the others. */
export class App extends Scope {
  readonly users = new NamedMap<User>();
  readonly owners = new Owners();
  readonly expiring = new Expiring((key) => this.find(key));
  /** The users who have values, in the order of their last changes. */
  readonly #changed = new Map<string, User>();

  /** The session under a key, also one that has expired. */
  find({ userId, sessionId }: Pick<SessionKey, 'userId' | 'sessionId'>): Session | undefined {
    return this.users.get(userId)?.sessions.get(sessionId);
  }

  /** Notes that the values of a user were changed. */
  changedUser(userId: string, user: User): void {
    this.#changed.delete(userId);
    if (!user.values.isEmpty) {
      this.#changed.set(userId, user);
    }
  }

  /**
   * The users with values and without sessions whose values were last changed by a time, those of longest ago first.
   * It looks at users whose values are that old, and at no others.
   */
  *idleUsers(now: number, until: number): Iterable<readonly [userId: string, user: User]> {
    for (const entry of this.#changed) {
      const [, user] = entry;
      if (user.changed > until) {
        return;
      }
      if (isIdle(user, now, until)) {
        yield entry;
      }
    }
  }
}

/** Members of a stored event besides those of its change. */
type EventExtras = Pick<NonNullable<ReturnType<Session['find']>>, 'results' | 'pos'>;

/** Makes the session of a creation. */
export function createSession(app: App, user: User, change: Change, extras: EventExtras, now: number): Session {
  const { id, event } = change;
  const { appName, userId, sessionId } = change.key as SessionKey;
  const beginning = event && { id, data: event.data, time: event.time, ...extras };
  const session = new Session({ appName, userId, sessionId }, change, beginning, now);
  user.sessions.set(sessionId, session);
  app.owners.add(session.key);
  return session;
}

/** Appends the event of a change to its session. */
export function append(user: User, { id, key, time, event }: Change, extras: EventExtras, now: number): Session {
  const session = user.sessions.get(key.sessionId ?? '') as Session;
  session.time = time;
  session.prolong(now);
  session.append({ id, data: event?.data ?? '', time: event?.time ?? time, ...extras });
  return session;
}

/** True for a user who is listed: with a value, or a session. */
export function isUser(user: User, now: number): boolean {
  return !user.values.isEmpty || hasSession(user, now);
}

/** True for an app that is listed: with a value, or a user. */
export function isApp({ values, users }: App, now: number): boolean {
  return !values.isEmpty || users.some((user) => isUser(user, now));
}

/** The sessions of a user that have not expired. */
export function liveSessions({ sessions }: User, now: number): Session[] {
  return [...sessions.values()].filter((session) => !session.hasExpired(now));
}

/** True for a user with values that were last changed by a time, and without sessions. */
export function isIdle(user: User, now: number, until: number): boolean {
  return !user.values.isEmpty && user.changed <= until && !hasSession(user, now);
}

/** True if a user has a session that has not expired. */
function hasSession({ sessions }: User, now: number): boolean {
  for (const session of sessions.values()) {
    if (!session.hasExpired(now)) {
      return true;
    }
  }
  return false;
}
