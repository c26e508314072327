-- Deletes the values of an app, or of a user in it, see empty_scopes. Says whether there ever was anything.
create function statepad.remove_scope(app_name text, user_name text, keeps_log boolean) returns boolean
language plpgsql
  :settings
as $remove$
declare
  scope_no bigint := (
    select case when user_name is null then app.no else usr.no end
      from statepad.scopes app left join statepad.scopes usr on usr.parent = app.no and usr.name = user_name
      where app.parent = 0 and app.name = app_name);
begin
  perform from statepad.scopes scope where scope.no = scope_no for no key update;
  if not exists (select from statepad.statepad_version version where version.version = :version) then
    perform statepad.refuse_version();
  end if;
  return statepad.empty_scopes(array[scope_no], keeps_log) > 0;
end
$remove$;
