// Users by the id of a session, and the names of apps and users: one statement each, so that all is of one moment.

import { pageWithin } from '../shared/name-page.js';
import type { Tables } from './sql.js';
import type { SqlValue, Statement } from '../postgres/client.js';
import type { NamePage, NameQuery } from '../../store/contract.js';

/** The largest number of names. */
const MOST = Number.MAX_SAFE_INTEGER - 1;

/** A table and the column of it that has names. */
type Source = readonly [table: string, column: 'app_name' | 'user_id'];

/**
 * The statement that answers the users who have a session with an id. The only index of sessions has the user before
 * the id: all entries of the app are looked at.
 */
export function ownersStatement(tables: Tables, app: string, sessionId: string): Statement {
  const text = `select session.user_id as name from ${tables.sessions} session
where session.app_name = $1 and session.id = $2 order by session.user_id collate "C"`;
  return { text, values: [app, sessionId] };
}

/** The statement that answers the names of apps: as many as the page has, and one more. */
export function appsStatement(tables: Tables, query: NameQuery): Statement {
  const sources = [tables.sessions, tables.app, tables.user].map((table): Source => [table, 'app_name']);
  return namesStatement(sources, undefined, query);
}

/** The same of the users in an app. */
export function usersStatement(tables: Tables, app: string, query: NameQuery): Statement {
  const sources = [tables.sessions, tables.user].map((table): Source => [table, 'user_id']);
  return namesStatement(sources, app, query);
}

/**
 * Each name is a step through the index of its table, however many rows have it. The order of an index is that of the
 * database, so all names are read before they are sorted.
 */
function namesStatement(
  sources: readonly Source[],
  app: string | undefined,
  { after, limit = Infinity }: NameQuery,
): Statement {
  const values: SqlValue[] = [];
  const put = (value: SqlValue, type: string): string => `$${values.push(value)}::${type}`;
  const ofApp = app === undefined ? 'true' : `source.app_name = ${put(app, 'text')}`;
  const steps = sources.map(([table, column], index) => {
    const next = (condition: string): string =>
      `select source.${column} as name from ${table} source where ${ofApp} ${condition} order by source.${column} limit 1`;
    return `names_${index} as ((${next('')}) union all
  select following.name from names_${index} before
    cross join lateral (${next(`and source.${column} > before.name`)}) following)`;
  });
  const union = sources.map((_, index) => `select name from names_${index}`).join(' union ');
  // No name has the character NUL, which Postgres cannot keep: those behind a text are behind its part before one.
  const [known] = after === undefined ? [] : after.split('\0');
  const isBehind = known === undefined ? 'true' : `names.name collate "C" > ${put(known, 'text')}`;
  const text = `with recursive ${steps.join(',\n')}
select names.name from (${union}) names where ${isBehind}
order by names.name collate "C" limit ${put(String(Math.min(limit, MOST) + 1), 'bigint')}`;
  return { text, values };
}

/** Reads the answer of {@link ownersStatement}. */
export function namesIn(rows: readonly unknown[]): string[] {
  return (rows as readonly { readonly name: string }[]).map(({ name }) => name);
}

/** Reads the answer of the other two. */
export function namePageIn(rows: readonly unknown[], query: NameQuery): NamePage {
  return pageWithin(namesIn(rows), query);
}
