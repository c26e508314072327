// How a session and a scope are read: one statement each, so that all of it is of one moment.

import { StoreError } from '../../store-error.js';
import { fromColumn, toColumn } from './sql-text.js';
import { emptyValues } from './values.js';
import type { Loaded, LoadedScope, LoadQuery, ScopeName, StoredEvent, Values } from '../../store.js';
import type { Json, SessionKey } from '../../types.js';

/** A value of a statement. */
export type SqlValue = string | number | null;

/** A statement and its values. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqlValue[];
}

/** Names and their values as JSON, as they lie in the table. */
export type Entries = readonly (readonly [name: string, value: string])[];

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
export function entries(schema: string, owner: string): string {
  return `(select coalesce(json_agg(json_build_array(state.name, state.value) order by state.at, state.nth), '[]')
    from ${schema}.state state where state.owner = ${owner})`;
}

/** The statement that loads a session: a row with the {@link Head}, which has no revision, and one for each event. */
export function loadStatement(
  schema: string,
  { appName, userId, sessionId }: SessionKey,
  { events = {}, known = {} }: LoadQuery,
): Statement {
  const { from = 1, to = LAST_REV, since, last = Infinity } = events;
  const values: SqlValue[] = [
    toColumn(appName),
    toColumn(userId),
    toColumn(sessionId),
    known.created === undefined ? null : toColumn(known.created),
    known.rev ?? null,
    known.pos?.app ?? null,
    known.pos?.user ?? null,
    Math.min(Math.max(0, Math.ceil(from)), LAST_REV),
    Math.min(Math.max(0, Math.floor(to)), LAST_REV),
  ];
  // Each question has its own index, see the schema. What is not asked for is left out.
  const condition =
    since === undefined
      ? 'event.session = (select session.no from session)'
      : `~event.session = ~(select session.no from session) and event.time >= $${values.push(since)}::float8`;
  const limit = last === Infinity ? '' : `order by event.rev desc limit $${values.push(Math.max(0, Math.ceil(last)))}::bigint`;
  const text = `with session as (
  select session.no, session.created, session.rev, session.time,
    app.no as app, app.pos as app_pos, usr.no as usr, usr.pos as user_pos
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

/** Values as they are handed out. Throws `corrupt` when one is not JSON. */
export function valuesOf(rows: Entries, owner: string): Values {
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
