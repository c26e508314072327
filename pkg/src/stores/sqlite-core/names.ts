// The users of a session's id, and the lists of apps and users, in SQLite tables.

import { textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import { pageWithin } from '../shared/name-page.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { NamePage, NameQuery } from '../../store/contract.js';

/** See `SessionStore.owners`. */
export function readOwners(driver: SqlDriver, app: string, sessionId: string): readonly string[] {
  return ownersIn(driver.all(sql.READ_OWNERS, [toColumn(app), toColumn(sessionId), Date.now()]));
}

/** See `SessionStore.listApps`. */
export function readAppNames(driver: SqlDriver, query: NameQuery): NamePage {
  return namesIn(driver.all(sql.listNames('app', query), sql.nameValues(undefined, query)), query);
}

/** See `SessionStore.listUsers`. */
export function readUserNames(driver: SqlDriver, app: string, query: NameQuery): NamePage {
  return namesIn(driver.all(sql.listNames('user', query), sql.nameValues(app, query)), query);
}

/** The owners in the rows of `statements.READ_OWNERS`. */
export function ownersIn(rows: readonly SqlRow[]): readonly string[] {
  return rows.map((row) => textIn(row, 'user'));
}

/** The page in the rows of `statements.listNames`. */
export function namesIn(rows: readonly SqlRow[], query: NameQuery): NamePage {
  return pageWithin(
    rows.map((row) => textIn(row, 'name')),
    query,
  );
}
