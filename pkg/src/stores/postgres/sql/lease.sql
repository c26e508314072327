-- Takes the lease of a session, makes it last longer or gives it back, as decideLease says, by the clock of the
-- database. Without wanted_fence it is taken; with it and a ttl above 0 it lasts longer. Times are in milliseconds
-- since the epoch.
--
-- Answers a JSON list: [fence, until]; ["not-found"]; ["refused", fence, holder, until, now], with the row as it is
-- and stays, from which decideLease tells why, or that the lease was given back before.
create function statepad.lease(
  app_name text,
  user_name text,
  session_id text,
  created_by text,
  wanted_holder text,
  ttl double precision,
  wanted_fence double precision
) returns text language plpgsql
  :settings
as $lease$
declare
  found_usr bigint;
  own_fence integer;
  own_holder text;
  own_until double precision;
  now_ms double precision;
begin
  select session.usr, session.fence, session.holder, session.held_until
    into found_usr, own_fence, own_holder, own_until
    from statepad.scopes app
    join statepad.scopes usr on usr.parent = app.no and usr.name = user_name
    join statepad.sessions session on session.usr = usr.no and session.id = session_id
    where app.parent = 0 and app.name = app_name and session.created = coalesce(created_by, session.created)
    for no key update of session;
  if not found then
    return '["not-found"]';
  end if;
  if not exists (select from statepad.statepad_version version where version.version = :version) then
    perform statepad.refuse_version();
  end if;
  -- Looked at when the row is locked: another one may have been waited for.
  now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
  if wanted_fence is null and own_holder <> wanted_holder and own_until > now_ms
    or own_fence <> wanted_fence or wanted_fence is not null and own_holder is distinct from wanted_holder
  then
    return json_build_array('refused', own_fence, own_holder, own_until, now_ms);
  end if;
  if wanted_fence is null then
    own_fence := own_fence + case when own_holder = wanted_holder then 0 else 1 end;
    own_holder := wanted_holder;
    own_until := now_ms + ttl;
  elsif ttl > 0 then
    own_until := now_ms + ttl;
  else
    own_fence := own_fence + 1;
    own_holder := null;
    own_until := null;
  end if;
  update statepad.sessions session set fence = own_fence, holder = own_holder, held_until = own_until
    where session.usr = found_usr and session.id = session_id;
  return json_build_array(own_fence, coalesce(own_until, now_ms));
end
$lease$;
