// The events of a session.

import { readEmpty } from './wire/bodies.js';
import { readFilter } from './wire/filter.js';
import { pageOf } from './wire/lists.js';
import { eventTest } from './wire/matches.js';
import { CHOICES } from './leniencies.js';
import { eventAnswer, timeOf } from './event-to.js';
import { findKey, orMissing } from './owner.js';
import { isDescribing } from './details.js';
import { readLog } from './log.js';
import type { EngineCall } from './call.js';
import type { Event, SessionKey } from '../../model/types.js';

/**
 * The largest number of events on a page, and the default: clients that read the first page alone (@google/adk,
 * adk-java) have to find all events there.
 */
const MAX_PAGE_SIZE = 100_000;

/** An event with what a filter compares and an order ranks. */
interface Listed {
  readonly event: Event;
  readonly number: number;
  /** Nanoseconds since the epoch. */
  readonly time: bigint;
}

/** Lists the events of a session: in the order of appending, unless the client wants that of their times. */
export async function listEvents(call: EngineCall): Promise<object> {
  readEmpty(call.body);
  const { query, target, rights } = call;
  const tests = readFilter(query['filter'] ?? '').map(eventTest);
  const key = await findKey(call);
  const { items, nextPageToken } = pageOf<Listed>({
    title: `events of ${target.name}`,
    items: (await eventsOf(call, key)).filter((event) => tests.every((test) => test(event))),
    query,
    times: { timestamp: ({ time }) => time },
    orderBy: CHOICES[target.version].eventOrder,
    number: ({ number }) => number,
    maxSize: MAX_PAGE_SIZE,
  });
  const sessionEvents = items.map(({ event }) => eventAnswer(event, target, rights));
  return {
    ...(sessionEvents.length > 0 && { sessionEvents }),
    ...(nextPageToken !== undefined && { nextPageToken }),
  };
}

async function eventsOf(call: EngineCall, key: SessionKey): Promise<readonly Listed[]> {
  const { access, signal } = call;
  const events = (await readLog(access, key, { from: 1, signal })) ?? orMissing(call);
  return events
    .map((event, index) => ({ event, number: index + 1, time: timeOf(event) }))
    .filter(({ event }) => !isDescribing(event));
}
