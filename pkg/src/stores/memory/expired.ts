// The sessions and users in memory that a sweep removes.

import type { App } from './app.js';
import type { Hint, SweepQuery, Swept } from '../../store/contract.js';

/** A session that has expired, or a user without sessions whose values are older than a sweep lets them be. */
export interface Expired {
  readonly key: Hint;
  /** The creation of the session. */
  readonly created?: string;
}

/** The outcome of a sweep that has removed these, or counted them. */
export function sweptOf(removed: readonly Expired[], { limit }: SweepQuery): Swept {
  const sessions = removed.filter(({ created }) => created !== undefined).length;
  return { sessions, users: removed.length - sessions, more: removed.length >= limit };
}

type NamedApp = readonly [name: string, app: App];

/** The finds of a sweep of these apps: sessions first, and of either kind those of longest ago before the others. */
export function findExpired(apps: readonly NamedApp[], { limit, userTtl }: SweepQuery, now: number): Expired[] {
  const sessions = apps
    .flatMap(([, { expiring }]) => expiring.first(limit, now))
    .sort((a, b) => (a.expires ?? 0) - (b.expires ?? 0))
    .slice(0, limit)
    .map(({ key, created }) => ({ key, created }));
  return userTtl === undefined
    ? sessions
    : [...sessions, ...idleUsers(apps, now, now - userTtl, limit - sessions.length)];
}

/** At most so many users without sessions whose values were last changed by a time, those of longest ago first. */
function idleUsers(apps: readonly NamedApp[], now: number, until: number, limit: number): Expired[] {
  const idle = apps.flatMap(([appName, app]) =>
    firstOf(app.idleUsers(now, until), limit).map(([userId, { changed }]) => ({ key: { appName, userId }, changed })),
  );
  return idle
    .sort((a, b) => a.changed - b.changed)
    .slice(0, limit)
    .map(({ key }) => ({ key }));
}

function firstOf<Item>(items: Iterable<Item>, limit: number): Item[] {
  const first: Item[] = [];
  for (const item of items) {
    if (first.length >= limit) {
      break;
    }
    first.push(item);
  }
  return first;
}
