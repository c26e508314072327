-- Commits a batch of changes, one after the other: what changes something does so in one call, which is one statement
-- and one transaction. It takes the parts of a batch as batchOf writes them, and answers a JSON list with an answer
-- for each change, in their order:
--
-- - [rev, app, user, last, appMark, userMark, appChanged, userChanged, results, expires]: written; the positions of the
--   app and the user after it; the event and the marks before it; what others have changed since what the caller knew;
--   what the operators came to; and when the session expires
-- - ["duplicate", rev, app, user, last, appMark, userMark, data, results, digest, expires]: all as it is now
-- - ["conflict", actual], ["fenced", actual], ["exists"], ["not-found"], and ["late", digest] where another attempt of
--   the call was refused
-- - ["misfit", index, fault]: the operator at that index does not fit
-- - ["limit", limit, scope, size, name]: there would be more than the change allows
--
-- Limits are compared by check_limits, and only where a change may come near one: where there are more bytes, or events,
-- than the room that it leaves; there are never more names than bytes. It raises :crowded where a scope has grown beyond that between the look at it
-- and its move: nothing is written, and the same change is right with that scope among the locks.
--
-- It locks first and looks then: a statement sees what was committed before it began. All calls lock in one order, so
-- that none waits in a circle: new scopes, sessions, scopes, counts, refused calls, and each of them in the order of
-- their names or numbers.
--
-- A call that was refused is found by its other attempts, which do not look for it before they have their locks: both
-- lock the session, or its place among all sessions, or the scopes of an update. An update locks its scopes always.
--
-- Most of its time goes into getting each of its statements and expressions ready, once in a transaction: so what is
-- looked for at one moment is one statement, and so is what is written together, and what is rare is behind one
-- condition.
create function statepad.commit(scopes text, sessions text, locks text, changes text, keeps_log boolean) returns text
language plpgsql
  :settings
