-- Takes the lease of a session, makes it last longer or gives it back, see decide_lease.
--
-- Answers a JSON list: [fence, until]; ["not-found"]; or the refusal of decide_lease, from which decideLease tells why,
-- or that the lease was given back before.
create function statepad.lease(
  app_name text,
  user_name text,
  session_id text,
  created_by text,
  new_holder text,
  ttl double precision,
  known_fence double precision
) returns text language plpgsql
  :settings
as $lease$
declare
  usr_no bigint;
  own_fence integer;
  own_holder text;
  own_until double precision;
  own_expires double precision;
  decided record;
begin
  select session.usr, session.fence, session.holder, session.held_until, session.expires
    into usr_no, own_fence, own_holder, own_until, own_expires
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
  select lease.* into decided
    from statepad.decide_lease(own_fence, own_holder, own_until, new_holder, ttl, known_fence) lease;
  if own_expires <= decided.now_ms then
    return '["not-found"]';
  elsif decided.refusal is not null then
    return decided.refusal;
  end if;
  update statepad.sessions session
    set fence = decided.fence, holder = decided.holder, held_until = decided.held_until
    where session.usr = usr_no and session.id = session_id;
  return json_build_array(decided.fence, coalesce(decided.held_until, decided.now_ms));
end
$lease$;
