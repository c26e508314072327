// The pages of a list, as the SQLite stores read them.

import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { readScope, readValues } from './read.js';
import { countExpired } from './expiry-statements.js';
import { numberIn, numberOf, textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import { PageRows } from '../shared/page-rows.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { ListQuery, Page, Place, Values } from '../../store/contract.js';

/** See `SessionStore.list`. */
export function readPage(driver: SqlDriver, query: ListQuery): Page {
  const { app, user, after, offset = 0, limit = Infinity } = query;
  const now = Date.now();
  const rows = driver.all(sql.listSessions(query), [
    toColumn(app),
    ...(user === undefined ? [] : [toColumn(user)]),
    now,
    ...(after === undefined ? [] : sql.placeValues(query.descending, after)),
    Math.min(limit, Number.MAX_SAFE_INTEGER),
    offset,
  ]);
  const scope = readScope(driver, { app });
  const stored = user === undefined ? scope.sessions : readScope(driver, { app, user }).sessions;
  const names = [app, ...(user === undefined ? [] : [user])].map(toColumn);
  const [{ expired } = {}] = driver.all(countExpired(user), [...names, now]);
  return pageOf(app, rows, stored - numberOf(expired, 'expired'), {
    session: (row, whose) => readValues(driver, numberIn(row, 'n'), whose),
    user: (row, whose) => readValues(driver, readScope(driver, { app, user: textIn(row, 'user') }).n, whose),
    app: (whose) => readValues(driver, scope.n, whose),
  });
}

/** The readers of a page's values. `whose` is a title, for messages; each may throw `corrupt`. */
export interface PageValues {
  /** Those of the session of a row. */
  session(row: SqlRow, whose: string): Values;
  /** Those of the user of a row. */
  user(row: SqlRow, whose: string): Values;
  app(whose: string): Values;
}

/** The page of an app that rows of sessions make; `total` is how many there are in all. */
export function pageOf(app: string, rows: readonly SqlRow[], total: number, values: PageValues): Page {
  const page = new PageRows();
  for (const row of rows) {
    const key = { appName: app, userId: textIn(row, 'user'), sessionId: textIn(row, 'id') };
    page.add(
      key,
      () => ({
        created: textIn(row, 'created'),
        rev: numberIn(row, 'rev'),
        time: numberIn(row, 'time'),
        ...(row['expires'] !== null && { expires: numberIn(row, 'expires') }),
        state: values.session(row, sessionTitle(key)),
      }),
      () => values.user(row, scopeTitle({ app, user: key.userId })),
    );
  }
  return page.page(values.app(scopeTitle({ app })), total, lastPlace(rows));
}

/** The end of a page, also when its last session cannot be read: the next page begins behind that. */
function lastPlace(rows: readonly SqlRow[]): Place | undefined {
  const last = rows.findLast(({ time }) => typeof time === 'number');
  return last && { time: numberIn(last, 'time'), sessionId: textIn(last, 'id'), userId: textIn(last, 'user') };
}
