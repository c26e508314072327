-- Removes sessions that have expired, as remove does, the most so many, those that expired first before the others; and
-- with user_ttl, in milliseconds, values of users, as remove_scope does, as far as that leaves room. Without an app name
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

  with found as materialized (
    select every.* from (
      select session.usr, session.id, session.rev, session.expires from statepad.sessions session
        where app_name is null and session.expires <= now_ms
        order by session.expires limit most for update skip locked) every
    union all
    select ours.* from (
      select session.usr, session.id, session.rev, session.expires from statepad.sessions session
        where ~session.app = ~app_no and session.expires <= now_ms
        order by session.expires limit most for update skip locked) ours),
  -- A long one is removed whole, and then nothing else: a statement ends in time.
  taken as (
    select found.*, sum(found.rev) over (order by found.expires, found.usr, found.id) - found.rev as events from found)
  select array_agg(taken.usr) filter (where taken.events < :swept_events),
      array_agg(taken.id) filter (where taken.events < :swept_events),
      count(*) = most or bool_or(taken.events >= :swept_events),
      json_agg(json_build_array(app.name, usr.name, taken.id)) filter (where taken.events < :swept_events)
    into users, ids, is_more, swept_sessions
    from taken join statepad.scopes usr on usr.no = taken.usr join statepad.scopes app on app.no = usr.parent;
  if users is not null then
    perform statepad.forget(users, ids);
    most := most - cardinality(users);
  end if;

  if user_ttl is not null and most > 0 then
    select array_agg(found.no), count(*) = :swept_users or coalesce(is_more, false) into seen, is_more from (
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
    is_more := exists (select from statepad.sessions session where app_name is null and session.expires <= now_ms)
      or exists (select from statepad.sessions session where ~session.app = ~app_no and session.expires <= now_ms)
      or user_ttl is not null and exists (
        select from statepad.scopes app
          join statepad.scopes usr on -usr.parent = -app.no
            and usr.parent <> 0 and usr.due < 'infinity' and usr.due <= latest
          where app.parent = 0 and (app_name is null or app.no = app_no));
  end if;
  return json_build_object('sessions', swept_sessions, 'users', swept_users, 'more', coalesce(is_more, false));
end
$sweep$;
