// The events of a session that an operation needs, and those that have to be loaded for it.

import { firstInWindow, showsAll, type EventWindow } from '../../../session/event-window.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import type { View } from '../../../session/handle.js';
import type { LoadQuery } from '../../../store/contract.js';

/** A contiguous run of events: from an index in the log, or the last ones. */
export interface EventRange {
  readonly from?: number;
  readonly last?: number;
}

export const ALL: EventRange = { from: 0 };
export const NONE: EventRange = { last: 0 };

/** The events that a window without a time may show. */
export function rangeOf(window: EventWindow): EventRange {
  return showsAll(window) ? ALL : { last: window.last };
}

/** The index of the first event of a range. */
export function startOf({ from, last = 0 }: EventRange, { revision }: SessionRecord): number {
  return from ?? firstInWindow(revision, { since: undefined, last });
}

/**
 * The events of a range that are not cached yet. They are contiguous, so that the cached log has no gaps. Of a session
 * that only a handle refers to, the last event is loaded once more: it shows that the store still has this log.
 */
export function missingRange(known: SessionRecord | undefined, range: EventRange): NonNullable<LoadQuery['events']> {
  if (known === undefined) {
    return range.from === undefined ? { last: range.last ?? 0 } : { from: range.from + 1 };
  }
  const { number, base, revision, events } = known;
  const start = startOf(range, known);
  const isLoaded = number !== NOT_LOADED || events.length === 0;
  return { from: start < base ? start + 1 : isLoaded ? revision + 1 : revision };
}

/** The events that a handle shows of its session, or of another log that takes its place. */
export function rangeShownBy({ window, readLength, windowEvents }: View, other?: SessionRecord): EventRange {
  const length = other?.revision ?? readLength;
  return { from: windowEvents !== undefined && other === undefined ? length : firstInWindow(length, window) };
}
