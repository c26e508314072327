// The moves of an app's or a user's values: who made each, and what they have changed since a position.

import { SETTINGS } from './common.js';

/** The mark of a scope, whose row has the alias; null where it is not known, as it is of another position. */
export function markOf(alias: string): string {
  return `(case when ${alias}.marked = ${alias}.pos then ${alias}.mark end)`;
}

/** The values of a scope or a session, in the order of writing, as a JSON list. */
export function entries(schema: string, owner: string): string {
  return `(select coalesce(json_agg(json_build_array(state.name, state.value) order by state.at, state.nth), '[]')
    from ${schema}.state state where state.owner = ${owner})`;
}

/**
 * The function that tells what has happened to a scope after the position `since`, which has to have the mark, until
 * the position `until`, as JSON: `{"set": [[name, value], …], "unset": [name, …]}`, both in the order of writing; null
 * when that cannot be told for sure. The values are those of now: the scope may not have moved beyond `until` in what
 * the statement sees that calls it, which is what the function sees.
 *
 * A name was deleted when it is not there any more. One that has come into being since is in both lists: it may have
 * been there before, in another place.
 *
 * It is a function because few statements come to call it: it costs nothing before that.
 */
export function changedFunction(schema: string): string {
  // Name by name through the index, whatever number of rows the planner expects.
  const values = `lateral (select state.* from ${schema}.state state
        where state.owner = of_scope and state.name = written.name collate "C" limit 1) state on true`;
  return `create function ${schema}.changed_v2(of_scope bigint, since bigint, since_mark text, until bigint) returns json stable
${SETTINGS}
as $changed$
begin
  return (with steps as materialized (
      select move.pos, move.mark, move.names from ${schema}.moves move
        where move.scope = of_scope and move.pos between since and until),
    written as materialized (
      select item.name, max(steps.pos) as pos from steps, jsonb_array_elements_text(steps.names) item (name)
        where steps.pos > since group by item.name)
    select json_build_object(
      'set', (select coalesce(json_agg(json_build_array(state.name, state.value) order by state.at, state.nth), '[]')
        from written join ${values}),
      'unset', (select coalesce(json_agg(written.name order by written.pos, written.name collate "C"), '[]')
        from written left join ${values} where state.name is null or state.at > since))
    where (select count(*) from steps) = until - since + 1
      and exists (select from steps where steps.pos = since and steps.mark = since_mark));
end
$changed$`;
}

/** A call of the function that {@link changedFunction} makes. */
export function changedCall(schema: string, scope: string, since: string, mark: string, until: string): string {
  return `${schema}.changed_v2(${scope}, ${since}, ${mark}, ${until})`;
}

/**
 * The function that answers all values of a scope, for statements that seldom need them: it costs nothing where it is
 * not called.
 */
export function valuesFunction(schema: string): string {
  return `create function ${schema}.values_v2(of_scope bigint) returns json stable ${SETTINGS}
as $values$
begin
  return ${entries(schema, 'of_scope')};
end
$values$`;
}

/** A call of the function that {@link valuesFunction} makes. */
export function valuesCall(schema: string, scope: string): string {
  return `${schema}.values_v2(${scope})`;
}
