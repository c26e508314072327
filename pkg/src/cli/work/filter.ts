// The sessions that a command takes: those that its options name.

import { timeIn } from '../output/times.js';
import { NameFilter, type SessionFilter } from '../sources/names.js';
import type { Arguments } from '../arguments.js';
import type { SessionKey } from '../../index.js';

/** The sessions that are meant. */
export interface Selection {
  readonly filter: SessionFilter;
  /** In milliseconds since the epoch. */
  readonly since: number | undefined;
}

/** The sessions that `--app`, `--user`, `--session` and `--since` mean. Throws `UsageError`. */
export function selectionOf(args: Arguments, now: number): Selection {
  const [app, user, session] = ['app', 'user', 'session'].map((name) => new NameFilter(args.texts(name))) as [
    NameFilter,
    NameFilter,
    NameFilter,
  ];
  const since = args.optional('since');
  return {
    filter: { app, user, session },
    since: since === undefined ? undefined : timeIn('--since', since, now),
  };
}

/** True for a session that a filter means; its app is not looked at. */
export function isMeant({ user, session }: SessionFilter, { userId, sessionId }: SessionKey): boolean {
  return user.matches(userId) && session.matches(sessionId);
}

/** The words for a number of things: `1 session`, `1,000 sessions`. */
export function counted(count: number, thing: string): string {
  return `${count.toLocaleString('en')} ${thing}${count === 1 ? '' : 's'}`;
}
