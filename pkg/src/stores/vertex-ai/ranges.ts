// The events of a log that a query asks for, and those that have to be read for it.

import { isTrueNumber, type KnownEvent, type SessionLog } from './session-log.js';
import type { LogRange } from './sessions.js';
import type { LoadQuery } from '../../store/contract.js';

/** The part of a query that concerns events. */
export type EventQuery = NonNullable<LoadQuery['events']>;

/** The texts of events that were read, by id. */
export type Texts = ReadonlyMap<string, string>;

/** An event and its number. */
export interface NumberedEvent extends KnownEvent {
  readonly rev: number;
}

/** The part to read of a log of which nothing is known. */
export function firstRange({ from = 1, to = Infinity, since, last }: EventQuery): LogRange {
  const isEnd = last !== undefined || since !== undefined || to < 1;
  if (from > 1 ? !isTrueNumber(from) : isEnd) {
    return { last: to < 1 || since !== undefined ? 0 : (last ?? 0) };
  }
  return 'all';
}

/** The part to read for a query, besides the known part and the cached texts; `undefined`: nothing. */
export function missingFor(log: SessionLog, query: EventQuery, texts: Texts): LogRange | undefined {
  const { since, last } = query;
  const [lower, upper] = boundsOf(log, query);
  if (last === 0 || lower > upper || (since !== undefined && since > (log.lastAt ?? -Infinity) + 1)) {
    return undefined;
  }
  if (since !== undefined && last === undefined && lower <= log.base && !log.covers(since)) {
    return { since: since - 1 };
  }
  if (lower <= log.base && !(since !== undefined && log.covers(since))) {
    return log.isNumber(lower) ? { last: log.rev - lower + 1 } : 'all';
  }
  const first = eventsFor(log, query).find(({ id }) => !texts.has(id));
  return first && { since: first.at };
}

/** The events that a query asks for, as far as they are known. */
export function eventsFor(log: SessionLog, query: EventQuery): readonly NumberedEvent[] {
  const { since = -Infinity, last = Infinity } = query;
  const [lower, upper] = boundsOf(log, { ...query, last: since === -Infinity ? last : undefined });
  const first = Math.max(lower, log.base + 1);
  const events = log.events
    .slice(first - log.base - 1, Math.max(0, upper - log.base))
    .map((event, index) => ({ ...event, rev: first + index }))
    .filter(({ time }) => time >= since);
  return events.slice(Math.max(0, events.length - last));
}

/** The lowest and the highest number that a query asks for. */
function boundsOf(
  { rev }: SessionLog,
  { from = 1, to = Infinity, last = Infinity }: { [Name in keyof EventQuery]: EventQuery[Name] | undefined },
): readonly [number, number] {
  const upper = Math.min(to, rev);
  return [Math.max(from, 1, upper - last + 1), upper];
}
