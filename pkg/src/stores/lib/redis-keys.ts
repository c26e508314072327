// The names of keys in Redis: what they hold is said in `redis-scripts.ts`.

import { fromColumn, toColumn } from './sql-text.js';
import type { ScopeName } from '../../store.js';
import type { SessionKey } from '../../types.js';

/**
 * What all keys of an app begin with. The braces make them lie in one slot of a cluster; nothing between them can be
 * mistaken for them, and it is never empty, as it would not count then.
 */
export function baseOf(prefix: string, app: string): string {
  return `${prefix}:{${app === '' ? '%' : encodeURIComponent(app)}}:`;
}

/** The key of the values of a scope. */
export function scopeKey(prefix: string, { app, user }: ScopeName): string {
  const base = baseOf(prefix, app);
  return user === undefined ? `${base}a` : userKeys(base, user)[0];
}

/** The keys of the values and the list of a user. */
export function userKeys(base: string, user: string): [values: string, list: string] {
  return [`${base}u:${user}`, `${base}l:${user}`];
}

/** The keys of a session: its values, its events, their times, their ids. */
export function sessionKeys(base: string, member: string): [values: string, events: string, times: string, ids: string] {
  return [`${base}s:${member}`, `${base}e:${member}`, `${base}t:${member}`, `${base}i:${member}`];
}

/**
 * How a session stands in a list: its bytes are in the order of session id and user. The sign before them keeps a byte order
 * mark, which the client of Upstash takes away from the beginning of a text.
 */
export function memberOf({ sessionId, userId }: Pick<SessionKey, 'sessionId' | 'userId'>): string {
  return `=${toColumn(sessionId)}\0${userId}`;
}

/** What {@link memberOf} has written. */
export function sessionOf(member: string): Pick<SessionKey, 'sessionId' | 'userId'> {
  const end = member.indexOf('\0');
  return { userId: member.slice(end + 1), sessionId: fromColumn(member.slice(1, end)) };
}

/** The key of the version of what is there. */
export function versionKey(prefix: string): string {
  return `${prefix}:version`;
}

/** The channel on which stores tell each other what they have changed. */
export function channelOf(prefix: string): string {
  return `${prefix}:hints`;
}
