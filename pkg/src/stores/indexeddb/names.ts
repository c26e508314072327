// The users of a session's id, and the lists of apps and users, in an IndexedDB database.

import { unended } from './expiry.js';
import { fromOrdered, toOrdered } from './keys.js';
import { answer, beginningWith, getAll } from './requests.js';
import type { ScopeKey, ScopeRow } from './rows.js';
import { pageWithin } from '../shared/name-page.js';
import type { NamePage, NameQuery } from '../../store/contract.js';

/** The most rows of scopes that are read at once. */
const CHUNK = 1_000;

/** See `SessionStore.owners`. */
export async function readOwners(
  transaction: IDBTransaction,
  app: string,
  sessionId: string,
): Promise<readonly string[]> {
  const range = beginningWith([toOrdered(app), toOrdered(sessionId)]);
  const sessions = await getAll(transaction, 'sessions', range, { index: 'owner' });
  return sessions.filter((row) => unended(row) !== undefined).map(({ user }) => fromOrdered(user));
}

/** See `SessionStore.listApps`. */
export function readApps(transaction: IDBTransaction, query: NameQuery): Promise<NamePage> {
  return readNames(transaction, { index: 'app', start: [] }, query);
}

/** See `SessionStore.listUsers`. */
export function readUsers(transaction: IDBTransaction, app: string, query: NameQuery): Promise<NamePage> {
  return readNames(transaction, { index: 'user', start: [toOrdered(app)] }, query);
}

/** Reads a page of the names of an index of scopes, without those that have lost everything. */
async function readNames(
  transaction: IDBTransaction,
  { index, start }: { readonly index: 'app' | 'user'; readonly start: readonly string[] },
  query: NameQuery,
): Promise<NamePage> {
  const { after, limit = Infinity } = query;
  const names: string[] = [];
  let range = after === undefined ? beginningWith(start) : beginningWith(start, [toOrdered(after)], true);
  for (;;) {
    // One more than the limit shows that there are more.
    const count = Math.min(limit + 1 - names.length, CHUNK);
    const rows = await getAll(transaction, 'scopes', range, { index, count });
    const areListed = await Promise.all(rows.map((row) => isListed(transaction, row)));
    const ordered = rows.map((row) => row[index] ?? '');
    names.push(...ordered.filter((_, place) => areListed[place]).map(fromOrdered));
    const last = ordered.at(-1);
    if (last === undefined || rows.length < count || names.length > limit) {
      return pageWithin(names, query);
    }
    range = beginningWith(start, [last], true);
  }
}

/** True when a scope has a session or a value; an app also when one of its users has a value. */
async function isListed(transaction: IDBTransaction, { scope, sessions }: ScopeRow): Promise<boolean> {
  return sessions > 0 || (await answer(transaction.objectStore('values').getKey(valuesWithin(scope)))) !== undefined;
}

/** The keys of the values of a scope and, of an app, of its users. */
function valuesWithin(scope: ScopeKey): IDBKeyRange {
  return scope.length === 1 ? IDBKeyRange.bound([scope], [[...scope, []]]) : beginningWith([scope]);
}