as $commit$
declare
  scope_list jsonb[] := scopes::jsonb[];
  session_list jsonb[] := sessions::jsonb[];
  change_list jsonb[] := changes::jsonb[];
  is_single boolean := cardinality(change_list) = 1;
  item jsonb;
  change jsonb;
  change_id text;
  change_call text;
  is_append boolean;
  -- Whether it moves a scope.
  is_moving boolean;
  place integer := 0;
  row_no bigint;
  row_pos bigint;
  row_rev integer;
  row_text text;
  row_names integer;
  row_bytes bigint;
  row_ttl double precision;
  row_expires double precision;
  -- By the place of a scope in the request.
  scope_no bigint[];
  scope_pos bigint[];
  scope_mark text[];
  is_locked boolean[];
  is_unused boolean[];
  -- By the place of a change in the request.
  session_no bigint[];
  session_rev integer[];
  session_created text[];
  session_names integer[];
  session_bytes bigint[];
  session_ttl double precision[];
  session_expires double precision[];
  is_new boolean[];
  -- The numbers of the sessions that have expired, in whose places others are created.
  expired_no bigint[];
  -- Whether there is one session or app alone, which was found at once.
  is_one boolean := false;
  -- Of the change.
  app_place integer;
  user_place integer;
  app_no bigint;
  user_no bigint;
  own_no bigint;
  own_rev integer;
  own_created text;
  own_names integer;
  own_bytes bigint;
  own_ttl double precision;
  own_expires double precision;
  is_near boolean;
  -- The names and bytes that are added to the session, the app and the user, or taken from them.
  added bigint[];
  removed bigint[];
  app_pos bigint;
  user_pos bigint;
  app_mark text;
  user_mark text;
  last_id text;
  is_late boolean;
  is_ours boolean;
  answer text;
  answers text[];
  -- Of a scope of the change: what it is at before it, its mark there, and what others did.
  scope_place integer;
  before_pos bigint;
  known_pos bigint;
  delta json;
  app_delta json;
  user_delta json;
  is_behind boolean;
  -- Of the operators of the change: what they set, what is kept of that, and the index of the first that does not fit.
  op_sets jsonb;
  op_results text;
  misfit integer;
  fault text;
  -- The calls that are refused now, and the digests of these changes.
  refused text[];
  refused_digests text[];
  -- The sessions that are created: their apps, their users and their ids.
  new_apps bigint[];
  new_users bigint[];
  new_ids text[];
  new_expire boolean[];
  has_updates boolean := false;
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

    -- What was made before and what is refused. One condition comes before all of it: most changes are new and carry
    -- no guard.
    if row_text is not null or is_late or refused is not null or not is_ours or change ? 'guard'
      or not is_append or own_no is null or change->>'created' <> own_created or change ? 'ops' or is_near
    then
      if not is_ours then
        perform statepad.refuse_version();
      end if;
      case change->>'kind'
        when 'append' then
          if own_no is null or change->>'created' <> own_created then
            answer := '["not-found"]';
          elsif row_text is not null then
            answer := 'duplicate';
          end if;
        when 'create' then
          if row_text is not null or own_created = change_id then
            answer := 'duplicate';
            if own_created is distinct from change_id then
              own_rev := 0;
            end if;
            row_text := null;
          elsif is_new[place] is null then
            answer := '["exists"]';
          end if;
        else
          if row_text is not null then
            answer := 'duplicate';
            row_text := null;
          end if;
      end case;
      if answer = 'duplicate' then
        answer := json_build_array(answer, own_rev, app_pos, user_pos, last_id, app_mark, user_mark, row_text,
          case change->>'kind'
            when 'append' then
              (select event.results from statepad.events event
                where -event.session = -own_no and event.id = change_id)
            when 'update' then
              (select done.results from statepad.updates done
                where done.scope = coalesce(user_no, app_no) and done.id = change_id)
          end,
          case change->>'kind'
            when 'create' then
              case when own_created = change_id
                then (select session.digest from statepad.sessions session
                  where session.usr = user_no and session.id = change->>'session')
                else (select creation.digest from statepad.creations creation where creation.id = change_id) end
            when 'update' then
              (select done.digest from statepad.updates done
                where done.scope = coalesce(user_no, app_no) and done.id = change_id)
          end, case when change->>'kind' <> 'create' or own_created = change_id then own_expires end);
        if change ? 'reservation' then
          delete from statepad.reservations reservation
            where reservation.target = (change->'reservation'->>0)::bigint
              and reservation.ticket = (change->'reservation'->>1)::bigint;
        end if;
      elsif is_late or change_call = any(refused) then
        answer := json_build_array('late', case
          when is_late then (select late.digest from statepad.refused late where late.call = change_call)
          else refused_digests[array_position(refused, change_call)] end);
      elsif answer is null and change ? 'guard' then
        answer := statepad.check_guard(change, app_no, app_pos, user_no, user_pos, own_no, own_rev);
      end if;
      if answer is null and change ? 'ops' then
        -- What operators come to is set behind all else.
        select resolved.sets, resolved.results, resolved.misfit, resolved.fault
          into op_sets, op_results, misfit, fault
          from statepad.resolve_operators(change->'ops', app_no, user_no, own_no) resolved;
        if misfit is null then
          change := change || jsonb_build_object('set', coalesce(change->'set', '[]') || op_sets);
          if change ? 'room' and octet_length(op_sets::text) > :reserved_bytes then
            is_near := true;
          end if;
        else
          answer := json_build_array('misfit', misfit - 1, substr(fault, 2));
        end if;
      end if;
      if answer is null and is_near then
        if is_single then
          -- The app first: it has no parent.
          perform from statepad.scopes scope
            where scope.no in (
              select scope_no[(moved.item->0)::int] from jsonb_array_elements(change->'scopes') moved (item)
                where jsonb_typeof(moved.item->1) = 'array')
            order by scope.parent for no key update;
        end if;
        answer := statepad.check_limits(change, app_no, user_no, own_no, own_rev);
      end if;
      if answer is not null then
        answers[place] := answer;
        if is_new[place] then
          delete from statepad.sessions session
            where session.usr = user_no and session.id = change->>'session' and session.no = own_no;
        end if;
        if change ? 'attempt' and answer not like '["duplicate%' then
          refused := refused || change_call;
          refused_digests := array_append(refused_digests, change->>'digest');
        end if;
        continue;
      end if;
    end if;

    if is_unused is not null then
      if not is_append then
        is_unused[app_place] := false;
        is_unused[coalesce(user_place, app_place)] := false;
      end if;
    end if;

    -- Moves the scopes, and finds out what others have done to those of which something is known. A scope that is
    -- locked already is moved in the variables alone, and written with the others at the end of the batch. What may be
    -- null in JSON is read as text: before Postgres 18 a number cannot be cast from the JSON null.
    if is_moving or (change->'app_known')::bigint <> app_pos or (change->'user_known')::bigint <> user_pos then
      for index in 0..jsonb_array_length(change->'scopes') - 1 loop
        item := change->'scopes'->index;
        scope_place := (item->0)::int;
        row_no := scope_no[scope_place];
        row_pos := case when scope_place = app_place then app_pos else user_pos end;
        row_text := case when scope_place = app_place then app_mark else user_mark end;
        known_pos := (item->>2)::bigint;
        delta := null;
        if jsonb_typeof(item->1) = 'array' and (is_single or is_locked[scope_place] is null) then
          before_pos := row_pos;
          with moved as (
            update statepad.scopes scope set pos = scope.pos + 1, mark = change_call, changed = now(),
                due = least(scope.due, now()), base = case when keeps_log then scope.base else scope.pos + 1 end
              where scope.no = row_no and coalesce(is_near or scope.bytes <= (change->'room')::float8, true)
              returning scope.no, scope.pos)
          insert into statepad.moves as move (scope, pos, mark, names)
            select moved.no, moved.pos, change_call, item->1 from moved
            returning move.pos, known_pos < move.pos - 1 into row_pos, is_behind;
          if row_pos is null then
            raise exception using errcode = ':crowded', message = 'a scope has grown meanwhile';
          end if;
          if is_behind or before_pos <> row_pos - 1 then
            select (select move.mark from statepad.moves move where move.scope = row_no and move.pos = row_pos - 1),
                case when is_behind then statepad.changed(row_no, known_pos, item->>3, row_pos - 1) end
              into row_text, delta;
          end if;
        else
          if known_pos < row_pos and is_locked[scope_place] then
            delta := statepad.changed(row_no, known_pos, item->>3, row_pos);
          elsif known_pos <> row_pos then
            -- It is not locked: its position and what has happened to it have to be of one moment.
            select scope.pos, scope.mark,
                case when known_pos < scope.pos then statepad.changed(scope.no, known_pos, item->>3, scope.pos) end
              into row_pos, row_text, delta from statepad.scopes scope where scope.no = row_no;
          end if;
          if jsonb_typeof(item->1) = 'array' then
            row_pos := row_pos + 1;
            insert into statepad.moves (scope, pos, mark, names) values (row_no, row_pos, change_call, item->1);
            scope_pos[scope_place] := row_pos;
            scope_mark[scope_place] := change_call;
          end if;
        end if;
        if scope_place = app_place then
          app_pos := row_pos;
          app_mark := row_text;
          app_delta := delta;
        else
          user_pos := row_pos;
          user_mark := row_text;
          user_delta := delta;
        end if;
        if row_pos % :moves_between_trims = 0 and jsonb_typeof(item->1) = 'array' then
          delete from statepad.moves move where move.scope = row_no and move.pos <= row_pos - :reported_moves;
        end if;
      end loop;
    end if;

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

  -- What the changes of a batch have in common is written at its end.
  if not is_one or refused is not null or has_updates then
    if not is_single then
      foreach place in array locks::integer[] loop
        update statepad.scopes scope set pos = scope_pos[place], mark = scope_mark[place], changed = now(),
            due = least(scope.due, now()), base = case when keeps_log then scope.base else scope_pos[place] end
          where scope.no = scope_no[place] and scope.pos <> scope_pos[place];
      end loop;
    end if;
    if is_unused is not null then
      delete from statepad.scopes scope where scope.no = any(
        select scope_no[new.place] from generate_subscripts(is_unused, 1) new (place) where is_unused[new.place]);
    end if;
    if new_ids is not null then
      with owned as (
        insert into statepad.owners (app, id, usr, expires)
          select created.app, created.id, created.usr, created.expires
            from unnest(new_apps, new_ids, new_users, new_expire) created (app, id, usr, expires))
      insert into statepad.counts as old (scope, shard, sessions)
        select scope.no, pg_backend_pid() % :shards, count(*) from unnest(new_apps || new_users) scope (no)
          group by scope.no order by scope.no
        on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
    end if;
    if refused is not null then
      insert into statepad.refused (call, digest)
        select distinct on (late.call) late.call, late.digest
          from unnest(refused, refused_digests) with ordinality late (call, digest, nth) order by late.call, late.nth
        on conflict do nothing;
      delete from statepad.refused old where old.ctid = any(array(
        select done.ctid from statepad.refused done where done.at < now() - :remembered
        order by done.at limit 100 for update skip locked));
    end if;
    if has_updates then
      delete from statepad.updates old where old.ctid = any(array(
        select done.ctid from statepad.updates done where done.at < now() - :remembered
        order by done.at limit 100 for update skip locked));
    end if;
  end if;
  return '[' || array_to_string(answers, ',') || ']';
end
$commit$;
