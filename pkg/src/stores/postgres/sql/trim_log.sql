-- Forgets a log up to a position. Answers how many entries there were. Their rows are deleted later, when no writer
-- has to wait for that.
create function statepad.trim_log(app_name text, user_name text, up_to bigint) returns bigint language plpgsql
  :settings
as $trim$
declare
  own_no bigint;
  old_base bigint;
  new_base bigint;
begin
  select scope.no, scope.base, least(up_to, scope.pos) into own_no, old_base, new_base from statepad.scopes scope
    where scope.no = (
      select case when user_name is null then app.no else usr.no end
      from statepad.scopes app left join statepad.scopes usr on usr.parent = app.no and usr.name = user_name
      where app.parent = 0 and app.name = app_name)
    for no key update;
  if not exists (select from statepad.statepad_version version where version.version = :version) then
    perform statepad.refuse_version();
  end if;
  if new_base > old_base then
    update statepad.scopes scope set base = new_base where scope.no = own_no;
    return new_base - old_base;
  end if;
  return 0;
end
$trim$;
