// The names of apps and of users: one statement each.

import { fromColumn, toColumn } from '../shared/column-text.js';
import { pageWithin } from '../shared/name-page.js';
import type { SqlValue, Statement } from './client.js';
import type { NamePage, NameQuery } from '../../store/contract.js';

/** The largest number of names. */
const MOST = Number.MAX_SAFE_INTEGER - 1;

/**
 * The statement that answers the names of apps, or of the users in one: as many as the page has, and one more. It goes
 * from name to name through the index, whatever a planner takes the number of apps and users for: each step is a
 * search for one row.
 */
export function namesStatement(
  schema: string,
  app: string | undefined,
  { after, limit = Infinity }: NameQuery,
): Statement {
  const values: SqlValue[] = [Math.min(limit, MOST) + 1];
  const put = (text: string): string => `$${values.push(toColumn(text))}`;
  const parent =
    app === undefined
      ? '0'
      : `(select app.no from ${schema}.scopes app where app.parent = 0 and app.name = ${put(app)})`;
  const next = (condition: string): string =>
    `select scope.name from ${schema}.scopes scope where scope.parent = (select parent.no from parent) ${condition}
      order by scope.name limit 1`;
  const text = `with recursive parent as (select ${parent}::bigint as no), names as (
  select first.name, 1::bigint as nth from (${next(after === undefined ? '' : `and scope.name > ${put(after)}`)}) first
  union all
  select following.name, names.nth + 1
    from names cross join lateral (${next('and scope.name > names.name')}) following where names.nth < $1::bigint)
select names.name from names`;
  return { text, values };
}

/** Reads the answer of {@link namesStatement}. */
export function namePageIn(rows: readonly unknown[], query: NameQuery): NamePage {
  const names = (rows as readonly { readonly name: string }[]).map(({ name }) => fromColumn(name));
  return pageWithin(names, query);
}
