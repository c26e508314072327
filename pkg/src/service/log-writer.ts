// Writes the log of another service. Loaded at the first call.

import { admitEvent } from '../input/event-draft.js';
import { admitCreation } from '../input/creation.js';
import { admitEnd, type Ending } from '../input/expiry.js';
import type { ServiceComponents } from './current-log.js';
import type { CreateSessionRequest, Event, EventInit, Session, SessionName } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** The end of a session that was stored once. */
export interface StoredEnd {
  /** In milliseconds since the epoch. */
  readonly expireTime: number;
  /** The time from a write to the end, in milliseconds, where writes move it. */
  readonly ttl?: number;
}

/** Writes sessions at times of their own, and events with any names of members: both have been stored once. */
export interface LogWriter {
  /**
   * As `createSession`. `time` is the time of creation, in milliseconds since the epoch; now when it is `undefined`.
   * The session has the `end` that it had, and none where it had none: the default of the service is for new ones.
   * Throws `INVALID_ARGUMENT` for a session that has expired, and for an end that is none.
   */
  create(request: CreateSessionRequest, time: number | undefined, end?: StoredEnd): Promise<Session>;
  /** As `appendEvent`. */
  append(session: SessionName, event: EventInit, signal?: Signal): Promise<Event>;
}

/** See `SessionService.logWriter`. */
export function logWriter({ sessions, now }: ServiceComponents): LogWriter {
  return {
    create: async (request, time, end) => {
      const creation = { ...admitCreation(request), expires: end && endingOf(end, now) };
      return await sessions.create({ ...creation, time }, request.signal);
    },
    append: async (session, event, signal) => {
      const draft = admitEvent(event, now, { anyName: true });
      return await sessions.append({ session, draft, expectedRevision: undefined }, signal);
    },
  };
}

/** The end of a session that has not expired. One that slides goes on doing so: the import is a write. */
function endingOf({ expireTime, ttl }: StoredEnd, now: () => number): Ending | undefined {
  const end = admitEnd({ expireTime }, { now });
  return ttl === undefined ? end : admitEnd({ ttl }, { now });
}
