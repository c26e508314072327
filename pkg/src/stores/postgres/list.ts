// The listing of sessions: one statement, so that all of it is of one moment.

import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { valuesIn, type Entries } from './answers.js';
import { CLOCK, entries, NOT_EXPIRED } from './entries.js';
import type { SqlValue, Statement } from './client.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import { PageRows } from '../shared/page-rows.js';
import type { ListQuery, Page, Place } from '../../store/contract.js';

/** The largest number of rows. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * The statement that lists sessions: a row with the total and the values of the app (n is 0), one for each user (-1)
 * and one for each session (its place).
 */
export function listStatement(schema: string, query: ListQuery): Statement {
  const { app, user } = query;
  const isOfUser = user !== undefined;
  const values: SqlValue[] = [toColumn(app)];
  const owners = [`app as (select app.no from ${schema}.scopes app where app.parent = 0 and app.name = $1)`];
  if (isOfUser) {
    const name = `$${values.push(toColumn(user))}`;
    owners.push(
      `usr as (select usr.no from app join ${schema}.scopes usr on usr.parent = app.no and usr.name = ${name})`,
    );
  }
  const owner = `(select no from ${isOfUser ? 'usr' : 'app'})`;
  // Each question has its own index, see the schema.
  const source = `${schema}.sessions session
    where ${isOfUser ? `-session.usr = -${owner}` : `session.app = ${owner}`} and ${NOT_EXPIRED}`;
  // Those of a user are looked for among those of the app, few where sweeps are made: no index of users fits.
  const ofUser = isOfUser ? `and ~session.usr = ~${owner}` : '';
  const expired = `~session.app = ~(select no from app) and session.expires <= ${CLOCK} ${ofUser}`;
  const text = `with ${owners.join(', ')},
page as (select page.*, row_number() over () as n from (${pageQuery(source, query, values)}) page)
select 0 as n, json_build_array(
  (select coalesce(sum(counts.sessions), 0) from ${schema}.counts counts where counts.scope = ${owner})
    - (select count(*) from ${schema}.sessions session where ${expired}),
  ${entries(schema, '(select no from app)')})::text as data
union all
select -1, json_build_array(usr.user_id, ${entries(schema, 'usr.no')})::text
from (select distinct page.usr as no, page.user_id from page) usr
union all
select page.n::integer,
  json_build_array(page.user_id, page.id, page.created, page.rev, page.time, page.expires, ${entries(schema, 'page.no')})::text
from page`;
  return { text, values };
}

/** The query for one page of the sessions in `source`, in their order. */
function pageQuery(
  source: string,
  { descending, limit = Infinity, offset = 0, after }: ListQuery,
  values: SqlValue[],
): string {
  const [direction, beyond, infinity] = descending ? ['desc', '<', '-infinity'] : ['asc', '>', 'infinity'];
  const order = `order by session.time ${direction}, session.id, session.user_id`;
  const count = (number: number): string => `$${values.push(Math.min(Math.max(0, Math.ceil(number)), MOST))}::bigint`;
  const rows = [limit === Infinity ? '' : `limit ${count(limit)}`, offset > 0 ? `offset ${count(offset)}` : ''].join(
    ' ',
  );
  const last = limit === Infinity ? undefined : count(offset + limit - 1);

  // The index is ordered by time alone. So the last time of the page is read first, and all sessions until then are
  // sorted.
  const stretch = (condition: string): string => {
    const times = `select session.time from ${source} ${condition} order by session.time ${direction}`;
    const edge = `${times} limit 1 offset ${last ?? ''}`;
    const until =
      last === undefined ? '' : `and session.time ${beyond === '<' ? '>=' : '<='} coalesce((${edge}), '${infinity}')`;
    return `select session.* from ${source} ${condition} ${until} ${order} ${rows}`;
  };
  if (after === undefined) {
    return stretch('');
  }
  const time = `$${values.push(after.time)}::float8`;
  const place = `($${values.push(toColumn(after.sessionId))}, $${values.push(toColumn(after.userId))})`;
  const ties = `and session.time = ${time} and (session.id, session.user_id) > ${place}`;
  return `select session.* from (
    (select session.* from ${source} ${ties} ${order} ${rows}) union all (${stretch(`and session.time ${beyond} ${time}`)})
  ) session ${order} ${rows}`;
}

/** A session, as {@link listStatement} answers it. */
type SessionRow = readonly [
  ...[user: string, id: string, created: string, rev: number, time: number],
  expires: number | null,
  values: Entries,
];

/** The page that {@link listStatement} has read. */
export function pageOf(rows: readonly unknown[], { app }: ListQuery): Page {
  let total = 0;
  let state: Entries = [];
  const states = new Map<string, Entries>();
  const sessions: { readonly n: number; readonly row: SessionRow }[] = [];
  for (const { n, data } of rows as readonly { n: number | string; data: string }[]) {
    const place = Number(n);
    if (place > 0) {
      sessions.push({ n: place, row: JSON.parse(data) as SessionRow });
    } else if (place === 0) {
      [total, state] = JSON.parse(data) as [number, Entries];
    } else {
      states.set(...(JSON.parse(data) as [string, Entries]));
    }
  }
  const page = new PageRows();
  sessions.sort((a, b) => a.n - b.n);
  for (const {
    row: [user, id, created, rev, time, expires, values],
  } of sessions) {
    const key = { appName: app, userId: fromColumn(user), sessionId: fromColumn(id) };
    page.add(
      key,
      () => ({
        ...{ created: fromColumn(created), rev, time, state: valuesIn(values, sessionTitle(key)) },
        ...(expires !== null && { expires }),
      }),
      () => valuesIn(states.get(user) ?? [], scopeTitle({ app, user: key.userId })),
    );
  }
  return page.page(valuesIn(state, scopeTitle({ app })), total, placeIn(sessions.at(-1)?.row));
}

function placeIn(row: SessionRow | undefined): Place | undefined {
  if (row === undefined) {
    return undefined;
  }
  const [userId, sessionId, , , time] = row;
  return { time, sessionId: fromColumn(sessionId), userId: fromColumn(userId) };
}
