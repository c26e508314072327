// What several statements read: the values of a scope or a session, and whether the session is there.

/** The expression of the server's clock for what only reads, in milliseconds since the epoch: when it began. */
export const CLOCK = '(select floor(extract(epoch from statement_timestamp()) * 1000)::float8)';

/** The condition that a session has not expired. */
export const NOT_EXPIRED = `coalesce(session.expires > ${CLOCK}, true)`;

/** The expression of all values of an owner, in the order of writing, as a JSON list. */
export function entries(schema: string, owner: string): string {
  return `(select coalesce(json_agg(json_build_array(state.name, state.value) order by state.at, state.nth), '[]')
    from ${schema}.state state where state.owner = ${owner})`;
}
