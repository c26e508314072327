// The comparisons of a filter.

import { refusedFilter, type Comparison } from './filter.js';
import { parseTime } from './time.js';

/** The members of a session that a filter compares. */
export interface ComparedSession {
  readonly userId: string;
  readonly displayName: unknown;
  /** A map of texts, if there is one. */
  readonly labels: unknown;
}

/** The member of an event that a filter compares. */
export interface ComparedEvent {
  /** Nanoseconds since the epoch. */
  readonly time: bigint;
}

/** The fields of a session that can be compared, by both of their names. */
const TEXTS: Readonly<Record<string, (session: ComparedSession) => unknown>> = {
  user_id: ({ userId }) => userId,
  userId: ({ userId }) => userId,
  display_name: ({ displayName = '' }) => displayName,
  displayName: ({ displayName = '' }) => displayName,
};

const ORDERS: Readonly<Record<string, (a: bigint, b: bigint) => boolean>> = {
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** True when a session is one that a comparison wants. */
export function sessionTest({ path, operator, value }: Comparison): (session: ComparedSession) => boolean {
  const label = /^labels\.(.+)$/s.exec(path)?.[1];
  const read = label !== undefined ? labelOf(label) : Object.hasOwn(TEXTS, path) ? TEXTS[path] : undefined;
  if (read === undefined || (operator !== '=' && operator !== '!=')) {
    throw refusedFilter();
  }
  return (session) => (read(session) === value) === (operator === '=');
}

/** True when an event is one that a comparison wants. */
export function eventTest({ path, operator, value }: Comparison): (event: ComparedEvent) => boolean {
  const time = path === 'timestamp' ? parseTime(value) : undefined;
  const isMet = ORDERS[operator];
  if (time === undefined || isMet === undefined) {
    throw refusedFilter();
  }
  return (event) => isMet(event.time, time);
}

function labelOf(name: string): (session: ComparedSession) => unknown {
  return ({ labels }) => (labels as ReadonlyMap<string, string> | undefined)?.get(name);
}
