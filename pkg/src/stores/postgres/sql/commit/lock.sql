-- Of the function in declare.sql: finds and locks scopes and sessions, and makes those that are missing.
begin
  if is_single and session_list[1] is not null and not session_list[1] ? 'created' then
    -- Most changes are an event of a session that is there: it is found and locked at once.
    select array[app.no, usr.no], app.no, usr.no, 1, 2, session.no, session.rev, session.created, session.names,
        session.bytes, session.ttl, session.expires
      into scope_no, app_no, user_no, app_place, user_place, own_no, own_rev, own_created, own_names, own_bytes,
        own_ttl, own_expires
      from statepad.scopes app
      join statepad.scopes usr on usr.parent = app.no and usr.name = scope_list[2]->>1
      join statepad.sessions session on session.usr = usr.no and session.id = session_list[1]->>'session'
      where app.parent = 0 and app.name = scope_list[1]->>1 for no key update of session;
    is_one := found;
  elsif is_single and cardinality(scope_list) = 1 then
    -- An update of an app that is there.
    select array[scope.no], scope.no, 1, 0, array[scope.pos], array[scope.mark], array[true]
      into scope_no, app_no, app_place, own_rev, scope_pos, scope_mark, is_locked
      from statepad.scopes scope where scope.parent = 0 and scope.name = scope_list[1]->>1 for no key update;
    is_one := found;
  end if;
  if not is_one then
    -- One statement finds all scopes that are there. Those that are missing are made, and taken back if nothing is
    -- written there.
    select array_agg(scope.no order by request.place) into scope_no
      from unnest(scope_list) with ordinality request (item, place)
      left join statepad.scopes parent on parent.parent = 0 and parent.name = scope_list[(request.item->0)::int]->>1
      left join statepad.scopes scope on scope.name = request.item->>1
        and scope.parent = case when (request.item->0)::int = 0 then 0 else parent.no end;
    foreach item in array scope_list loop
      place := place + 1;
      while scope_no[place] is null loop
        select scope.no into row_no from statepad.scopes scope
          where scope.parent = coalesce(scope_no[(item->0)::int], 0) and scope.name = item->>1;
        if found then
          scope_no[place] := row_no;
        else
          insert into statepad.scopes (parent, name) values (coalesce(scope_no[(item->0)::int], 0), item->>1)
            on conflict do nothing;
          if found then
            is_unused[place] := true;
          end if;
        end if;
      end loop;
    end loop;
    -- A session is created at once, and taken back if the change is refused: so no other call creates it meanwhile.
    -- Where none is to be created, one statement locks all, in their order.
    if strpos(sessions, 'created') = 0 then
      for place, own_no, row_rev, row_text, row_names, row_bytes, row_ttl, row_expires in
        select (request.item->'i')::int, session.no, session.rev, session.created, session.names, session.bytes,
            session.ttl, session.expires
          from unnest(session_list) with ordinality request (item, nth)
          join statepad.sessions session
            on session.usr = scope_no[(request.item->'usr')::int] and session.id = request.item->>'session'
          order by request.nth for no key update of session
      loop
        continue when row_expires <= floor(extract(epoch from clock_timestamp()) * 1000);
        session_no[place] := own_no;
        session_rev[place] := row_rev;
        session_created[place] := row_text;
        session_names[place] := row_names;
        session_bytes[place] := row_bytes;
        session_ttl[place] := row_ttl;
        session_expires[place] := row_expires;
      end loop;
      session_list := '{}';
    end if;
    foreach item in array session_list loop
      place := (item->'i')::int;
      user_place := (item->'usr')::int;
      loop
        if item ? 'created' then
          row_expires := coalesce((item->'expires')::float8,
            floor(extract(epoch from clock_timestamp()) * 1000) + (item->'ttl')::float8);
          insert into statepad.sessions (usr, id, app, user_id, created, digest, rev, time, ttl, expires)
            values (scope_no[user_place], item->>'session', scope_no[(item->'app')::int], item->>'user_id',
              item->>'created', item->>'digest', 0, (item->'time')::float8, (item->'ttl')::float8, row_expires)
            on conflict do nothing returning no into row_no;
          if found then
            session_no[place] := row_no;
            session_rev[place] := 0;
            session_expires[place] := row_expires;
            is_new[place] := true;
            exit;
          end if;
        end if;
        select session.no, session.rev, session.created, session.names, session.bytes, session.ttl, session.expires
          into row_no, row_rev, row_text, row_names, row_bytes, row_ttl, row_expires
          from statepad.sessions session
          where session.usr = scope_no[user_place] and session.id = item->>'session' for no key update;
        -- Another call may have removed the session meanwhile that was in the way: the creation meets none then.
        exit when found or not item ? 'created';
      end loop;
      continue when is_new[place];
      if not found then
        continue;
      elsif row_expires <= floor(extract(epoch from clock_timestamp()) * 1000) then
        -- Another creation takes its place when it is written. Its own, sent again, is as that of a removed session.
        if item->>'created' <> row_text then
          expired_no[place] := row_no;
          session_no[place] := nextval('statepad.numbers');
          session_rev[place] := 0;
          session_expires[place] := coalesce((item->'expires')::float8,
            floor(extract(epoch from clock_timestamp()) * 1000) + (item->'ttl')::float8);
          is_new[place] := true;
        elsif item ? 'created' then
          session_created[place] := row_text;
        end if;
        continue;
      end if;
      session_no[place] := row_no;
      session_rev[place] := row_rev;
      session_created[place] := row_text;
      session_names[place] := row_names;
      session_bytes[place] := row_bytes;
      session_ttl[place] := row_ttl;
      session_expires[place] := row_expires;
    end loop;
  end if;

  -- Scopes that are looked at, or moved together with others. One that is only moved is locked by that.
  if is_locked is null then
    foreach place in array locks::integer[] loop
      select scope.pos, scope.mark into row_pos, row_text
        from statepad.scopes scope where scope.no = scope_no[place] for no key update;
      scope_pos[place] := row_pos;
      scope_mark[place] := row_text;
      is_locked[place] := true;
    end loop;
  end if;
