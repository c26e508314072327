-- Deletes a session; with created_by, only the one that this change has created. Says whether it was there. The id of
-- its creation is kept for a while: the creation does not come back by a second attempt.
create function statepad.remove(app_name text, user_name text, session_id text, created_by text) returns boolean
language plpgsql
  :settings
as $remove$
declare
  removed record;
begin
  select session.no, session.app, session.usr, session.created, session.digest into removed
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
  delete from statepad.events event where event.session = removed.no;
  delete from statepad.state state where state.owner = removed.no;
  delete from statepad.sessions session where session.usr = removed.usr and session.id = session_id;
  delete from statepad.owners owner
    where owner.app = removed.app and owner.id = session_id and owner.usr = removed.usr;
  insert into statepad.creations (id, digest) values (removed.created, removed.digest) on conflict do nothing;
  insert into statepad.counts as old (scope, shard, sessions)
    select scope.no, pg_backend_pid() % :shards, -1
      from unnest(array[removed.app, removed.usr]) scope (no) order by scope.no
    on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
  delete from statepad.creations old where old.ctid = any(array(
    select done.ctid from statepad.creations done where done.at < now() - :remembered
    order by done.at limit 100 for update skip locked));
  return true;
end
$remove$;
