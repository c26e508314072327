// Writes the log of another service. Loaded at the first call.

import { admitEvent } from '../input/event-draft.js';
import { admitCreation } from '../input/creation.js';
import type { ServiceComponents } from './current-log.js';
import type { CreateSessionRequest, Event, EventInit, Session, SessionName } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** Writes sessions at times of their own, and events with any names of members: both have been stored once. */
export interface LogWriter {
  /**
   * As `createSession`. `time` is the time of creation, in milliseconds since the epoch; now when it is `undefined`.
   */
  create(request: CreateSessionRequest, time: number | undefined): Promise<Session>;
  /** As `appendEvent`. */
  append(session: SessionName, event: EventInit, signal?: Signal): Promise<Event>;
}

/** See `SessionService.logWriter`. */
export function logWriter(components: ServiceComponents): LogWriter {
  const { sessions, now } = components;
  return {
    create: async (request, time) =>
      await sessions.create({ ...admitCreation(request, components), time }, request.signal),
    append: async (session, event, signal) => {
      const draft = admitEvent(event, now, { anyName: true });
      return await sessions.append({ session, draft, expectedRevision: undefined }, signal);
    },
  };
}
