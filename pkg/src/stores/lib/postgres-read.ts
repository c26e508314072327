// How a session, a list and a scope are read: one statement each, so that all of it is of one moment.

import { StoreError } from '../../store-error.js';
import { fromColumn, toColumn } from './sql-text.js';
import { emptyValues } from './values.js';
import type { ListQuery, Loaded, LoadedScope, LoadQuery, Page, Row, ScopeName, StoredEvent, Values } from '../../store.js';
import type { Json, SessionKey } from '../../types.js';

/** A statement and its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly (string | number | null)[];
}

/** Names and their values as JSON, as they lie in the table. */
type Entries = readonly (readonly [name: string, value: string])[];

/** A session's head: all but its events. A scope whose values are known is null. */
type Head = readonly [
  created: string,
  rev: number,
  time: number,
  app: number,
  user: number,
  session: Entries | null,
  appState: Entries | null,
  userState: Entries | null,
];

/** The largest number of an `integer` column. */
const LAST_REV = 2 ** 31 - 1;

/** The values of a scope or a session, in the order of writing, as a JSON list. */
function entries(schema: string, owner: string): string {
  return `(select coalesce(json_agg(json_build_array(state.name, state.value) order by state.at, state.nth), '[]')
    from ${schema}.state state where state.owner = ${owner})`;
}

/** The statement that loads a session: a row with the {@link Head}, which has no revision, and one for each event. */
export function loadStatement(schema: string, { appName, userId, sessionId }: SessionKey, { events = {}, known = {} }: LoadQuery): Statement {
  const { from = 1, to = LAST_REV, since, last = Infinity } = events;
  const values: (string | number | null)[] = [
    toColumn(appName),
    toColumn(userId),
    toColumn(sessionId),
    known.created === undefined ? null : toColumn(known.created),
    known.rev ?? null,
    known.pos?.app ?? null,
    known.pos?.user ?? null,
    Math.min(Math.max(1, Math.ceil(from)), LAST_REV),
    Math.min(Math.max(0, Math.floor(to)), LAST_REV),
  ];
  // Each question has its own index, see the schema. What is not asked for is left out.
  const condition =
    since === undefined
      ? 'event.session = (select session.no from session)'
      : `~event.session = ~(select session.no from session) and event.time >= $${values.push(since)}::float8`;
  const limit = last === Infinity ? '' : `order by event.rev desc limit $${values.push(Math.max(0, Math.ceil(last)))}::bigint`;
  const text = `with session as (
  select session.no, session.created, session.rev, session.time, app.no as app, app.pos as app_pos, usr.no as usr, usr.pos as user_pos
  from ${schema}.scopes app
  join ${schema}.scopes usr on usr.parent = app.no and usr.name = $2
  join ${schema}.sessions session on session.usr = usr.no and session.id = $3
  where app.parent = 0 and app.name = $1)
select null::integer as rev, json_build_array(session.created, session.rev, session.time, session.app_pos, session.user_pos,
  case when session.created = $4::text and session.rev = $5::float8 then null else ${entries(schema, 'session.no')} end,
  case when session.app_pos = $6::float8 then null else ${entries(schema, 'session.app')} end,
  case when session.user_pos = $7::float8 then null else ${entries(schema, 'session.usr')} end)::text as data
from session
union all
(select event.rev, event.data from ${schema}.events event
where ${condition} and event.rev between $8::integer and $9::integer ${limit})`;
  return { text, values };
}

/** What {@link loadStatement} has found. */
export function loadedOf(rows: readonly unknown[], { appName, userId, sessionId }: SessionKey): Loaded | null {
  let head: Head | undefined;
  const events: StoredEvent[] = [];
  for (const { rev, data } of rows as readonly { rev: number | string | null; data: string }[]) {
    if (rev === null) {
      head = JSON.parse(data) as Head;
    } else {
      events.push({ rev: Number(rev), data: fromColumn(data) });
    }
  }
  if (head === undefined) {
    return null;
  }
  const [created, rev, time, app, user, session, appState, userState] = head;
  const name = `session "${sessionId}"`;
  return {
    created: fromColumn(created),
    rev,
    time,
    pos: { app, user },
    state: {
      ...(session && { session: valuesOf(session, name) }),
      ...(appState && { app: valuesOf(appState, `app "${appName}"`) }),
      ...(userState && { user: valuesOf(userState, `user "${userId}"`) }),
    },
    events: events.sort((a, b) => a.rev - b.rev),
  };
}

/** The statement that reads an app, or a user in it. */
export function scopeStatement(schema: string, { app, user }: ScopeName): Statement {
  const text = `select json_build_array(scope.pos, ${entries(schema, 'scope.no')})::text as data
from ${schema}.scopes scope where scope.parent = 0 and scope.name = $1`;
  const ofUser = `select json_build_array(scope.pos, ${entries(schema, 'scope.no')})::text as data
from ${schema}.scopes app join ${schema}.scopes scope on scope.parent = app.no and scope.name = $2
where app.parent = 0 and app.name = $1`;
  return user === undefined ? { text, values: [toColumn(app)] } : { text: ofUser, values: [toColumn(app), toColumn(user)] };
}

