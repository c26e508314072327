-- Deletes the values of an app, or of a user in it. Says whether there ever was anything. It is a move that has no
-- mark, and nothing can be told about what was before it.
create function statepad.remove_scope(app_name text, user_name text, keeps_log boolean) returns boolean
language plpgsql
  :settings
as $remove$
declare
  emptied bigint;
  emptied_pos bigint;
begin
  update statepad.scopes scope
    set pos = scope.pos + 1, mark = null, base = case when keeps_log then scope.base else scope.pos + 1 end
    where scope.no = (
      select case when user_name is null then app.no else usr.no end
      from statepad.scopes app left join statepad.scopes usr on usr.parent = app.no and usr.name = user_name
      where app.parent = 0 and app.name = app_name)
    returning scope.no, scope.pos into emptied, emptied_pos;
  if not exists (select from statepad.statepad_version version where version.version = :version) then
    perform statepad.refuse_version();
  end if;
  if keeps_log and emptied is not null then
    insert into statepad.log (scope, pos, nth, name, was, value, time)
      select emptied, emptied_pos, 0, null, null, null, floor(extract(epoch from clock_timestamp()) * 1000)
      union all
      select emptied, emptied_pos, row_number() over (order by state.at, state.nth), state.name, state.value, null,
          floor(extract(epoch from clock_timestamp()) * 1000)
        from statepad.state state where state.owner = emptied;
  end if;
  delete from statepad.state state where state.owner = emptied;
  delete from statepad.moves move where move.scope = emptied;
  return emptied is not null;
end
$remove$;
