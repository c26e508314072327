// The pages of a list, as the SQLite stores read them.

import { isStoreError } from '../../store/store-error.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { readScope, readValues } from './read.js';
import { numberIn, textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { ListQuery, Page, Place, Row, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** See `SessionStore.list`. */
export function readPage(driver: SqlDriver, query: ListQuery): Page {
  const { app, user, after, offset = 0, limit = Infinity } = query;
  const rows = driver.all(sql.listSessions(query), [
    toColumn(app),
    ...(user === undefined ? [] : [toColumn(user)]),
    ...(after === undefined ? [] : sql.placeValues(query.descending, after)),
    Math.min(limit, Number.MAX_SAFE_INTEGER),
    offset,
  ]);
  const [users, readable, corrupt] = [new Map<string, Values>(), [] as Row[], [] as SessionKey[]];
  for (const row of rows) {
    const key = { appName: app, userId: textIn(row, 'user'), sessionId: textIn(row, 'id') };
    try {
      const n = numberIn(row, 'n');
      const session = { created: textIn(row, 'created'), rev: numberIn(row, 'rev'), time: numberIn(row, 'time') };
      const state = readValues(driver, n, sessionTitle(key));
      if (!users.has(key.userId)) {
        const owner = { app, user: key.userId };
        users.set(key.userId, readValues(driver, readScope(driver, owner).n, scopeTitle(owner)));
      }
      readable.push({ key, ...session, state });
    } catch (error) {
      if (!isStoreError(error)) {
        throw error;
      }
      corrupt.push(key);
    }
  }
  const scope = readScope(driver, { app });
  return {
    rows: readable,
    app: readValues(driver, scope.n, scopeTitle({ app })),
    users,
    total: user === undefined ? scope.sessions : readScope(driver, { app, user }).sessions,
    ...(corrupt.length > 0 && { corrupt, ...lastPlace(rows) }),
  };
}

/** Where a page ends, also when its last session cannot be read: the next page begins behind that. */
export function lastPlace(rows: readonly SqlRow[]): { readonly next?: Place } {
  const last = rows.findLast(({ time }) => typeof time === 'number');
  return last === undefined ? {} : { next: { time: numberIn(last, 'time'), sessionId: textIn(last, 'id'), userId: textIn(last, 'user') } };
}
