// The values of a scope or a session as statements read them.

/** The expression of all values of an owner, in the order of writing, as a JSON list. */
export function entries(schema: string, owner: string): string {
  return `(select coalesce(json_agg(json_build_array(state.name, state.value) order by state.at, state.nth), '[]')
    from ${schema}.state state where state.owner = ${owner})`;
}
