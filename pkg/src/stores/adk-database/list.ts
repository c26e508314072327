// The listing of sessions: one statement, so that all of it is of one moment.

import { microseconds, type Tables } from './sql.js';
import { fromColumnTime, nearestColumnTime } from './times.js';
import { readRow, valuesIn, type Integers, type Read } from './numbers.js';
import { countOf, timeOf } from './read.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { PageRows } from '../shared/page-rows.js';
import { valuesOf } from '../shared/values.js';
import type { SqlValue, Statement } from '../postgres/client.js';
import type { ListQuery, Page } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** The largest number of rows. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * The statement that lists sessions: a row with the total and the state of the app (n is 0), one for each user (-1)
 * and one for each session (its place).
 */
export function listStatement(tables: Tables, query: ListQuery): Statement {
  const { app, user, descending, limit = Infinity, offset = 0, after } = query;
  const values: SqlValue[] = [app];
  const put = (value: SqlValue, type: string): string => `$${values.push(value)}::${type}`;
  const count = (number: number): string => put(String(Math.min(Math.max(0, Math.ceil(number)), MOST)), 'bigint');

  const isOwned = `session.app_name = $1${user === undefined ? '' : ` and session.user_id = ${put(user, 'text')}`}`;
  const order = `order by session.time ${descending ? 'desc' : 'asc'}, session.id collate "C", session.user_id collate "C"`;
  let isBehind = 'true';
  if (after !== undefined) {
    const time = put(String(nearestColumnTime(after.time)), 'bigint');
    const place = `(${put(after.sessionId, 'text')} collate "C", ${put(after.userId, 'text')} collate "C")`;
    const ties = `session.time = ${time} and (session.id collate "C", session.user_id collate "C") > ${place}`;
    isBehind = `(session.time ${descending ? '<' : '>'} ${time} or (${ties}))`;
  }
  const rows = [limit === Infinity ? '' : `limit ${count(limit)}`, offset > 0 ? `offset ${count(offset)}` : ''];
  const text = `with page as materialized (
  select session.*, row_number() over (${order}) as n from (
    select session.* from (
      select session.*, ${timeOf(tables, 'session')} as time from ${tables.sessions} session where ${isOwned}) session
    where ${isBehind} ${order} ${rows.join(' ')}) session)
select 0::bigint as n, json_build_array((select count(*) from ${tables.sessions} session where ${isOwned}),
  (select scope.state from ${tables.app} scope where scope.app_name = $1))::text as data
union all
select -1, json_build_array(scope.user_id, scope.state)::text from ${tables.user} scope
where scope.app_name = $1 and scope.user_id in (select page.user_id from page)
union all
select page.n, json_build_array(page.user_id, page.id, ${microseconds('page.create_time')},
  ${countOf(tables, 'page')}, page.time::text, page.state)::text
from page`;
  return { text, values };
}

/** A session, as {@link listStatement} answers it. */
type SessionRow = readonly [user: string, id: string, created: string, events: number, time: string, state: Json];

/** The page that {@link listStatement} has read. */
export function pageOf(rows: readonly unknown[], { app }: ListQuery, integers: Integers): Page {
  let ofApp: Read<readonly [total: number, state: Json]> = { row: [0, {}], mayLack: false };
  const states = new Map<string, Read<readonly [user: string, state: Json]>>();
  const sessions: (Read<SessionRow> & { readonly n: number })[] = [];
  for (const { n, data } of rows as readonly { n: string | number; data: string }[]) {
    const place = Number(n);
    if (place > 0) {
      sessions.push({ n: place, ...readRow<SessionRow>(data, integers) });
    } else if (place === 0) {
      ofApp = readRow(data, integers);
    } else {
      const ofUser = readRow<readonly [string, Json]>(data, integers);
      states.set(ofUser.row[0], ofUser);
    }
  }
  const page = new PageRows();
  sessions.sort((one, other) => one.n - other.n);
  for (const {
    row: [userId, sessionId, created, events, time, values],
    mayLack,
  } of sessions) {
    const key = { appName: app, userId, sessionId };
    page.add(
      key,
      () => ({
        created,
        rev: events,
        time: fromColumnTime(time),
        state: valuesIn(values, sessionTitle(key), mayLack),
      }),
      () => {
        const ofUser = states.get(userId);
        return valuesIn(ofUser?.row[1] ?? {}, scopeTitle({ app, user: userId }), ofUser?.mayLack ?? false);
      },
    );
  }
  const end = sessions.at(-1)?.row;
  const place = end && { time: fromColumnTime(end[4]), sessionId: end[1], userId: end[0] };
  const [total, state] = ofApp.row;
  const values = state === null ? valuesOf([]) : valuesIn(state, scopeTitle({ app }), ofApp.mayLack);
  return page.page(values, total, place);
}

/** The page of an app or a user that cannot be in the tables. */
export const EMPTY_PAGE: Page = { rows: [], app: valuesOf([]), users: new Map(), total: 0 };
