// The current events of an ADK session. ADK for JavaScript knows no rewinding and reads its sessions as they are, so
// rewound events, and the markers of rewinds, are left out.

import { effectiveEvents, isMarker } from '../engine/rewind.js';
import { wholeCore } from '../engine/wasm.js';
import { listed } from './events.js';
import type { Event, GetSessionConfig, Session } from '@google/adk';
import type { SessionService } from '../service/session-service.js';
import type { Event as Stored, Session as Handle, SessionKey } from '../model/types.js';

/** The window over the events that existed when a session was read; later ones are all shown. */
export interface EventWindow {
  /** The earliest time, in milliseconds since the epoch. */
  readonly since: number | undefined;
  /** The largest number of them: the last ones. */
  readonly last: number;
  /** The number of events at that time. */
  readonly readLength: number;
}

/** The window that a caller has requested. */
export function requestedWindow(config: GetSessionConfig | undefined, { revision }: Handle): EventWindow {
  const { afterTimestamp: since, numRecentEvents: last = Infinity } = config ?? {};
  return { since, last, readLength: revision };
}

/** The events of a log that a session shows. */
export function currentEvents(log: readonly Stored[], { since, last, readLength }: EventWindow): Stored[] {
  const indexes = effectiveEvents(log);
  const events = (from: number, to: number): Stored[] =>
    indexes.filter((index) => index >= from && index < to).map((index) => log[index] as Stored);
  const read = events(0, readLength).filter(({ timestamp }) => since === undefined || timestamp >= since);
  return [...read.slice(Math.max(0, read.length - last)), ...events(readLength, log.length)];
}

/** The whole log of a session as a handle shows it. */
export async function logOf(
  service: SessionService,
  { appName, userId, id }: Handle,
  length: number,
): Promise<Stored[]> {
  // The caller asks the core next which of them are current.
  const [session] = await Promise.all([service.getSession({ appName, userId, sessionId: id }), wholeCore()]);
  return (session?.events ?? []).slice(0, length);
}

/** The events that a session shows after it was read. The rest of its log is loaded only if it may matter. */
export async function currentOf(
  service: SessionService,
  handle: Handle,
  window: EventWindow,
): Promise<readonly Stored[]> {
  const { events, revision } = handle;
  if (events.length === 0) {
    return events;
  }
  // A marker removes events before it. Where none follows the first event of the window, all of these are current.
  const hasMarker = events.some(isMarker) || !(await isEnd(service, handle, window));
  return hasMarker ? currentEvents(await logOf(service, handle, revision), window) : events;
}

/** True when the events that a handle shows are the last ones of the log: times are in no order. */
async function isEnd(service: SessionService, handle: Handle, { since }: EventWindow): Promise<boolean> {
  const { events, revision } = handle;
  if (since === undefined || events.length === revision) {
    return true;
  }
  const { appName, userId, id: sessionId } = handle;
  const key: SessionKey = { appName, userId, sessionId };
  const end = await service.getSession({ ...key, config: { numRecentEvents: events.length } });
  return end?.revision === revision && end.events[0]?.id === events[0]?.id;
}

/**
 * Brings the list of a session up to date with a log that has grown by a marker since it had `taken` events. ADK's
 * changes of the list stay: copies in the place of events, events that it has removed, and those that are not stored.
 */
export function showCurrentEvents(session: Session, log: readonly Stored[], taken: number, window: EventWindow): void {
  const current = currentEvents(log, window);
  const currentIds = new Set(current.map(({ id }) => id));
  const stored = new Set(log.map(({ id }) => id));
  const before = new Set(currentEvents(log.slice(0, taken), window).map(({ id }) => id));
  const retained = session.events.filter(({ id }) => currentIds.has(id) || !stored.has(id));
  const remaining = new Set(retained.map(({ id }) => id));

  const list: Event[] = [];
  let next = 0;
  for (const event of current) {
    if (remaining.has(event.id)) {
      // With all entries before it in the list.
      while (next < retained.length && remaining.has(event.id)) {
        const entry = retained[next++] as Event;
        list.push(entry);
        remaining.delete(entry.id);
      }
    } else if (!before.has(event.id)) {
      list.push(listed(event));
    }
  }
  list.push(...retained.slice(next));
  session.events.length = 0;
  list.forEach((event) => session.events.push(event));
}
