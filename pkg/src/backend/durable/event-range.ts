// Which events of a session have to be in memory, and which of them have to be loaded.

import { OUT, type SessionRecord, type View } from '../../session/handle.js';
import type { LoadQuery } from '../../store/contract.js';

/** The events of a session that are needed: from a place in the log, from 0, or the last ones. */
export interface Wanted {
  readonly from?: number;
  readonly last?: number;
}

export const ALL: Wanted = { from: 0 };
export const NONE: Wanted = { last: 0 };

/** How many events of a session are not wanted: those before all others. */
export function firstOf({ from, last = 0 }: Wanted, { revision }: SessionRecord): number {
  return from ?? Math.max(0, revision - last);
}

/**
 * The events that are not in memory yet. They follow one another, so that memory has no gaps. Of a session that only a handle
 * knows the last one is asked for once more: it tells whether the store still has this log.
 */
export function notHere(known: SessionRecord | undefined, wanted: Wanted): NonNullable<LoadQuery['events']> {
  if (known === undefined) {
    return wanted.from === undefined ? { last: wanted.last ?? 0 } : { from: wanted.from + 1 };
  }
  const { number, base, revision, events } = known;
  const first = firstOf(wanted, known);
  const isHere = number !== OUT || events.length === 0;
  return { from: first < base ? first + 1 : isHere ? revision + 1 : revision };
}

/** The events that a handle shows of its session, or of another log that takes its place. */
export function shownBy({ config, readLength, given }: View, other?: SessionRecord): Wanted {
  const { numRecentEvents, afterTimestamp } = config ?? {};
  const length = other?.revision ?? readLength;
  if (given !== undefined && other === undefined) {
    return { from: length };
  }
  return { from: numRecentEvents === undefined || afterTimestamp !== undefined ? 0 : Math.max(0, length - numRecentEvents) };
}
