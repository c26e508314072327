// The names of keys in Redis: what they hold is said in `scripts/script.ts`.

import { fromColumn, toColumn } from '../shared/column-text.js';
import type { ScopeName } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/**
 * The prefix of all keys of an app. The braces make them lie in one slot of a cluster; nothing between them can be
 * mistaken for them, and it is never empty, as it would not count then.
 */
export function baseOf(prefix: string, app: string): string {
  return `${prefix}:{${app === '' ? '%' : encodeURIComponent(app)}}:`;
}

/** The key that every script gets first, as it looks at it before anything else: the version of the app. */
export function appVersionKey(base: string): string {
  return `${base}a`;
}

/**
 * The keys of an app: its values, their latest moves, the list of its sessions, its updates, refused calls, removed
 * sessions, the notes beside these three, the sessions by their ids, the users, the sessions that expire, and the
 * users who have values and no session.
 */
export function appKeys(
  base: string,
): [
  ...[values: string, moves: string, sessions: string, updates: string, refused: string, removed: string],
  ...[notes: string, ids: string, users: string, expiring: string, idle: string],
] {
  const names = ['app', 'moves', 'sessions', 'updates', 'refused', 'removed', 'notes', 'ids', 'users'] as const;
  return [...names, 'expiring', 'idle'].map((name) => `${base}${name}`) as ReturnType<typeof appKeys>;
}

/** The keys of a user: the values, their latest moves, the list of sessions, those of them that expire. */
export function userKeys(
  base: string,
  user: string,
): [values: string, moves: string, sessions: string, expiring: string] {
  return [`${base}u:${user}`, `${base}m:${user}`, `${base}l:${user}`, `${base}x:${user}`];
}

/** The key of the log of an app, or of a user in it. */
export function logKey(base: string, user?: string): string {
  return user === undefined ? `${base}changes` : `${base}c:${user}`;
}

/** The keys of the values of a scope, of their latest moves and of the log. */
export function scopeKeys(base: string, { user }: ScopeName): [values: string, moves: string, log: string] {
  const [values, moves] = user === undefined ? appKeys(base) : userKeys(base, user);
  return [values, moves, logKey(base, user)];
}

/** The keys of a session: its values, its events, their times, their ids. */
export function sessionKeys(
  base: string,
  member: string,
): [values: string, events: string, times: string, ids: string] {
  return [`${base}s:${member}`, `${base}e:${member}`, `${base}t:${member}`, `${base}i:${member}`];
}

/**
 * A session as a member of a list: its bytes are in the order of session id and user. The sign before them keeps a
 * byte order mark, which the client of Upstash takes away from the beginning of a text.
 */
export function memberOf({ sessionId, userId }: Pick<SessionKey, 'sessionId' | 'userId'>): string {
  return `=${toColumn(sessionId)}\0${userId}`;
}

/** Reads a member that {@link memberOf} has written. */
export function sessionOf(member: string): Pick<SessionKey, 'sessionId' | 'userId'> {
  const end = member.indexOf('\0');
  return { userId: member.slice(end + 1), sessionId: fromColumn(member.slice(1, end)) };
}

/** The key of the names of all apps, which lies in some other slot of a cluster than the apps. */
export function appsKey(prefix: string): string {
  return `${prefix}:apps`;
}

/** The key of the claim of a name, which lies in some slot of a cluster. */
export function claimKey(prefix: string, name: string): string {
  return `${prefix}:claim:${name}`;
}

/** The key of the version of the data. */
export function versionKey(prefix: string): string {
  return `${prefix}:version`;
}

/** The channel on which stores announce their changes to each other. */
export function channelOf(prefix: string): string {
  return `${prefix}:hints`;
}
