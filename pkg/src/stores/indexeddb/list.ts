// Reading pages of a list from an IndexedDB database.

import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { reasonOf } from './errors.js';
import { keyOfSession, scopeKey, toOrdered } from './keys.js';
import { beginningWith, get, getAll, source } from './requests.js';
import type { SessionRow } from './rows.js';
import { readValues } from './values.js';
import { usersOf } from '../shared/keys.js';
import { unlessCorrupt } from '../shared/outcome.js';
import { placeOf } from '../shared/list-order.js';
import type { ListQuery, Page, Row, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** IndexedDB takes no larger number. */
const LARGEST_COUNT = 2 ** 32 - 1;

/** See `SessionStore.list`. */
export async function readPage(transaction: IDBTransaction, query: ListQuery): Promise<Page> {
  const scope = scopeKey(query.app, query.user);
  const [counted, app, sessions] = await Promise.all([
    get(transaction, 'scopes', scope),
    readValues(transaction, scopeKey(query.app), scopeTitle({ app: query.app })),
    readSessions(transaction, query),
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
  sessions.forEach(({ created, rev, time }, index) => {
    const [key, state] = [keys[index] as SessionKey, values[index]];
    const user = userValues.get(key.userId);
    if (state === undefined || user === undefined) {
      corrupt.push(key);
    } else {
      rows.push({ key, created, rev, time, state });
      valuesByUser.set(key.userId, user);
    }
  });
  const page = { rows, app, users: valuesByUser, total: counted?.sessions ?? 0 };
  return corrupt.length === 0 ? page : { ...page, corrupt, ...placeAfter(sessions) };
}

/** The end of a page of these sessions. */
function placeAfter(sessions: readonly SessionRow[]): Pick<Page, 'next'> {
  const last = sessions.at(-1);
  return last === undefined ? {} : { next: placeOf({ time: last.time, key: keyOfSession(last) }) };
}

/** The sessions of a page, by an index that has their order. */
async function readSessions(transaction: IDBTransaction, query: ListQuery): Promise<SessionRow[]> {
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
  } else if (offset > 0) {
    const first = await keyAt(source(transaction, 'sessions', index), range, offset);
    if (first === undefined) {
      return [];
    }
    range = IDBKeyRange.bound(first, range.upper);
  }
  return limit > 0 ? getAll(transaction, 'sessions', range, { index, count: Math.min(limit, LARGEST_COUNT) }) : [];
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
