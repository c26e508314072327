// Reading pages of a list from D1.

import { NOW, READ_SCOPE_VALUES, VALUE_COLUMNS } from './read.js';
import { countExpired } from '../../sqlite-core/expiry-statements.js';
import { pageOf } from '../../sqlite-core/list.js';
import { numberIn, valuesIn } from '../../sqlite-core/rows.js';
import { listSessions, placeValues, scopeColumn } from '../../sqlite-core/statements.js';
import { toColumn } from '../../shared/column-text.js';
import type { D1Query } from './client.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { ListQuery, Page } from '../../../store/contract.js';

/** The kinds of rows in the first answer of {@link listQueries}. */
const ROWS = { session: 0, sessionValue: 1, userValue: 2 } as const;

/**
 * The statements that read a page of a list. All that depends on the time is read by one of them: a session that
 * expires meanwhile is in all parts of the page, or in none.
 */
export function listQueries(list: ListQuery): D1Query[] {
  const { app, user, after, offset = 0, limit = -1 } = list;
  const values = [
    toColumn(app),
    ...(user === undefined ? [] : [toColumn(user)]),
    ...(after === undefined ? [] : placeValues(list.descending, after)),
    limit,
    offset,
  ];
  // The parameters of the page have no numbers, and come first.
  const appName = `?${values.length + 1}`;
  const names = [app, ...(user === undefined ? [] : [user])].map(toColumn);
  return [
    {
      sql: `WITH page AS MATERIALIZED (${listSessions(list, NOW)}),
        one AS MATERIALIZED (SELECT DISTINCT user FROM page)
        SELECT ${ROWS.session} AS kind, n, user, id, created, rev, time, expires,
            NULL AS name, NULL AS value, NULL AS born, NULL AS nth FROM page
        UNION ALL
        SELECT ${ROWS.sessionValue}, page.n, NULL, NULL, NULL, NULL, NULL, NULL, ${VALUE_COLUMNS}
          FROM page CROSS JOIN statepad_values AS v ON v.owner = page.n
        UNION ALL
        SELECT ${ROWS.userValue}, NULL, one.user, NULL, NULL, NULL, NULL, NULL, ${VALUE_COLUMNS} FROM one
          CROSS JOIN statepad_scopes AS x ON x.scope = json_array(${textOf(appName)}, ${textOf('one.user')})
          CROSS JOIN statepad_values AS v ON v.owner = x.n`,
      values: [...values, toColumn(app)],
    },
    { sql: READ_SCOPE_VALUES, values: [scopeColumn(app, undefined)] },
    {
      sql: `SELECT sessions - (${countExpired(user, NOW)}) AS sessions FROM statepad_scopes WHERE scope = ?`,
      values: [...names, scopeColumn(app, user)],
    },
  ];
}

/** The text in a column, as `fromColumn` has it. SQLite writes its JSON as `JSON.stringify` does. */
function textOf(column: string): string {
  return `replace(replace(${column}, char(1, 1), char(0)), char(1, 2), char(1))`;
}

/** Reads the answers of {@link listQueries}. */
export function pageFrom({ app }: ListQuery, answers: readonly (readonly SqlRow[])[]): Page {
  const [rows = [], appValues = [], [total] = []] = answers;
  const of = (kind: number): SqlRow[] => rows.filter((row) => row['kind'] === kind);
  const [bySession, byUser] = [grouped(of(ROWS.sessionValue), 'n'), grouped(of(ROWS.userValue), 'user')];
  return pageOf(app, of(ROWS.session), total === undefined ? 0 : numberIn(total, 'sessions'), {
    session: (row, whose) => valuesIn(bySession.get(row['n']) ?? [], whose),
    user: (row, whose) => valuesIn(byUser.get(row['user']) ?? [], whose),
    app: (whose) => valuesIn(appValues, whose),
  });
}

function grouped(rows: readonly SqlRow[], column: string): Map<unknown, SqlRow[]> {
  const groups = new Map<unknown, SqlRow[]>();
  for (const row of rows) {
    const group = groups.get(row[column]);
    if (group === undefined) {
      groups.set(row[column], [row]);
    } else {
      group.push(row);
    }
  }
  return groups;
}
