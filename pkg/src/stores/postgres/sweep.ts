// Sweeps: their statements, and the meaning of the answers.

import { CLOCK, NOT_EXPIRED } from './entries.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import type { SqlValue, Statement } from './client.js';
import type { Hint, SweepQuery, Swept } from '../../store/contract.js';

/** The most sessions and users that one statement removes. */
const MOST = 1_000;

/** The longest time since a change, in milliseconds: a timestamp of Postgres does not go back further by far. */
const LONGEST_MS = 1e14;

/** The answer of the function: apps, users and sessions by their names. */
interface Answer {
  readonly sessions: readonly (readonly [app: string, user: string, session: string])[] | null;
  readonly users: readonly (readonly [app: string, user: string])[] | null;
  readonly more: boolean;
}

/**
 * Sweeps by `ask`. A statement that has removed sessions leaves the users to another one: what counts the sessions is
 * locked until it ends, and creations wait for that.
 */
export async function sweepBy(query: SweepQuery, ask: (query: SweepQuery) => Promise<Swept>): Promise<Swept> {
  const first = await ask(query);
  const limit = query.limit - first.sessions;
  if (query.userTtl === undefined || first.sessions === 0 || !first.more || limit <= 0) {
    return first;
  }
  const { sessions, users, more } = await ask({ ...query, limit });
  return { sessions: first.sessions + sessions, users, more };
}

/** The statement that sweeps. `log`: true if the removal of values goes into the log. */
export function sweepStatement(schema: string, { app, limit, userTtl }: SweepQuery, log: boolean): Statement {
  return {
    text: `select ${schema}.sweep($1, $2, $3, $4) as answer`,
    values: [
      app === undefined ? null : toColumn(app),
      Math.max(1, Math.min(Math.floor(limit), MOST)),
      userTtl === undefined ? null : Math.min(userTtl, LONGEST_MS),
      String(log),
    ],
  };
}

/** Reads the answer of {@link sweepStatement}, and tells of each thing that was removed. */
export function sweptIn(rows: readonly unknown[], onRemoved: (hint: Hint) => void): Swept {
  const [row] = rows as readonly { readonly answer: string }[];
  const { sessions, users, more } = JSON.parse(row?.answer ?? '') as Answer;
  [...(sessions ?? []), ...(users ?? [])].forEach((names) => {
    const [appName = '', userId = '', sessionId] = names.map(fromColumn);
    onRemoved({ appName, userId, ...(sessionId !== undefined && { sessionId }) });
  });
  return { sessions: sessions?.length ?? 0, users: users?.length ?? 0, more };
}

/**
 * The statement that counts what a sweep would remove. A user who has lost the last session that way is among the
 * users, although that session is still there.
 */
export function countStatement(schema: string, { app, limit, userTtl }: SweepQuery): Statement {
  const values: SqlValue[] = [Math.max(1, Math.min(Math.floor(limit), Number.MAX_SAFE_INTEGER - 1))];
  const ours = app === undefined ? '' : `and app.name = $${values.push(toColumn(app))}`;
  const ttl = userTtl === undefined ? 0 : `$${values.push(Math.min(userTtl, LONGEST_MS))}::float8`;
  const latest = `statement_timestamp() - ${ttl} * interval '1 millisecond'`;
  const idle = `select usr.no
  from (
    select usr.no from ${schema}.scopes app
      join ${schema}.scopes usr on -usr.parent = -app.no
        and usr.parent <> 0 and usr.due < 'infinity' and usr.due <= ${latest}
      where app.parent = 0 ${ours}
    union
    select expired.usr from expired) asked
  join ${schema}.scopes usr on usr.no = asked.no
  where usr.names > 0 and usr.changed <= ${latest}
    and not exists (select from ${schema}.sessions session where -session.usr = -usr.no and ${NOT_EXPIRED})
  limit $1::bigint + 1`;
  const text = `with expired as materialized (
  select session.usr from ${schema}.scopes app
    join ${schema}.sessions session on ~session.app = ~app.no and session.expires <= ${CLOCK}
    where app.parent = 0 ${ours} limit $1::bigint + 1),
idle as (${userTtl === undefined ? 'select where false' : idle})
select json_build_array((select count(*) from expired), (select count(*) from idle))::text as answer`;
  return { text, values };
}

/** Reads the answer of {@link countStatement}. */
export function countedIn(rows: readonly unknown[], { limit }: SweepQuery): Swept {
  const [row] = rows as readonly { readonly answer: string }[];
  const [expired, idle] = JSON.parse(row?.answer ?? '') as [number, number];
  const sessions = Math.min(expired, limit);
  return { sessions, users: Math.min(idle, limit - sessions), more: expired + idle > limit };
}
