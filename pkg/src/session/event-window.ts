// The events of a log that a `GetSessionConfig` selects.

import type { Event, GetSessionConfig } from '../model/types.js';

/** The last events from a time on. */
export interface EventWindow {
  /**
   * The earliest time, in milliseconds since the epoch. Each event is compared by itself, as times are in no order.
   */
  readonly since: number | undefined;
  /** The most events; `Infinity` for all. */
  readonly last: number;
}

export const ALL_EVENTS: EventWindow = { since: undefined, last: Infinity };
/** The window of the rows of a list. */
export const NO_EVENTS: EventWindow = { since: undefined, last: 0 };
/** The window of a session right after an append. */
export const LAST_EVENT: EventWindow = { since: undefined, last: 1 };

/** The window of a caller's config; all events by default. */
export function windowOf(config: GetSessionConfig | undefined): EventWindow {
  return config === undefined
    ? ALL_EVENTS
    : { since: config.afterTimestamp, last: config.numRecentEvents ?? Infinity };
}

/** True when a window shows all events of any log. */
export function showsAll({ since, last }: EventWindow): boolean {
  return since === undefined && last === Infinity;
}

/** The index of the first event that a window may show in a log of this length. */
export function firstInWindow(length: number, { since, last }: EventWindow): number {
  return since === undefined ? Math.max(0, length - last) : 0;
}

/** The events that a window shows among the first `length` of a list. */
export function eventsInWindow(events: readonly Event[], length: number, window: EventWindow): readonly Event[] {
  const { since, last } = window;
  if (since === undefined) {
    return events.slice(firstInWindow(length, window), length);
  }
  const later = events.slice(0, length).filter(({ timestamp }) => timestamp >= since);
  return later.slice(Math.max(0, later.length - last));
}
