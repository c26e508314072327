// The orders of a list of sessions, and the search in it.

import type { Session } from '../../index.js';

/** The orders: by the time of the last change, by id, by user, or by the number of events. */
export const SORTS = ['newest', 'oldest', 'id', 'user', 'events'] as const;

/** An order of sessions. */
export type SessionSort = (typeof SORTS)[number];

const byText = new Intl.Collator('en', { numeric: true }).compare;

const COMPARE: Readonly<Record<SessionSort, (one: Session, other: Session) => number>> = {
  newest: (one, other) => other.lastUpdateTime - one.lastUpdateTime || byText(one.id, other.id),
  oldest: (one, other) => one.lastUpdateTime - other.lastUpdateTime || byText(one.id, other.id),
  id: (one, other) => byText(one.id, other.id) || byText(one.userId, other.userId),
  user: (one, other) => byText(one.userId, other.userId) || other.lastUpdateTime - one.lastUpdateTime,
  events: (one, other) => other.revision - one.revision || byText(one.id, other.id),
};

/** Sessions in an order. */
export function sortedBy(sort: SessionSort, sessions: readonly Session[]): readonly Session[] {
  return [...sessions].sort(COMPARE[sort]);
}

/** True when the id of a session or its user contains a text, ignoring case. */
export function suits({ id, userId }: Session, query: string): boolean {
  return query === '' || `${id}\n${userId}`.toLowerCase().includes(query.toLowerCase());
}
