// Reads events, page by page: from a time on, or the last ones.

import { compareEvents, type ReadPart } from './session-log.js';
import { fromApiEvent, type ReadEvent } from './from-api.js';
import { toRfc3339 } from './times.js';
import type { ApiEvent, Resource, SessionsApi } from './api.js';

/** Nothing is before it. */
const FIRST_TIME_MS = -62_135_596_800_000;

/** All events from a time on; `-Infinity` for all. `undefined` when there is no session. */
export async function readSince(api: SessionsApi, of: Resource, since: number): Promise<ReadPart | undefined> {
  const from = since <= FIRST_TIME_MS ? -Infinity : Math.floor(since);
  const filter = from === -Infinity ? undefined : `timestamp>="${toRfc3339(from)}"`;
  const found: ApiEvent[] = [];
  for (let pageToken: string | undefined; ;) {
    const page = await api.events(of, { filter, pageToken });
    if (page === undefined) {
      return undefined;
    }
    found.push(...page.items);
    pageToken = page.next;
    if (pageToken === undefined) {
      return { events: inOrder(found), since: from };
    }
  }
}

/**
 * The last events, `count` of them at least, or all. Of a time that more events may have than were read, none is
 * taken.
 */
export async function readLast(api: SessionsApi, of: Resource, count: number): Promise<ReadPart | undefined> {
  const found: ApiEvent[] = [];
  for (let pageToken: string | undefined; ;) {
    const page = await api.events(of, { orderBy: 'timestamp desc', pageToken });
    if (page === undefined) {
      return undefined;
    }
    found.push(...page.items);
    pageToken = page.next;
    const events = inOrder(found);
    if (pageToken === undefined) {
      return { events, since: -Infinity };
    }
    const whole = events.slice(events.findIndex(({ at }) => at > (events[0]?.at ?? Infinity)));
    const since = whole[0]?.at;
    if (since !== undefined && whole.length < events.length && whole.length >= count) {
      return { events: whole, since };
    }
  }
}

/**
 * Each event once, in order. One that was sent again while its first try was on its way is there twice; the first
 * counts.
 */
function inOrder(found: readonly ApiEvent[]): ReadEvent[] {
  const seen = new Set<string>();
  return found
    .map(fromApiEvent)
    .sort(compareEvents)
    .filter(({ id }) => !seen.has(id) && seen.add(id));
}
