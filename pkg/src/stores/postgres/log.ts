// The log of an app's or a user's values: one statement reads it, so that all of it is of one moment.

import { scopeTitle } from '../../store/refusals.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import { parseValue } from '../shared/values.js';
import type { SqlValue, Statement } from './client.js';
import type { LogEntry, LogQuery, LogWrite, ScopeLog, ScopeName } from '../../store/contract.js';

/** The largest number of a position or a count. */
const MOST = Number.MAX_SAFE_INTEGER;

/** A write as {@link logStatement} answers it. One without a name is only a sign that there is an entry. */
type Write = readonly [
  pos: number,
  nth: number,
  name: string | null,
  was: string | null,
  value: string | null,
  time: number,
  user: string | null,
  session: string | null,
  event: string | null,
];

/** The statement that reads a log: a row with the scope's position and base (n is 0), and one for each write. */
export function logStatement(schema: string, { app, user }: ScopeName, query: LogQuery): Statement {
  const { after = 0, to = Infinity, name, limit = Infinity } = query;
  const values: SqlValue[] = [toColumn(app)];
  const number = (value: number): string => `$${values.push(Math.min(Math.max(0, Math.floor(value)), MOST))}::bigint`;
  const scope =
    user === undefined
      ? `${schema}.scopes scope where scope.parent = 0 and scope.name = $1`
      : `${schema}.scopes app join ${schema}.scopes scope on scope.parent = app.no and scope.name = $${values.push(toColumn(user))}
    where app.parent = 0 and app.name = $1`;
  const start = `greatest(${number(after)}, (select scope.base from scope))`;
  const range = `log.pos > ${start} and log.pos <= ${number(to)}`;
  // Each question has its own index, see the schema. There is an entry at every position, and a row for each of those
  // that write the name.
  const rows =
    name === undefined
      ? `log.scope = (select scope.no from scope) and ${range}${limit === Infinity ? '' : ` and log.pos <= ${start} + ${number(Math.ceil(limit))}`}`
      : `-log.scope = -(select scope.no from scope) and log.name = $${values.push(toColumn(name))} and ${range}
    order by log.pos${limit === Infinity ? '' : ` limit ${number(Math.ceil(limit))}`}`;
  const text = `with scope as (select scope.no, scope.pos, scope.base from ${scope})
select 0 as n, json_build_array(scope.pos, scope.base)::text as data from scope
union all
(select 1, json_build_array(log.pos, log.nth, log.name, log.was, log.value, log.time, log.user_id, log.session_id, log.event)::text
  from ${schema}.log log where ${rows})`;
  return { text, values };
}

/** Reads the answer of {@link logStatement}. */
export function logOf(rows: readonly unknown[], scope: ScopeName): ScopeLog {
  let [pos, base] = [0, 0];
  const writes: Write[] = [];
  for (const { n, data } of rows as readonly { n: number | string; data: string }[]) {
    if (Number(n) === 0) {
      [pos, base] = JSON.parse(data) as [number, number];
    } else {
      writes.push(JSON.parse(data) as Write);
    }
  }
  const entries: (LogEntry & { readonly writes: LogWrite[] })[] = [];
  const whose = scopeTitle(scope);
  for (const write of writes.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const [at] = write;
    if (entries.at(-1)?.pos !== at) {
      entries.push(entryIn(write));
    }
    if (write[2] !== null) {
      entries.at(-1)?.writes.push(writeIn(write, write[2], whose));
    }
  }
  return { pos, base, entries };
}

function entryIn([pos, , , , , time, user, session, event]: Write): LogEntry & { readonly writes: LogWrite[] } {
  const by = user !== null && session !== null && { userId: fromColumn(user), sessionId: fromColumn(session) };
  return {
    ...{ pos, time },
    ...(by !== false && { by: { ...by, ...(event !== null && { eventId: fromColumn(event) }) } }),
    writes: [],
  };
}

function writeIn([, , , was, value]: Write, column: string, whose: string): LogWrite {
  const name = fromColumn(column);
  return {
    name,
    ...(was !== null && { from: parseValue(name, was, whose) }),
    ...(value !== null && { to: parseValue(name, value, whose) }),
  };
}

/** The statement that forgets a log up to a position; its one row has the number of entries, `count`. */
export function trimStatement(schema: string, { app, user }: ScopeName, upTo: number): Statement {
  const end = Math.min(Math.max(0, Math.floor(upTo)), MOST);
  const text = `select ${schema}.trim_log($1, $2, $3)::text as count`;
  return { text, values: [toColumn(app), user === undefined ? null : toColumn(user), end] };
}

/** The statement that deletes the rows of forgotten entries. */
export function cleanStatement(schema: string, { app, user }: ScopeName): Statement {
  const text = `select ${schema}.clean_log($1, $2)::text as count`;
  return { text, values: [toColumn(app), user === undefined ? null : toColumn(user)] };
}
