// Lists sessions, and reads the values of an app or a user, which the API tells with sessions alone.

import { defined } from '../../model/defined.js';
import { StoreError } from '../../store/store-error.js';
import { scopeTitle } from '../../store/refusals.js';
import { listOrder, placeOf } from '../shared/list-order.js';
import { emptyValues } from '../shared/values.js';
import { lastPart } from './names.js';
import { createdOf, endOf, hasEnded, scopeText, stateOf, type Sessions } from './sessions.js';
import { timeOf } from './times.js';
import type { ApiSession, Resource } from './api.js';
import type { ScopedState } from './state.js';
import type { ListQuery, LoadedScope, Page, Row, ScopeName, StoreContext, Values } from '../../store/contract.js';

/** A row, and all values that its session has. */
interface ReadRow {
  readonly row: Row;
  readonly state: ScopedState;
}

/** One page, see `SessionStore.list`. All sessions are read for it: the API has another order, and counts none. */
export async function listSessions(sessions: Sessions, query: ListQuery, caller: StoreContext): Promise<Page> {
  const { app, user, offset = 0, limit = Infinity, after } = query;
  const apiSessions = await readAll(sessions, sessions.engine(app, caller), user);
  const read = apiSessions.map((session) => readRow(sessions, app, session));
  const compare = listOrder(query);
  const rows = read.map(({ row }) => row).sort((a, b) => compare(placeOf(a), placeOf(b)));
  const start = after === undefined ? offset : rows.filter((row) => compare(placeOf(row), after) <= 0).length;
  const page = rows.slice(start, start + limit);
  const states = new Map(read.map(({ row, state }) => [row, state]));
  const users = new Map<string, Values>();
  page.forEach((row) => users.set(row.key.userId, states.get(row)?.user ?? emptyValues()));
  return { rows: page, app: read[0]?.state.app ?? emptyValues(), users, total: rows.length };
}

/** All sessions of an engine, or of a user. They come and go between two pages: one that is on two counts once. */
export async function readAll({ api }: Sessions, of: Resource, user: string | undefined): Promise<ApiSession[]> {
  const byName = new Map<string, ApiSession>();
  for (let token: string | undefined; ;) {
    const { items, next } = await api.list(of, user, { token });
    for (const session of items) {
      // The sessions that a filter lets through are checked once more.
      if ((user === undefined || session.userId === user) && !hasEnded(session)) {
        byName.set(session.name, session);
      }
    }
    if (next === undefined) {
      return [...byName.values()];
    }
    token = next;
  }
}

/** The number of events is stated where they are known; nothing else states it. */
function readRow(sessions: Sessions, appName: string, session: ApiSession): ReadRow {
  const key = { appName, userId: session.userId, sessionId: lastPart(session.name) };
  const log = sessions.log(key);
  const created = createdOf(session);
  const isKnown = log?.created === created && sessions.isCurrent(log, session);
  const state = stateOf(session);
  const rev = isKnown ? log.rev : 0;
  const row = { key, created, rev, time: timeOf(session.updateTime), state: state.session, ...endOf(session) };
  return { row, state };
}

/** The values of an app, or of a user in it, as one of their sessions has them. */
export async function loadScope(
  sessions: Sessions,
  { app, user }: ScopeName,
  caller: StoreContext,
): Promise<LoadedScope> {
  const of = sessions.engine(app, caller);
  const { items } = await sessions.api.list(of, user, { size: 1 });
  const session = items.find(({ userId }) => user === undefined || userId === user);
  if (session === undefined) {
    const why = 'the API returns app and user state only with a session, and there is none';
    throw new StoreError('rejected', `the state of ${scopeTitle(defined({ app, user }))} cannot be read: ${why}`);
  }
  const { app: ofApp, user: ofUser } = stateOf(session);
  const state = user === undefined ? ofApp : ofUser;
  return { pos: sessions.positions.positionOf(scopeText(app, user), state), state };
}
