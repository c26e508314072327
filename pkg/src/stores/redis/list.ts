// The arguments and the answers of the script that lists sessions.

import { scopeTitle, sessionTitle, unreadable } from '../../store/refusals.js';
import { isStoreError, type StoreError } from '../../store/store-error.js';
import { outcomeOf } from '../shared/outcome.js';
import { PageRows } from '../shared/page-rows.js';
import { textOf } from './client.js';
import { hashOf, type Hash, type List } from './hashes.js';
import { memberOf, sessionOf } from './keys.js';
import type { ListQuery, Page, Row } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The arguments of the script that lists. */
export function listArgs({ descending, offset = 0, limit = Infinity, after }: ListQuery): string[] {
  const place = after === undefined ? [] : [String(after.time), memberOf(after)];
  return [descending ? 'descending' : '', String(offset), String(Math.min(limit, Number.MAX_SAFE_INTEGER)), ...place];
}

/** Reads what it answers. Sessions that cannot be read are set aside. */
export function decodePage({ app: appName }: ListQuery, reply: unknown): Page {
  const [, total, appHash, members, hashes, userHashes, time, now] = reply as [
    unknown,
    unknown,
    List,
    List,
    List,
    List,
    unknown,
    unknown,
  ];
  const app = hashOf(appHash, `the state of ${scopeTitle({ app: appName })}`);
  const page = new PageRows();
  /** In the order in which they come up, as the script has read them. */
  const users = new Map<string, () => Hash>();
  for (const [index, member] of members.entries()) {
    const key: SessionKey = { appName, ...sessionOf(textOf(member)) };
    const { userId } = key;
    const readUser =
      users.get(userId) ??
      userReader(userHashes[users.size] as List | null, scopeTitle({ app: appName, user: userId }));
    users.set(userId, readUser);
    page.add(
      key,
      () => rowOf(key, hashes[index] as List | null, app, readUser(), Number(textOf(now))),
      () => readUser().values,
    );
  }
  const last = members.at(-1);
  const end = last === undefined ? undefined : { time: Number(time), ...sessionOf(textOf(last)) };
  return page.page(app.values, Number(total), end);
}

/** Reads the values of a user, once. Its answer or error is the same each time. */
function userReader(reply: List | null, whose: string): () => Hash {
  let hash: Hash | StoreError | undefined;
  return () => {
    hash ??= outcomeOf(() => hashOf(reply, whose));
    if (isStoreError(hash)) {
      throw hash;
    }
    return hash;
  };
}

/**
 * A session that has seen a scope further on than it is says that the scope was dropped. One that has expired and was
 * not left out is missing among those that expire.
 */
function rowOf(key: SessionKey, hash: List | null, app: Hash, user: Hash, now: number): Omit<Row, 'key'> {
  const { values, rest } = hashOf(hash, sessionTitle(key));
  const [created, rev, time] = [rest.get('c'), Number(rest.get('r') ?? NaN), Number(rest.get('t') ?? NaN)];
  const isDropped = Number(rest.get('a') ?? 0) > positionOf(app) || Number(rest.get('u') ?? 0) > positionOf(user);
  const expires = rest.has('e') ? Number(rest.get('e')) : Infinity;
  if (created === undefined || [rev, time, expires].includes(NaN) || isDropped || expires <= now) {
    throw unreadable(sessionTitle(key));
  }
  return { created: created.slice(1), rev, time, ...(rest.has('e') ? { expires } : {}), state: values };
}

function positionOf({ rest }: Hash): number {
  return Number(rest.get('p') ?? 0);
}
