// Which events of a log a `GetSessionConfig` shows.

import type { Event, GetSessionConfig } from '../model/types.js';

/** Of the events from a time on, the last so many. */
export interface EventWindow {
  /** The earliest time, in milliseconds since the epoch: each event is judged by itself, as times are in no order. */
  readonly since: number | undefined;
  /** How many at most: `Infinity` for all. */
  readonly last: number;
}

export const ALL_EVENTS: EventWindow = { since: undefined, last: Infinity };
/** What rows of a list show. */
export const NO_EVENTS: EventWindow = { since: undefined, last: 0 };

/** The window that a caller has asked for; all events unless told otherwise. */
export function windowOf(config: GetSessionConfig | undefined): EventWindow {
  return config === undefined
    ? ALL_EVENTS
    : { since: config.afterTimestamp, last: config.numRecentEvents ?? Infinity };
}

/** Whether a window shows all events of any log. */
export function showsAll({ since, last }: EventWindow): boolean {
  return since === undefined && last === Infinity;
}

/** The place, from 0, of the first event that a window may show in a log of this length. */
export function firstInWindow(length: number, { since, last }: EventWindow): number {
  return since === undefined ? Math.max(0, length - last) : 0;
}

/** The events that a window shows of the first `length` ones of a list. */
export function eventsInWindow(events: readonly Event[], length: number, window: EventWindow): readonly Event[] {
  const { since, last } = window;
  if (since === undefined) {
    return events.slice(firstInWindow(length, window), length);
  }
  const later = events.slice(0, length).filter(({ timestamp }) => timestamp >= since);
  return later.slice(Math.max(0, later.length - last));
}
