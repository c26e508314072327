-- Deletes sessions, which are locked, with all that belongs to them. The ids of their creations are kept for a while:
-- no creation comes back by a second attempt. It runs with the settings of what calls it.
--
-- What other writers may wait for comes last, in the order of all calls: scopes, counts.
create function statepad.forget(users bigint[], ids text[]) returns void language plpgsql
as $forget$
declare
  nos bigint[];
  owners bigint[];
  undue bigint[];
begin
  with gone as materialized (
    delete from statepad.sessions session using unnest(users, ids) given (usr, id)
      where session.usr = given.usr and session.id = given.id
      returning session.no, session.app, session.usr, session.id, session.created, session.digest),
  disowned as (
    delete from statepad.owners owner using gone
      where owner.app = gone.app and owner.id = gone.id and owner.usr = gone.usr),
  remembered as (
    insert into statepad.creations (id, digest) select gone.created, gone.digest from gone order by gone.created
      on conflict do nothing)
  select array_agg(gone.no), array_agg(gone.app) || array_agg(gone.usr) into nos, owners from gone;
  delete from statepad.events event where event.session = any(nos);
  delete from statepad.state state where state.owner = any(nos);
  -- A sweep found that these users had sessions.
  select array_agg(awake.no) into undue from (
    select usr.no from statepad.scopes usr join statepad.scopes app on app.no = usr.parent
      where usr.no = any(users) and usr.due > usr.changed
      order by app.name, usr.name for no key update of usr) awake;
  if undue is not null then
    update statepad.scopes usr set due = usr.changed where usr.no = any(undue);
  end if;
  insert into statepad.counts as old (scope, shard, sessions)
    select scope.no, pg_backend_pid() % :shards, -count(*) from unnest(owners) scope (no)
      group by scope.no order by scope.no
    on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
  delete from statepad.creations old where old.ctid = any(array(
    select done.ctid from statepad.creations done where done.at < now() - :remembered
    order by done.at limit 100 for update skip locked));
end
$forget$;
