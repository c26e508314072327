// The reads of an IndexedDB database, each in one transaction: a snapshot.

import { defined } from '../../model/defined.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { readEvents } from './events.js';
import { unended } from './expiry.js';
import { scopeKey, sessionKey } from './keys.js';
import { answer, get, source } from './requests.js';
import type { ScopeRow, SessionRow } from './rows.js';
import { deltaSince, readSince } from './since.js';
import { readValues } from './values.js';
import { changedOf, loadedOf, stateOf } from '../shared/parts.js';
import type { Delta, Known, Loaded, LoadedScope, LoadQuery, ScopeName, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** See `SessionStore.load`. */
export async function readSession(
  transaction: IDBTransaction,
  key: SessionKey,
  query: LoadQuery,
): Promise<Loaded | null> {
  const [appKey, userKey] = [scopeKey(key.appName), scopeKey(key.appName, key.userId)];
  const [row, app, user] = await Promise.all([
    get(transaction, 'sessions', sessionKey(key)),
    get(transaction, 'scopes', appKey),
    get(transaction, 'scopes', userKey),
  ]);
  const session = unended(row);
  if (session === undefined) {
    return null;
  }
  const { created, rev, time, last, expires } = session;
  const { events: eventQuery = {}, known = {} } = query;
  const pos = { app: app?.pos ?? 0, user: user?.pos ?? 0 };
  const [hasDiverged, appPart, userPart, events] = await Promise.all([
    diverges(transaction, session, known),
    readPart(transaction, { app: key.appName }, app, { pos: known.pos?.app, mark: known.marks?.app }),
    readPart(transaction, { app: key.appName, user: key.userId }, user, {
      pos: known.pos?.user,
      mark: known.marks?.user,
    }),
    readEvents(transaction, session, eventQuery),
  ]);
  const isKnown = known.created === created && known.rev === rev && !hasDiverged;
  const values = isKnown ? undefined : await readValues(transaction, session.number, sessionTitle(key));
  return loadedOf({
    created,
    rev,
    time,
    pos,
    state: stateOf(values, appPart.values, userPart.values),
    last,
    marks: [app?.mark, user?.mark],
    changed: changedOf(appPart.changed, userPart.changed).changed,
    isDiverged: hasDiverged,
    expires,
    events,
  });
}

/** True when a caller's copy of a session differs from the stored one: there is less of it, or another event. */
async function diverges(
  transaction: IDBTransaction,
  { number, created, rev }: SessionRow,
  known: Known,
): Promise<boolean> {
  if (known.created !== created || known.rev === undefined) {
    return false;
  }
  if (known.rev > rev || known.rev === 0 || known.last === undefined) {
    return known.rev > rev;
  }
  const key = await answer(source(transaction, 'events', 'id').getKey([number, known.last]));
  return (key as [number, number] | undefined)?.[1] !== known.rev;
}

/** The part of a scope that a caller lacks: nothing; the changes since; or all values. */
async function readPart(
  transaction: IDBTransaction,
  name: ScopeName,
  row: ScopeRow | undefined,
  known: { readonly pos: number | undefined; readonly mark: string | undefined },
): Promise<{ readonly values?: Values; readonly changed?: Delta }> {
  const key = scopeKey(name.app, name.user);
  const [pos, mark] = [row?.pos ?? 0, row?.mark];
  if (known.pos === pos && (known.mark ?? mark) === (mark ?? known.mark)) {
    return {};
  }
  if (known.pos !== undefined && known.mark !== undefined && known.pos < pos) {
    const since = await readSince(transaction, key, known.pos, known.mark);
    if (since !== undefined) {
      return { changed: deltaSince(known.pos, since.values, since.deletions, scopeTitle(name)) };
    }
  }
  return { values: await readValues(transaction, key, scopeTitle(name)) };
}

/** See `SessionStore.loadScope`. */
export async function readScope(transaction: IDBTransaction, name: ScopeName): Promise<LoadedScope> {
  const key = scopeKey(name.app, name.user);
  const [row, state] = await Promise.all([
    get(transaction, 'scopes', key),
    readValues(transaction, key, scopeTitle(name)),
  ]);
  return defined({ pos: row?.pos ?? 0, state, mark: row?.mark });
}
