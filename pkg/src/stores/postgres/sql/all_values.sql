-- Answers all values of a scope, for statements that seldom need them: it costs nothing where it is not called.
create function statepad.all_values(of_scope bigint) returns json stable language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off
as $values$
begin
  return (select coalesce(json_agg(json_build_array(state.name, state.value) order by state.at, state.nth), '[]')
    from statepad.state state where state.owner = of_scope);
end
$values$;
