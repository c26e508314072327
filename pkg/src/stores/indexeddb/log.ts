// The log of an app or a user in an IndexedDB database: a row for each change of the scope.

import { defined } from '../../model/defined.js';
import { scopeKey } from './keys.js';
import { answer, get, getAll, put, remove, source } from './requests.js';
import type { LogRow, ScopeKey } from './rows.js';
import { scopeTitle } from '../../store/refusals.js';
import { chooseEntries, writesOf } from '../shared/log-entries.js';
import { parseValue } from '../shared/values.js';
import type { Delta, LogEntry, LogQuery, ScopeLog, ScopeName } from '../../store/contract.js';

/** The number of rows read at once, when only those with a name are requested. */
const ROWS_AT_ONCE = 256;

/** The origin of a change, which a log states besides its writes. */
export interface Origin {
  readonly time: number;
  readonly by?: LogEntry['by'] | undefined;
}

/** The row of a change, given the JSON texts of the values before it. */
export function logRow(
  scope: ScopeKey,
  pos: number,
  { time, by }: Origin,
  delta: Delta,
  before: (name: string) => string | undefined,
): LogRow {
  const writes = writesOf(delta, before).map(({ name, from, to }) => ({
    name,
    ...(from !== undefined && { from: from as string }),
    ...(to !== undefined && { to: JSON.stringify(to) }),
  }));
  return defined({ scope, pos, time, by, writes });
}

/** See `SessionStore.readLog`. Throws `corrupt`. */
export async function readLog(transaction: IDBTransaction, name: ScopeName, query: LogQuery): Promise<ScopeLog> {
  const key = scopeKey(name.app, name.user);
  const row = await get(transaction, 'scopes', key);
  const pos = row?.pos ?? 0;
  const base = row?.base ?? pos;
  const { limit = Infinity, to = pos } = query;
  const entries: LogEntry[] = [];
  let after = Math.max(query.after ?? 0, base);
  while (after < Math.min(to, pos) && entries.length < limit) {
    const count = query.name === undefined ? Math.min(limit, pos) : ROWS_AT_ONCE;
    const range = IDBKeyRange.bound([key, after], [key, Math.min(to, pos)], true);
    const rows = await getAll(transaction, 'log', range, { count });
    const read = rows.map((each) => entryOf(each, name));
    entries.push(...chooseEntries(read, { ...query, limit: limit - entries.length }));
    after = rows.length < count ? Infinity : (rows.at(-1)?.pos ?? Infinity);
  }
  return { pos, base, entries };
}

/** See `SessionStore.trimLog`. */
export async function trimLog(transaction: IDBTransaction, { app, user }: ScopeName, upTo: number): Promise<number> {
  const key = scopeKey(app, user);
  const row = await get(transaction, 'scopes', key);
  const end = Math.min(upTo, row?.pos ?? 0);
  // Those from before a time without a log go, too.
  const range = IDBKeyRange.bound([key], [key, Math.max(0, end)]);
  const count = await answer(source(transaction, 'log').count(range));
  remove(transaction, 'log', range);
  if (row?.base !== undefined && end > row.base) {
    put(transaction, 'scopes', { ...row, base: end });
  }
  return count;
}

/** An entry, with its values. Throws `corrupt`. */
function entryOf({ pos, time, by, writes }: LogRow, name: ScopeName): LogEntry {
  const title = `the log of ${scopeTitle(name)}`;
  return defined({
    pos,
    time,
    by,
    writes: writes.map(({ name, from, to }) => ({
      name,
      ...(from !== undefined && { from: parseValue(name, from, title) }),
      ...(to !== undefined && { to: parseValue(name, to, title) }),
    })),
  });
}