/** What {@link scopeStatement} has found. */
export function scopeOf(rows: readonly unknown[], { app, user }: ScopeName): LoadedScope {
  const [row] = rows as readonly { data: string }[];
  const [pos, state] = JSON.parse(row?.data ?? '[0,[]]') as [number, Entries];
  return { pos, state: valuesOf(state, user === undefined ? `app "${app}"` : `user "${user}"`) };
}

/**
 * The statement that lists sessions: a row with the total and the values of the app (n is 0), one for each user (-1) and one
 * for each session (its place).
 */
export function listStatement(schema: string, { app, user, descending, limit, offset = 0, after }: ListQuery): Statement {
  const values: (string | number | null)[] = [toColumn(app)];
  const isOfUser = user !== undefined;
  const owner = `(select no from ${isOfUser ? 'usr' : 'app'})`;
  const isOwned = isOfUser ? `-session.usr = -${owner}` : `session.app = ${owner}`;
  const ofUser = isOfUser ? `, usr as (
  select usr.no from app join ${schema}.scopes usr on usr.parent = app.no and usr.name = $${values.push(toColumn(user))})` : '';
  const order = `order by session.time ${descending ? 'desc' : 'asc'}, session.id, session.user_id`;
  const atMost = limit === undefined || limit === Infinity ? '' : `limit $${values.push(Math.max(0, Math.ceil(limit)))}::bigint`;
  const part = (condition: string): string =>
    `select session.* from ${schema}.sessions session where ${isOwned} ${condition} ${order} ${atMost}`;
  let page = part('');
  if (after !== undefined) {
    const time = `$${values.push(after.time)}::float8`;
    const id = `$${values.push(toColumn(after.sessionId))}`;
    const userId = `$${values.push(toColumn(after.userId))}`;
    // Those of the same time, and those behind it: each is one stretch of the index.
    const ties = part(`and session.time = ${time} and (session.id, session.user_id) > (${id}, ${userId})`);
    page = `select session.* from ((${ties}) union all (${part(`and session.time ${descending ? '<' : '>'} ${time}`)})) session ${order} ${atMost}`;
  } else if (offset > 0) {
    page = `${page} offset $${values.push(Math.ceil(offset))}::bigint`;
  }
  const text = `with app as (select app.no from ${schema}.scopes app where app.parent = 0 and app.name = $1)${ofUser},
page as (select page.*, row_number() over () as n from (${page}) page)
select 0 as n, json_build_array(
  (select coalesce(sum(counts.sessions), 0) from ${schema}.counts counts where counts.scope = ${owner}),
  ${entries(schema, '(select no from app)')})::text as data
union all
select -1, json_build_array(usr.user_id, ${entries(schema, 'usr.no')})::text
from (select distinct page.usr as no, page.user_id from page) usr
union all
select page.n::integer, json_build_array(page.user_id, page.id, page.created, page.rev, page.time, ${entries(schema, 'page.no')})::text
from page`;
  return { text, values };
}

/** What {@link listStatement} has found. Sessions that cannot be read are told, and the others are listed. */
export function pageOf(rows: readonly unknown[], { app }: ListQuery): Page {
  let total = 0;
  let state: Entries = [];
  const users = new Map<string, Values>();
  const lost = new Set<string>();
  const found: { n: number; row: readonly [string, string, string, number, number, Entries] }[] = [];
  for (const { n, data } of rows as readonly { n: number | string; data: string }[]) {
    const place = Number(n);
    if (place > 0) {
      found.push({ n: place, row: JSON.parse(data) as (typeof found)[0]['row'] });
    } else if (place === 0) {
      [total, state] = JSON.parse(data) as [number, Entries];
    } else {
      const [user, values] = JSON.parse(data) as [string, Entries];
      const userId = fromColumn(user);
      if (!readable(() => users.set(userId, valuesOf(values, `user "${userId}"`)))) {
        lost.add(userId);
      }
    }
  }
  const corrupt: SessionKey[] = [];
  const sessions: Row[] = [];
  for (const { row: [user, id, created, rev, time, values] } of found.sort((a, b) => a.n - b.n)) {
    const key = { appName: app, userId: fromColumn(user), sessionId: fromColumn(id) };
    const isRead =
      !lost.has(key.userId) &&
      readable(() => sessions.push({ key, created: fromColumn(created), rev, time, state: valuesOf(values, `session "${key.sessionId}"`) }));
    if (!isRead) {
      corrupt.push(key);
    }
  }
  const page: Page = { rows: sessions, app: valuesOf(state, `app "${app}"`), users, total };
  return corrupt.length === 0 ? page : { ...page, corrupt };
}

/** Values as they are handed out. Throws `corrupt` when one is not JSON. */
function valuesOf(rows: Entries, owner: string): Values {
  const values = emptyValues();
  for (const [name, text] of rows) {
    const key = fromColumn(name);
    try {
      values[key] = JSON.parse(text) as Json;
    } catch (cause) {
      throw new StoreError('corrupt', `the value "${key}" of ${owner} cannot be read`, { cause });
    }
  }
  return Object.freeze(values);
}

/** Whether something could be read. What fails otherwise fails as ever. */
function readable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof StoreError) {
      return false;
    }
    throw error;
  }
}
