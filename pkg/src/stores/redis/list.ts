// What the script that lists sessions gets and answers.

import { scopeTitle, sessionTitle, unreadable } from '../../store/refusals.js';
import { textOf } from './client.js';
import { hashOf, type Hash, type List } from './hashes.js';
import { memberOf, sessionOf } from './keys.js';
import type { ListQuery, Page, Row, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** What the script that lists gets. */
export function listArgs({ descending, offset = 0, limit = Infinity, after }: ListQuery): string[] {
  const place = after === undefined ? [] : [String(after.time), memberOf(after)];
  return [descending ? 'descending' : '', String(offset), String(Math.min(limit, Number.MAX_SAFE_INTEGER)), ...place];
}

/** Reads what it answers. Sessions that cannot be read are set aside. */
export function decodePage({ app: appName }: ListQuery, reply: unknown): Page {
  const [, total, appHash, members, hashes, userHashes, time] = reply as [unknown, unknown, List, List, List, List, unknown];
  const app = hashOf(appHash, `the state of ${scopeTitle({ app: appName })}`);
  const rows: Row[] = [];
  const users = new Map<string, Values>();
  const corrupt: SessionKey[] = [];
  const found = new Map<string, Hash | undefined>();
  for (const [index, member] of members.entries()) {
    const key: SessionKey = { appName, ...sessionOf(textOf(member)) };
    const { userId } = key;
    if (!found.has(userId)) {
      // In the order in which they come up, as the script has read them.
      found.set(userId, readable(() => hashOf(userHashes[found.size] as List | null, scopeTitle({ app: appName, user: userId }))));
    }
    const user = found.get(userId);
    const row = user && readable(() => rowOf(key, hashes[index] as List | null, app, user));
    if (row === undefined) {
      corrupt.push(key);
    } else {
      rows.push(row);
      users.set(userId, user?.values as Values);
    }
  }
  const page = { rows, app: app.values, users, total: Number(total) };
  if (corrupt.length === 0) {
    return page;
  }
  return { ...page, corrupt, next: { time: Number(time), ...sessionOf(textOf(members.at(-1))) } };
}

/** A session that has seen a scope further on than it is says that the scope was dropped. */
function rowOf(key: SessionKey, hash: List | null, app: Hash, user: Hash): Row {
  const { values, rest } = hashOf(hash, sessionTitle(key));
  const [created, rev, time] = [rest.get('c'), Number(rest.get('r') ?? NaN), Number(rest.get('t') ?? NaN)];
  const isDropped = Number(rest.get('a') ?? 0) > positionOf(app) || Number(rest.get('u') ?? 0) > positionOf(user);
  if (created === undefined || Number.isNaN(rev) || Number.isNaN(time) || isDropped) {
    throw unreadable(sessionTitle(key));
  }
  return { key, created: created.slice(1), rev, time, state: values };
}

function positionOf({ rest }: Hash): number {
  return Number(rest.get('p') ?? 0);
}

function readable<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
