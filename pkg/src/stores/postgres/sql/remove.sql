-- Deletes a session; with created_by, only the one that this change has created. Says whether it was there. See forget.
create function statepad.remove(app_name text, user_name text, session_id text, created_by text) returns boolean
language plpgsql
  :settings
as $remove$
declare
  user_no bigint;
begin
  select session.usr into user_no
    from statepad.scopes app
    join statepad.scopes usr on usr.parent = app.no and usr.name = user_name
    join statepad.sessions session on session.usr = usr.no and session.id = session_id
    where app.parent = 0 and app.name = app_name and session.created = coalesce(created_by, session.created)
    for update of session;
  if not found then
    return false;
  end if;
  if not exists (select from statepad.statepad_version version where version.version = :version) then
    perform statepad.refuse_version();
  end if;
  perform statepad.forget(array[user_no], array[session_id]);
  return true;
end
$remove$;
