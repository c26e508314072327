// What is read of an IndexedDB database, each in one transaction: a snapshot.

import { isStoreError, StoreError } from '../../store/store-error.js';
import { reasonOf } from './errors.js';
import { deltaSince, readSince } from './since.js';
import {
  answer,
  beginningWith,
  get,
  getAll,
  keyOfSession,
  lastOf,
  scopeKey,
  sessionKey,
  source,
  toOrdered,
  type EventRow,
  type ScopeKey,
  type ScopeRow,
  type SessionRow,
} from './schema.js';
import { readValues } from './values.js';
import { placeOf } from '../shared/list-order.js';
import type { Delta, Known, ListQuery, Loaded, LoadedScope, LoadQuery, Page, Row, ScopeName, StoredEvent, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** How many events are read at once: few when only some are looked for, more when that was not enough. */
const FEW = 32;
const MANY = 256;
/** IndexedDB takes no larger number. */
const MOST = 2 ** 32 - 1;

/** See `SessionStore.load`. */
export async function readSession(transaction: IDBTransaction, key: SessionKey, query: LoadQuery): Promise<Loaded | null> {
  const [appKey, userKey] = [scopeKey(key.appName), scopeKey(key.appName, key.userId)];
  const [session, app, user] = await Promise.all([
    get(transaction, 'sessions', sessionKey(key)),
    get(transaction, 'scopes', appKey),
    get(transaction, 'scopes', userKey),
  ]);
  if (session === undefined) {
    return null;
  }
  const { created, rev, time } = session;
  const { events: wanted = {}, known = {} } = query;
  const pos = { app: app?.pos ?? 0, user: user?.pos ?? 0 };
  const [last, hasDiverged, appPart, userPart, events] = await Promise.all([
    lastOf(transaction, session),
    diverges(transaction, session, known),
    readPart(transaction, appKey, app, { pos: known.pos?.app, mark: known.marks?.app }),
    readPart(transaction, userKey, user, { pos: known.pos?.user, mark: known.marks?.user }),
    readEvents(transaction, session, wanted),
  ]);
  const isKnown = known.created === created && known.rev === rev && !hasDiverged;
  const values = isKnown ? undefined : await readValues(transaction, session.number);
  const marks = { ...(app?.mark !== undefined && { app: app.mark }), ...(user?.mark !== undefined && { user: user.mark }) };
  const changed = { ...(appPart.changed && { app: appPart.changed }), ...(userPart.changed && { user: userPart.changed }) };
  return {
    created,
    rev,
    time,
    pos,
    state: {
      ...(values && { session: values }),
      ...(appPart.values && { app: appPart.values }),
      ...(userPart.values && { user: userPart.values }),
    },
    ...(last !== undefined && { last }),
    marks,
    ...((appPart.changed ?? userPart.changed) && { changed }),
    ...(hasDiverged && { diverged: true }),
    events,
  };
}

/** Whether what a caller has of a session is not what is here: there is less of it, or another event. */
async function diverges(transaction: IDBTransaction, { number, created, rev }: SessionRow, known: Known): Promise<boolean> {
  if (known.created !== created || known.rev === undefined) {
    return false;
  }
  if (known.rev > rev || known.rev === 0 || known.last === undefined) {
    return known.rev > rev;
  }
  const key = await answer(source(transaction, 'events', 'id').getKey([number, known.last]));
  return (key as [number, number] | undefined)?.[1] !== known.rev;
}

/** What a caller lacks of a scope: nothing; what has happened since; or all values. */
async function readPart(
  transaction: IDBTransaction,
  key: ScopeKey,
  row: ScopeRow | undefined,
  known: { readonly pos: number | undefined; readonly mark: string | undefined },
): Promise<{ readonly values?: Values; readonly changed?: Delta }> {
  const [pos, mark] = [row?.pos ?? 0, row?.mark];
  if (known.pos === pos && (known.mark ?? mark) === (mark ?? known.mark)) {
    return {};
  }
  if (known.pos !== undefined && known.mark !== undefined && known.pos < pos) {
    const since = await readSince(transaction, key, known.pos, known.mark);
    if (since !== undefined) {
      return { changed: deltaSince(known.pos, since.values, since.gone) };
    }
  }
  return { values: await readValues(transaction, key) };
}

/** See `SessionStore.loadScope`. */
export async function readScope(transaction: IDBTransaction, { app, user }: ScopeName): Promise<LoadedScope> {
  const key = scopeKey(app, user);
  const [row, state] = await Promise.all([get(transaction, 'scopes', key), readValues(transaction, key)]);
  return { pos: row?.pos ?? 0, state, ...(row?.mark !== undefined && { mark: row.mark }) };
}

/** See `SessionStore.list`. */
export async function readPage(transaction: IDBTransaction, query: ListQuery): Promise<Page> {
  const scope = scopeKey(query.app, query.user);
  const [counted, app, sessions] = await Promise.all([
    get(transaction, 'scopes', scope),
    readValues(transaction, scopeKey(query.app)),
    readSessions(transaction, query),
  ]);
  const keys = sessions.map(keyOfSession);
  const names = [...new Set(keys.map(({ userId }) => userId))];
  const [values, users] = await Promise.all([
    Promise.all(sessions.map(({ number }) => readable(readValues(transaction, number)))),
    Promise.all(names.map((name) => readable(readValues(transaction, scopeKey(query.app, name))))),
  ]);
  const userValues = new Map(names.map((name, index) => [name, users[index]]));
  const found = new Map<string, Values>();
  const rows: Row[] = [];
  const corrupt: SessionKey[] = [];
  sessions.forEach(({ created, rev, time }, index) => {
    const [key, state] = [keys[index] as SessionKey, values[index]];
    const user = userValues.get(key.userId);
    if (state === undefined || user === undefined) {
      corrupt.push(key);
    } else {
      rows.push({ key, created, rev, time, state });
      found.set(key.userId, user);
    }
  });
  const page = { rows, app, users: found, total: counted?.sessions ?? 0 };
  return corrupt.length === 0 ? page : { ...page, corrupt, ...placeAfter(sessions) };
}

/** Where a page of these sessions ends. */
function placeAfter(sessions: readonly SessionRow[]): Pick<Page, 'next'> {
  const last = sessions.at(-1);
  return last === undefined ? {} : { next: placeOf({ time: last.time, key: keyOfSession(last) }) };
}

/** The values, or `undefined` when they cannot be read. */
async function readable(reading: Promise<Values>): Promise<Values | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (isStoreError(error) && error.code === 'corrupt') {
      return undefined;
    }
    throw error;
  }
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
  return limit > 0 ? getAll(transaction, 'sessions', range, { index, count: Math.min(limit, MOST) }) : [];
}

