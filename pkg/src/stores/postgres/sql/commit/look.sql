-- Of the function in declare.sql: begins the round of a change, and reads what there is before it.
  place := 0;
  foreach change in array change_list loop
    place := place + 1;
    change_id := change->>'id';
    change_call := coalesce(change->>'call', change_id);
    is_append := change->>'kind' = 'append';
    is_moving := change ? 'moves';
    if not is_one then
      app_place := (change->'app')::int;
      user_place := (change->'usr')::int;
      app_no := scope_no[app_place];
      user_no := scope_no[user_place];
      own_no := session_no[place];
      own_rev := coalesce(session_rev[place], 0);
      own_created := session_created[place];
      own_names := coalesce(session_names[place], 0);
      own_bytes := coalesce(session_bytes[place], 0);
      own_ttl := session_ttl[place];
      own_expires := session_expires[place];
      answer := null;
      op_results := null;
      added := null;
      removed := null;
      app_delta := null;
      user_delta := null;
    end if;

    -- What there is before the change, when all that has to be locked is. What is locked, or was moved by the batch, is
    -- known already; another call that had the session locked may have moved the scopes meanwhile. row_text is what
    -- was written under the id of the change.
    if change->>'kind' = 'update' then
      select scope_pos[app_place], scope_mark[app_place], coalesce(scope_pos[user_place], 0), scope_mark[user_place],
          (select done.id from statepad.updates done
            where done.scope = coalesce(user_no, app_no) and done.id = change_id),
          null,
          exists (select from statepad.refused late where late.call = change_call),
          exists (select from statepad.statepad_version version where version.version = :version),
          exists (select from statepad.scopes app left join statepad.scopes usr on usr.no = user_no
            where app.no = app_no and greatest(app.bytes, usr.bytes) > (change->'room')::float8)
        into app_pos, app_mark, user_pos, user_mark, row_text, last_id, is_late, is_ours, is_near;
    else
      select coalesce(scope_pos[app_place], app.pos, 0),
          case when scope_pos[app_place] is null then app.mark else scope_mark[app_place] end,
          coalesce(scope_pos[user_place], usr.pos, 0),
          case when scope_pos[user_place] is null then usr.mark else scope_mark[user_place] end,
          (select event.data from statepad.events event where -event.session = -own_no and event.id = change_id),
          (select event.id from statepad.events event
            where event.session = own_no and event.rev = own_rev and own_rev > 0),
          exists (select from statepad.refused late where late.call = change_call),
          exists (select from statepad.statepad_version version where version.version = :version),
          greatest(own_rev, own_bytes, app.bytes, usr.bytes) > (change->'room')::float8
        into app_pos, app_mark, user_pos, user_mark, row_text, last_id, is_late, is_ours, is_near
        from statepad.scopes app left join statepad.scopes usr on usr.no = user_no
        where app.no = app_no;
      if is_one then
        if own_expires is not null then
          if own_expires <= floor(extract(epoch from clock_timestamp()) * 1000) then
            own_no := null;
          end if;
        end if;
      elsif change->>'kind' = 'create' then
        row_text := (select creation.id from statepad.creations creation where creation.id = change_id);
      end if;
    end if;
