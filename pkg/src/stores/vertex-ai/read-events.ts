// Reads events, page by page: all of them, those from a time on, or the last ones.

import type { ReadPart } from './session-log.js';
import { fromApiEvent, type ReadEvent } from './from-api.js';
import { toRfc3339 } from './times.js';
import type { Resource, SessionsApi } from './api.js';

/** Nothing is before it. */
const FIRST_TIME_MS = -62_135_596_800_000;

/** A reading of all events that was abandoned before its end: another one can go on with it. */
export interface Unfinished {
  readonly events: readonly ReadEvent[];
  /** The token that asks for the next page. */
  readonly next: string;
  /** The time when the first page was asked for, by the clock of this machine. */
  readonly begunAt: number;
}

/**
 * All events. `undefined` when there is no session. `giveUp` gets the part read so far when the caller waits no more.
 */
export async function readAll(
  api: SessionsApi,
  of: Resource,
  begun: Unfinished | undefined,
  giveUp: (unfinished: Unfinished) => void,
): Promise<ReadPart | undefined> {
  const begunAt = begun?.begunAt ?? Date.now();
  const events = [...(begun?.events ?? [])];
  let next = begun?.next;
  try {
    do {
      const page = await api.events(of, { pageToken: next });
      if (page === undefined) {
        return undefined;
      }
      events.push(...page.items.map(fromApiEvent));
      next = page.next;
    } while (next !== undefined);
  } catch (error) {
    if (of.signal.aborted && next !== undefined) {
      giveUp({ events, next, begunAt });
    }
    throw error;
  }
  return { events: inOrder(events), since: -Infinity, begunAt };
}

/** All events from a time on. `undefined` when there is no session. */
export async function readSince(api: SessionsApi, of: Resource, since: number): Promise<ReadPart | undefined> {
  if (since <= FIRST_TIME_MS) {
    return await readAll(api, of, undefined, () => undefined);
  }
  const [from, begunAt] = [Math.floor(since), Date.now()];
  const filter = `timestamp>="${toRfc3339(from)}"`;
  const events: ReadEvent[] = [];
  for (let pageToken: string | undefined; ;) {
    const page = await api.events(of, { filter, pageToken });
    if (page === undefined) {
      return undefined;
    }
    events.push(...page.items.map(fromApiEvent));
    pageToken = page.next;
    if (pageToken === undefined) {
      return { events: inOrder(events), since: from, begunAt };
    }
  }
}

/**
 * The last events, `count` of them at least, or all. Of a time that more events may have than were read, none is
 * taken. In which order the API gives events of one time when it is asked for the last ones first is not known: where
 * there are any, they are read once more from the front.
 */
export async function readLast(api: SessionsApi, of: Resource, count: number): Promise<ReadPart | undefined> {
  const begunAt = Date.now();
  const events: ReadEvent[] = [];
  for (let pageToken: string | undefined; ;) {
    const page = await api.events(of, { orderBy: 'timestamp desc', pageToken });
    if (page === undefined) {
      return undefined;
    }
    events.push(...page.items.map(fromApiEvent));
    pageToken = page.next;
    const part = lastPart(inOrder(events), count, pageToken === undefined);
    if (part !== undefined) {
      return hasTies(part.events) ? await readFromFront(api, of, part) : { ...part, begunAt };
    }
  }
}

type Part = Pick<ReadPart, 'events' | 'since'>;

/** The whole part of the events at the end of a log; `undefined` when that is not enough. */
function lastPart(events: readonly ReadEvent[], count: number, isAll: boolean): Part | undefined {
  if (isAll) {
    return { events, since: -Infinity };
  }
  const later = events.filter(({ at }) => at > (events[0]?.at ?? Infinity));
  const since = later[0]?.at;
  return since !== undefined && later.length >= count ? { events: later, since } : undefined;
}

function hasTies(events: readonly ReadEvent[]): boolean {
  return events.some(({ at }, index) => at === events[index - 1]?.at);
}

async function readFromFront(api: SessionsApi, of: Resource, { since }: Part): Promise<ReadPart | undefined> {
  return since === -Infinity ? await readAll(api, of, undefined, () => undefined) : await readSince(api, of, since);
}

/**
 * Each event once, in the order of the times; events of one time as they were received. One that was sent again while
 * its first try was on its way is there twice; the first counts.
 */
function inOrder(events: readonly ReadEvent[]): ReadEvent[] {
  const ids = new Set<string>();
  return [...events].sort((a, b) => a.at - b.at).filter(({ id }) => !ids.has(id) && ids.add(id));
}
