-- Answers all values of a scope, for statements that seldom need them: it costs nothing where it is not called.
create function statepad.all_values(of_scope bigint) returns json stable language plpgsql
  :settings
as $values$
begin
  return (select coalesce(json_agg(json_build_array(state.name, state.value) order by state.at, state.nth), '[]')
    from statepad.state state where state.owner = of_scope);
end
$values$;
