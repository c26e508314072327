-- Removes sessions that have expired, as remove does, the most so many, those that expired first before the others; or,
-- where there are none, and with user_ttl, in milliseconds, values of users, as remove_scope does. Without an app name
-- those of all apps. Answers a JSON object: the sessions [app, user, id], the users [app, user], and whether there may be
-- more of both.
--
-- What others have locked is passed over: nobody waits for another sweep, and an append that has begun comes first. What
-- is locked by that is looked at as it is then: a session that does not expire any more stays.
create function statepad.sweep(
  app_name text,
  most integer,
  user_ttl double precision,
  keeps_log boolean
) returns text language plpgsql
  :settings
as $sweep$
declare
  app_no bigint := (select app.no from statepad.scopes app where app.parent = 0 and app.name = app_name);
  now_ms double precision := floor(extract(epoch from clock_timestamp()) * 1000);
  -- No user who has moved later is removed.
  latest timestamp with time zone := clock_timestamp() - user_ttl * interval '1 millisecond';
  is_more boolean := false;
  -- No session that expires later can be among those that are removed.
  edge double precision;
  -- The sessions.
  users bigint[];
  ids text[];
  swept_sessions json;
  -- The users that are looked at, those of them who have sessions, and those whose values are removed.
  seen bigint[];
  kept bigint[];
  doomed bigint[];
  swept_users json;
begin
  if not exists (select from statepad.statepad_version version where version.version = :version) then
    perform statepad.refuse_version();
  end if;

  -- The index has the sessions of one app after those of another. Where there are enough apps, the sessions that
  -- expired first in each say how far all of them have to be read.
  select first.expires into edge
    from statepad.scopes app
    cross join lateral (
      select session.expires from statepad.sessions session
        where ~session.app = ~app.no and session.expires <= now_ms
        order by session.expires limit 1) first
    where app.parent = 0 and app_name is null
    order by first.expires offset most - 1 limit 1;
  with found as materialized (
    select early.usr, early.id
      from statepad.scopes app
      cross join lateral (
        select session.usr, session.id, session.expires from statepad.sessions session
          where ~session.app = ~app.no and session.expires <= coalesce(edge, now_ms)
          order by session.expires limit most) early
      where app.parent = 0 and (app_name is null or app.no = app_no)
      order by early.expires limit most),
  locked as materialized (
    select session.usr, session.id, session.expires, session.rev + session.names as size
      from found join statepad.sessions session on session.usr = found.usr and session.id = found.id
      where session.expires <= now_ms
      for update of session skip locked),
  -- A large one is removed whole, and then nothing else: a statement ends in time.
  taken as (
    select locked.*, sum(locked.size) over (order by locked.expires, locked.usr, locked.id) - locked.size as before
      from locked)
  select array_agg(taken.usr) filter (where taken.before < :swept_rows),
      array_agg(taken.id) filter (where taken.before < :swept_rows),
      json_agg(json_build_array(app.name, usr.name, taken.id)) filter (where taken.before < :swept_rows),
      (select count(*) from found) > count(*) filter (where taken.before < :swept_rows)
        or (select count(*) from found) = most
    into users, ids, swept_sessions, is_more
    from taken join statepad.scopes usr on usr.no = taken.usr join statepad.scopes app on app.no = usr.parent;
  if users is not null then
    perform statepad.forget(users, ids);
    -- Users come in the next call: creations wait for what counts these sessions until this one has ended.
    is_more := is_more or user_ttl is not null;
  elsif user_ttl is not null then
    select array_agg(found.no), count(*) = :swept_users or is_more into seen, is_more from (
      select usr.no from statepad.scopes app
        join statepad.scopes usr on -usr.parent = -app.no
          and usr.parent <> 0 and usr.due < 'infinity' and usr.due <= latest
        where app.parent = 0 and (app_name is null or app.no = app_no)
        limit :swept_users for no key update of usr skip locked) found;
    -- None of these sessions is removed before it is written down that their users need not be looked at until then.
    select array_agg(held.usr) into kept from (
      select session.usr from unnest(seen) asked (no)
        cross join lateral (
          select session.usr from statepad.sessions session
            where -session.usr = -asked.no and coalesce(session.expires > now_ms, true)
            limit 1 for key share skip locked) session) held;
    update statepad.scopes usr
      set due = case when usr.no = any(kept) or usr.names = 0 then 'infinity' else usr.changed end
      where usr.no = any(seen) and (usr.no = any(kept) or usr.names = 0 or usr.changed > latest);
    select array_agg(idle.no), json_agg(json_build_array(idle.app, idle.name)) into doomed, swept_users from (
      select usr.no, usr.name, app.name as app
        from statepad.scopes usr join statepad.scopes app on app.no = usr.parent
        where usr.no = any(seen) and usr.due <= latest and not exists (
          select from statepad.sessions session
            where -session.usr = -usr.no and coalesce(session.expires > now_ms, true))
        limit most) idle;
    if doomed is not null then
      perform statepad.empty_scopes(doomed, keeps_log);
      is_more := is_more or cardinality(doomed) = most;
    end if;
  end if;

  if is_more then
    is_more := exists (
        select from statepad.scopes app
          join statepad.sessions session on ~session.app = ~app.no and session.expires <= now_ms
          where app.parent = 0 and (app_name is null or app.no = app_no))
      or user_ttl is not null and exists (
        select from statepad.scopes app
          join statepad.scopes usr on -usr.parent = -app.no
            and usr.parent <> 0 and usr.due < 'infinity' and usr.due <= latest
          where app.parent = 0 and (app_name is null or app.no = app_no));
  end if;
  return json_build_object('sessions', swept_sessions, 'users', swept_users, 'more', is_more);
end
$sweep$;
