// Reading pages of a list from an IndexedDB database.

import { defined } from '../../model/defined.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { reasonOf } from './errors.js';
import { countEnded, hasEnded } from './expiry.js';
import { keyOfSession, scopeKey, toOrdered } from './keys.js';
import { beginningWith, get, getAll, source } from './requests.js';
import type { SessionRow } from './rows.js';
import { TABLES } from './schema.js';
import { readValues } from './values.js';
import { usersOf } from '../shared/keys.js';
import { unlessCorrupt } from '../shared/outcome.js';
import { placeOf } from '../shared/list-order.js';
import type { ListQuery, Page, Row, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** IndexedDB takes no larger number. */
const LARGEST_COUNT = 2 ** 32 - 1;
/** The number of rows read at once where there are sessions that have ended among them. */
const CHUNK = 256;

/** See `SessionStore.list`. */
export async function readPage(transaction: IDBTransaction, query: ListQuery): Promise<Page> {
  const scope = scopeKey(query.app, query.user);
  const now = Date.now();
  const counting = countEnded(transaction, query, now);
  const [counted, endedCount, app, sessions] = await Promise.all([
    get(transaction, 'scopes', scope),
    counting,
    readValues(transaction, scopeKey(query.app), scopeTitle({ app: query.app })),
    counting.then((count) => readSessions(transaction, query, count === 0 ? undefined : now)),
  ]);
  const keys = sessions.map(keyOfSession);
  const names = usersOf(keys);
  const [values, users] = await Promise.all([
    Promise.all(
      sessions.map(({ number }, index) =>
        unlessCorrupt(readValues(transaction, number, sessionTitle(keys[index] as SessionKey))),
      ),
    ),
    Promise.all(
      names.map((name) =>
        unlessCorrupt(readValues(transaction, scopeKey(query.app, name), scopeTitle({ app: query.app, user: name }))),
      ),
    ),
  ]);
  const userValues = new Map(names.map((name, index) => [name, users[index]]));
  const valuesByUser = new Map<string, Values>();
  const rows: Row[] = [];
  const corrupt: SessionKey[] = [];
  sessions.forEach(({ created, rev, time, expires }, index) => {
    const [key, state] = [keys[index] as SessionKey, values[index]];
    const user = userValues.get(key.userId);
    if (state === undefined || user === undefined) {
      corrupt.push(key);
    } else {
      rows.push({ key, created, rev, time, state, ...defined({ expires }) });
      valuesByUser.set(key.userId, user);
    }
  });
  const page = { rows, app, users: valuesByUser, total: (counted?.sessions ?? 0) - endedCount };
  return corrupt.length === 0 ? page : { ...page, corrupt, ...placeAfter(sessions) };
}

/** The end of a page of these sessions. */
function placeAfter(sessions: readonly SessionRow[]): Pick<Page, 'next'> {
  const last = sessions.at(-1);
  return last === undefined ? {} : { next: placeOf({ time: last.time, key: keyOfSession(last) }) };
}

/**
 * The sessions of a page, by an index that has their order. `now`: the time by which some have ended, which are left
 * out; `undefined` where none has.
 */
async function readSessions(
  transaction: IDBTransaction,
  query: ListQuery,
  now: number | undefined,
): Promise<SessionRow[]> {
  const { after, descending, limit = Infinity, offset = 0 } = query;
  const [app, user] = [toOrdered(query.app), query.user === undefined ? undefined : toOrdered(query.user)];
  const index = `${user === undefined ? 'app' : 'user'}${descending ? 'Back' : ''}`;
  const start = user === undefined ? [app] : [app, user];
  let range = beginningWith(start);
  if (after !== undefined) {
    const [id, afterUser] = [toOrdered(after.sessionId), toOrdered(after.userId)];
    const time = descending ? 0 - after.time : after.time + 0;
    const isBehind = user === undefined || user <= afterUser;
    range = beginningWith(start, user === undefined ? [time, id, afterUser] : [time, id], isBehind);
  }
  if (now !== undefined) {
    const skip = after === undefined ? offset : 0;
    return (await readUnended(transaction, index, range, { count: skip + limit, now })).slice(skip);
  }
  if (after === undefined && offset > 0) {
    const first = await keyAt(source(transaction, 'sessions', index), range, offset);
    if (first === undefined) {
      return [];
    }
    range = IDBKeyRange.bound(first, range.upper);
  }
  return limit > 0 ? getAll(transaction, 'sessions', range, { index, count: Math.min(limit, LARGEST_COUNT) }) : [];
}

/** The first sessions of a range that have not ended, `count` at most. */
async function readUnended(
  transaction: IDBTransaction,
  index: string,
  range: IDBKeyRange,
  { count, now }: { readonly count: number; readonly now: number },
): Promise<SessionRow[]> {
  const found: SessionRow[] = [];
  for (let rest = range; found.length < count;) {
    const rows = await getAll(transaction, 'sessions', rest, { index, count: CHUNK });
    found.push(...rows.filter((row) => !hasEnded(row, now)));
    const last = rows.at(-1);
    if (last === undefined || rows.length < CHUNK) {
      break;
    }
    rest = IDBKeyRange.bound(indexKey(last, index), range.upper, true, range.upperOpen);
  }
  return found.slice(0, count);
}

/** The key under which an index of sessions has a row. */
function indexKey(row: SessionRow, index: string): IDBValidKey {
  const members = TABLES.sessions.indexes?.[index] ?? [];
  return members.map((member) => row[member as keyof SessionRow] as IDBValidKey);
}

/** The key behind the first `offset` ones. */
function keyAt(keys: IDBObjectStore | IDBIndex, range: IDBKeyRange, offset: number): Promise<IDBValidKey | undefined> {
  let hasMoved = false;
  return new Promise((resolve, reject) => {
    const request = keys.openKeyCursor(range);
    request.onsuccess = () => {
      const cursor = request.result;
      if (cursor === null || hasMoved) {
        resolve(cursor?.key);
      } else {
        hasMoved = true;
        cursor.advance(Math.min(offset, LARGEST_COUNT));
      }
    };
    request.onerror = () => reject(reasonOf(request));
  });
}