/** The key that so many others come before. */
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
        cursor.advance(Math.min(offset, MOST));
      }
    };
    request.onerror = () => reject(reasonOf(request));
  });
}

/** The wanted events of a session. They are read from the last one back, as the last ones are what is wanted most. */
async function readEvents(
  transaction: IDBTransaction,
  { number, rev, first: earliest }: SessionRow,
  { from = 1, to = Infinity, since = -Infinity, last = Infinity }: NonNullable<LoadQuery['events']>,
): Promise<StoredEvent[]> {
  const first = Math.max(from, earliest ?? 1);
  const found: StoredEvent[] = [];
  let end = Math.min(to, rev);
  // Without a time to look for, it is known how many will do.
  let size = since === -Infinity ? Math.min(last, MANY) : FEW;
  while (end >= first && found.length < last) {
    const start = Math.max(end - size + 1, first);
    const range = IDBKeyRange.bound([number, start], [number, end]);
    const rows = await getAll(transaction, 'events', range);
    if (rows.length !== end - start + 1) {
      throw new StoreError('corrupt', `${end - start + 1 - rows.length} events are missing`);
    }
    const isLast = addBackwards(found, rows, since, last);
    end = isLast ? -1 : start - 1;
    size = Math.min(size * 2, MANY);
  }
  return found.reverse();
}

/** Adds the wanted events, the last one first. Says whether no earlier one can be wanted. */
function addBackwards(found: StoredEvent[], rows: readonly EventRow[], since: number, last: number): boolean {
  for (let index = rows.length - 1; index >= 0 && found.length < last; index--) {
    const { rev, id, time, peak, data } = rows[index] as EventRow;
    if (peak < since) {
      return true;
    }
    if (time >= since) {
      found.push({ rev, data, ...(id !== undefined && { id }) });
    }
  }
  return false;
}
