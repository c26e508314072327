// The log of a session, read in pieces.

import type { ServingAccess } from '../../service/serving-access.js';
import type { Signal } from '../../async/abort.js';
import type { Event, SessionKey } from '../../model/types.js';

/** The number of events that are read at a time. */
const CHUNK = 1_000;

/** The part of a log to read: its first revision, and its last one, which is the present one when absent. */
interface Range {
  readonly from: number;
  readonly to?: number | undefined;
  readonly signal?: Signal | undefined;
}

/** The events of a session in a range, in order; `undefined` when there is no such session any more. */
export async function readLog(
  access: ServingAccess,
  key: SessionKey,
  { from, to = Infinity, signal }: Range,
): Promise<readonly Event[] | undefined> {
  const found: Event[] = [];
  for (let next = from; next <= to;) {
    const page = await access.events(key, { from: next, limit: Math.min(CHUNK, to - next + 1), signal });
    if (page === undefined) {
      return undefined;
    }
    found.push(...page.events);
    next += page.events.length;
    if (page.events.length === 0 || next > page.revision) {
      break;
    }
  }
  return found;
}
