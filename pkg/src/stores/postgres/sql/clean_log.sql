-- Deletes the rows of what was forgotten of a log: no one reads them. It locks nothing but them, and answers how many
-- there were.
create function statepad.clean_log(app_name text, user_name text) returns bigint language plpgsql
  :settings
as $clean$
declare
  count bigint;
begin
  delete from statepad.log log using statepad.scopes app
    left join statepad.scopes usr on usr.parent = app.no and usr.name = user_name
    where app.parent = 0 and app.name = app_name
      and log.scope = case when user_name is null then app.no else usr.no end
      and log.pos <= case when user_name is null then app.base else usr.base end;
  get diagnostics count = row_count;
  return count;
end
$clean$;
