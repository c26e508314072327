// The removal of what has expired from an IndexedDB database, or its count.

import { defined } from '../../model/defined.js';
import { countEnded, ended } from './expiry.js';
import { fromOrdered, keyOfSession, toOrdered } from './keys.js';
import { removeRow, removeScope } from './remove.js';
import { answer, get, getAll, source } from './requests.js';
import type { ScopeKey, ScopeRow } from './rows.js';
import { hintOf } from '../shared/keys.js';
import type { Hint, ScopeName, SweepQuery, Swept } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The most sessions and users that are removed in one transaction: others wait for it. */
export const SLICE = 20;

/** Removes what has expired in a transaction, at most `limit` sessions and users. */
export async function sweepSlice(
  transaction: IDBTransaction,
  { app, userTtl }: SweepQuery,
  limit: number,
  hasLog: boolean,
): Promise<Slice> {
  const now = Date.now();
  const { index, range } = ended({ app }, now);
  const sessions = await getAll(transaction, 'sessions', range, { index, count: limit });
  for (const row of sessions) {
    // One after the other: they have scopes in common.
    await removeRow(transaction, row);
  }
  const users =
    userTtl === undefined || sessions.length === limit
      ? []
      : await readIdle(transaction, app, now - userTtl, limit - sessions.length);
  for (const name of users) {
    await removeScope(transaction, name, hasLog);
  }
  return { sessions: sessions.map(keyOfSession), users };
}

/** What a transaction has removed. */
export interface Slice {
  readonly sessions: readonly SessionKey[];
  readonly users: readonly ScopeName[];
}

/** The hints about what was removed. */
export function hintsOf({ sessions, users }: Slice): Hint[] {
  return [...sessions, ...users.map(hintOf)];
}

/** See `SweepQuery.dry`. A user without a session that has not ended counts. */
export async function countExpired(transaction: IDBTransaction, { app, userTtl, limit }: SweepQuery): Promise<Swept> {
  const now = Date.now();
  const all = await countEnded(transaction, { app }, now);
  const sessions = Math.min(all, limit);
  const idle = userTtl === undefined ? 0 : await countIdle(transaction, app, now - userTtl, now);
  const users = Math.min(idle, limit - sessions);
  return { sessions, users, more: all + idle > limit };
}

/** The users who have values, no session, and were last changed by a time. Those of long ago come first. */
async function readIdle(
  transaction: IDBTransaction,
  app: string | undefined,
  until: number,
  count: number,
): Promise<ScopeName[]> {
  const { index, range } = idleUntil(app, until);
  return (await getAll(transaction, 'scopes', range, { index, count })).map(nameOf);
}

async function countIdle(
  transaction: IDBTransaction,
  app: string | undefined,
  until: number,
  now: number,
): Promise<number> {
  const { index, range } = idleUntil(app, until);
  const idle = await answer(source(transaction, 'scopes', index).count(range));
  const endedCounts = await countEndedByUser(transaction, app, now);
  const owners = await Promise.all([...endedCounts].map(([text]) => get(transaction, 'scopes', keyIn(text))));
  const isIdle = (row: ScopeRow): boolean =>
    row.sessions === endedCounts.get(JSON.stringify(row.scope)) && row.size.keys > 0 && (row.changed ?? now) <= until;
  return idle + owners.filter((row) => row !== undefined && isIdle(row)).length;
}

/** The numbers of sessions that have ended by `now`, by the key of their user. */
async function countEndedByUser(
  transaction: IDBTransaction,
  app: string | undefined,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const { index, range } = ended({ app }, now);
  const counts = new Map<string, number>();
  for (const row of (await answer(source(transaction, 'sessions', index).getAllKeys(range))) as [string, string][]) {
    const text = JSON.stringify([row[0], row[1]].map(fromOrdered));
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

function keyIn(text: string): ScopeKey {
  return JSON.parse(text) as ScopeKey;
}

function nameOf({ scope: [app, user] }: ScopeRow): ScopeName {
  return defined({ app, user });
}

/** The index of idle users, and the range of those that were last changed by a time. */
function idleUntil(app: string | undefined, until: number): { readonly index: string; readonly range: IDBKeyRange } {
  const start = app === undefined ? [] : [toOrdered(app)];
  return {
    index: app === undefined ? 'idle' : 'appIdle',
    range: IDBKeyRange.bound([...start, -Infinity], [...start, until]),
  };
}
