// The pages of a list, as the SQLite stores read them.

import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { readScope, readValues } from './read.js';
import { numberIn, textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import { PageRows } from '../shared/page-rows.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { ListQuery, Page, Place } from '../../store/contract.js';

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
  const page = new PageRows();
  for (const row of rows) {
    const key = { appName: app, userId: textIn(row, 'user'), sessionId: textIn(row, 'id') };
    const owner = { app, user: key.userId };
    page.add(
      key,
      () => ({
        created: textIn(row, 'created'),
        rev: numberIn(row, 'rev'),
        time: numberIn(row, 'time'),
        state: readValues(driver, numberIn(row, 'n'), sessionTitle(key)),
      }),
      () => readValues(driver, readScope(driver, owner).n, scopeTitle(owner)),
    );
  }
  const scope = readScope(driver, { app });
  const total = user === undefined ? scope.sessions : readScope(driver, { app, user }).sessions;
  return page.page(readValues(driver, scope.n, scopeTitle({ app })), total, lastPlace(rows));
}

/** Where a page ends, also when its last session cannot be read: the next page begins behind that. */
export function lastPlace(rows: readonly SqlRow[]): Place | undefined {
  const last = rows.findLast(({ time }) => typeof time === 'number');
  return last && { time: numberIn(last, 'time'), sessionId: textIn(last, 'id'), userId: textIn(last, 'user') };
}
