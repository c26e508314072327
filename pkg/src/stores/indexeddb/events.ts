// Reading the events of a session from an IndexedDB database.

import { defined } from '../../model/defined.js';
import { missingEvents, unreadable } from '../../store/refusals.js';
import { getAll } from './requests.js';
import type { EventRow, SessionRow } from './rows.js';
import type { LoadQuery, ScopedValues, StoredEvent } from '../../store/contract.js';

/** The number of events read at once: few when only some are looked for, more when that was not enough. */
const FEWEST_EVENTS = 32;
const MOST_EVENTS = 256;
/** The requested events of a session. They are read from the last one back, as the last ones are requested most. */
export async function readEvents(
  transaction: IDBTransaction,
  { number, rev, first: earliest }: SessionRow,
  { from = 1, to = Infinity, since = -Infinity, last = Infinity }: NonNullable<LoadQuery['events']>,
): Promise<StoredEvent[]> {
  const first = Math.max(from, earliest ?? 1);
  const events: StoredEvent[] = [];
  let end = Math.min(to, rev);
  // Without a time to look for, it is known how many will do.
  let size = since === -Infinity ? Math.min(last, MOST_EVENTS) : FEWEST_EVENTS;
  while (end >= first && events.length < last) {
    const start = Math.max(end - size + 1, first);
    const range = IDBKeyRange.bound([number, start], [number, end]);
    const rows = await getAll(transaction, 'events', range);
    if (rows.length !== end - start + 1) {
      throw missingEvents(start, end);
    }
    const isLast = addBackwards(events, rows, since, last);
    end = isLast ? -1 : start - 1;
    size = Math.min(size * 2, MOST_EVENTS);
  }
  return events.reverse();
}

/** Adds the requested events, the last one first. Returns true if no earlier one can be requested. */
function addBackwards(events: StoredEvent[], rows: readonly EventRow[], since: number, last: number): boolean {
  for (let index = rows.length - 1; index >= 0 && events.length < last; index--) {
    const { rev, id, time, peak, data, results, pos } = rows[index] as EventRow;
    if (peak < since) {
      return true;
    }
    if (time >= since) {
      events.push(defined({ rev, data, id, results: results === undefined ? undefined : resultsOf(results), pos }));
    }
  }
  return false;
}

/** The results of operators, from the stored text. Throws `corrupt`. */
export function resultsOf(text: string): ScopedValues {
  try {
    return JSON.parse(text) as ScopedValues;
  } catch (cause) {
    throw unreadable('the results of the operators of an event', cause);
  }
}
