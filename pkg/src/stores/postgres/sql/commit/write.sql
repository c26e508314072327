-- Of the function in declare.sql: writes a change, answers it, and ends its round.
    if is_moving and keeps_log then
      -- Written before the values are.
      if change ? 'unset' then
        perform statepad.log_deletions(change, app_no, app_pos, user_no, user_pos, scope_list[user_place]->>1);
      end if;
      insert into statepad.log (scope, pos, nth, name, was, value, time, user_id, session_id, event)
        select old.owner, case new.key->>0 when 'app' then app_pos else user_pos end, new.nth, new.key->>1, state.value,
            new.key->>2, (change->'time')::float8, case when change ? 'session' then scope_list[user_place]->>1 end,
            change->>'session', case change->>'kind' when 'append' then change_id end
          from jsonb_array_elements(change->'set') with ordinality new (key, nth)
          cross join lateral (select case new.key->>0 when 'app' then app_no else user_no end as owner) old
          left join statepad.state state on state.owner = old.owner and state.name = new.key->>1
          where new.key->>0 <> 'session';
    end if;
    if change ?| array['unset', 'reservation'] then
      with gone as (
        delete from statepad.state state using jsonb_array_elements(change->'unset') unset (key)
          where state.name = unset.key->>1
            and state.owner = case unset.key->>0 when 'app' then app_no when 'user' then user_no else own_no end
          returning state.owner, octet_length(state.value) + statepad.name_size(state.name) as size)
      select array[
          count(*) filter (where gone.owner = own_no), coalesce(sum(gone.size) filter (where gone.owner = own_no), 0),
          count(*) filter (where gone.owner = app_no), coalesce(sum(gone.size) filter (where gone.owner = app_no), 0),
          count(*) filter (where gone.owner = user_no), coalesce(sum(gone.size) filter (where gone.owner = user_no), 0)]
        into removed from gone;
      own_names := own_names - removed[1];
      own_bytes := own_bytes - removed[2];
      delete from statepad.reservations reservation
        where reservation.target = (change->'reservation'->>0)::bigint
          and reservation.ticket = (change->'reservation'->>1)::bigint;
    end if;
    if own_ttl is not null then
      own_expires := floor(extract(epoch from clock_timestamp()) * 1000) + own_ttl;
    end if;
    if is_append and not is_moving then
      -- Most changes write to a session alone: one statement writes all of it.
      own_rev := own_rev + 1;
      if change ? 'set' then
        with written as (
          insert into statepad.events (session, rev, id, time, data, results, app_pos, user_pos)
            values (own_no, own_rev, change_id, (change->'at')::float8, change->>'data', op_results,
              case when keeps_log then app_pos end, case when keeps_log then user_pos end)),
        kept as (
          insert into statepad.state as present (owner, name, value, at, nth)
            select own_no, new.key->>1, new.key->>2, own_rev, new.nth
              from jsonb_array_elements(change->'set') with ordinality new (key, nth)
            on conflict (owner, name) do update set value = excluded.value, was = octet_length(present.value)
              where present.value <> excluded.value
            returning (present.was is null)::integer as names,
              octet_length(present.value) - coalesce(present.was, -statepad.name_size(present.name)) as size)
        update statepad.sessions session set rev = own_rev, time = (change->'time')::float8, expires = own_expires,
            names = own_names + grown.names, bytes = own_bytes + grown.bytes
          from (select coalesce(sum(kept.names), 0) as names, coalesce(sum(kept.size), 0) as bytes from kept) grown
          where session.usr = user_no and session.id = change->>'session';
      else
        with written as (
          insert into statepad.events (session, rev, id, time, data, results, app_pos, user_pos)
            values (own_no, own_rev, change_id, (change->'at')::float8, change->>'data', op_results,
              case when keeps_log then app_pos end, case when keeps_log then user_pos end))
        update statepad.sessions session set rev = own_rev, time = (change->'time')::float8, expires = own_expires,
            names = own_names, bytes = own_bytes
          where session.usr = user_no and session.id = change->>'session';
      end if;
      answers[place] := json_build_array(own_rev, app_pos, user_pos, last_id, app_mark, user_mark, app_delta,
        user_delta, op_results, own_expires);
      continue;
    end if;
    if change ? 'set' then
      with kept as (
        insert into statepad.state as present (owner, name, value, at, nth)
          select case new.key->>0 when 'app' then app_no when 'user' then user_no else own_no end,
              new.key->>1, new.key->>2,
              case new.key->>0 when 'app' then app_pos when 'user' then user_pos
                else own_rev + is_append::integer end, new.nth
            from jsonb_array_elements(change->'set') with ordinality new (key, nth)
          on conflict (owner, name) do update set value = excluded.value, was = octet_length(present.value)
            where present.value <> excluded.value
          returning present.owner, (present.was is null)::integer as names,
            octet_length(present.value) - coalesce(present.was, -statepad.name_size(present.name)) as size)
      select array[
          coalesce(sum(kept.names) filter (where kept.owner = own_no), 0),
          coalesce(sum(kept.size) filter (where kept.owner = own_no), 0),
          coalesce(sum(kept.names) filter (where kept.owner = app_no), 0),
          coalesce(sum(kept.size) filter (where kept.owner = app_no), 0),
          coalesce(sum(kept.names) filter (where kept.owner = user_no), 0),
          coalesce(sum(kept.size) filter (where kept.owner = user_no), 0)]
        into added from kept;
      own_names := own_names + added[1];
      own_bytes := own_bytes + added[2];
    end if;
    if is_moving and (added[3:6] <> '{0,0,0,0}' or removed[3:6] <> '{0,0,0,0}') then
      update statepad.scopes scope set names = scope.names + size.names, bytes = scope.bytes + size.bytes
        from (values
          (app_no, coalesce(added[3], 0) - coalesce(removed[3], 0), coalesce(added[4], 0) - coalesce(removed[4], 0)),
          (user_no, coalesce(added[5], 0) - coalesce(removed[5], 0), coalesce(added[6], 0) - coalesce(removed[6], 0)))
          size (no, names, bytes)
        where scope.no = size.no and (size.names <> 0 or size.bytes <> 0);
    end if;
    if is_append then
      own_rev := own_rev + 1;
      with written as (
        insert into statepad.events (session, rev, id, time, data, results, app_pos, user_pos)
          values (own_no, own_rev, change_id, (change->'at')::float8, change->>'data', op_results,
            case when keeps_log then app_pos end, case when keeps_log then user_pos end))
      update statepad.sessions session set rev = own_rev, time = (change->'time')::float8, expires = own_expires,
          names = own_names, bytes = own_bytes
        where session.usr = user_no and session.id = change->>'session';
    elsif change->>'kind' = 'create' then
      if expired_no[place] is null then
        new_apps := new_apps || app_no;
        new_users := new_users || user_no;
        new_ids := new_ids || (change->>'session');
        new_expire := new_expire || (own_expires is not null);
      else
        -- The one that has expired is removed: its number is that of its events and values.
        delete from statepad.events event where event.session = expired_no[place];
        delete from statepad.state state where state.owner = expired_no[place];
        insert into statepad.creations (id, digest)
          select session.created, session.digest from statepad.sessions session
            where session.usr = user_no and session.id = change->>'session'
          on conflict do nothing;
        update statepad.sessions session
          set no = own_no, created = change_id, digest = change->>'digest', rev = 0, time = (change->'time')::float8,
            fence = 0, holder = null, held_until = null, names = 0, bytes = 0, ttl = (change->'ttl')::float8,
            expires = own_expires
          where session.usr = user_no and session.id = change->>'session';
        update statepad.owners owner set expires = own_expires is not null
          where owner.app = app_no and owner.id = change->>'session' and owner.usr = user_no;
      end if;
      if own_names > 0 then
        update statepad.sessions session set names = own_names, bytes = own_bytes
          where session.usr = user_no and session.id = change->>'session';
      end if;
      if change ? 'data' then
        -- It has an id that no other event can have (toColumn never writes it): nothing appended is a duplicate of it.
        insert into statepad.events (session, rev, id, time, data, results, app_pos, user_pos)
          values (own_no, 0, chr(1), (change->'at')::float8, change->>'data', op_results,
            case when keeps_log then app_pos end, case when keeps_log then user_pos end);
      end if;
    else
      insert into statepad.updates (scope, id, results, digest)
        values (coalesce(user_no, app_no), change_id, op_results, change->>'digest');
      has_updates := true;
    end if;
    answers[place] := json_build_array(own_rev, app_pos, user_pos, last_id, app_mark, user_mark, app_delta, user_delta,
      op_results, own_expires);
  end loop;
