-- Deletes the values of apps and users. It is a move that has no mark, and nothing can be told about what was before
-- it. Answers how many there were. It runs with the settings of what calls it.
create function statepad.empty_scopes(scopes bigint[], keeps_log boolean) returns integer language plpgsql
as $empty$
declare
  emptied bigint[];
  positions bigint[];
begin
  with moved as (
    update statepad.scopes scope
      set pos = scope.pos + 1, mark = null, base = case when keeps_log then scope.base else scope.pos + 1 end,
        names = 0, bytes = 0, changed = now(), due = 'infinity'
      where scope.no = any(scopes)
      returning scope.no, scope.pos)
  select array_agg(moved.no), array_agg(moved.pos) into emptied, positions from moved;
  if keeps_log then
    insert into statepad.log (scope, pos, nth, name, was, value, time)
      select moved.no, moved.pos, coalesce(old.nth, 0), old.name, old.value, null,
          floor(extract(epoch from clock_timestamp()) * 1000)
        from unnest(emptied, positions) moved (no, pos)
        cross join lateral (
          select null::bigint as nth, null as name, null as value
          union all
          select row_number() over (order by state.at, state.nth), state.name, state.value
            from statepad.state state where state.owner = moved.no) old;
  end if;
  delete from statepad.state state where state.owner = any(emptied);
  delete from statepad.moves move where move.scope = any(emptied);
  return coalesce(cardinality(emptied), 0);
end
$empty$;
