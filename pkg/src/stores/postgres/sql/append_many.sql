-- Appends a batch of events, one for each of its sessions, each as commit does: by statements over sets, whose number
-- does not grow with the batch. It takes no guards but created, the fence and the revision, no reservation, no later
-- attempt of a call and no operators, and deletes no values of apps and users.
--
-- Arrays of one prefix have an element each for the same thing: a scope (its place is the one in these arrays, from
-- 1), an event (in the order of locking; its place likewise), a value. Answers a JSON object:
--
-- - events: in the order of locking ["written", rev, last, expires] or ["duplicate", rev, last, data, results, expires]:
--   the revision and the last event as they are before the batch, for a duplicate what is stored; and refusals as those
--   of commit
-- - scopes: by their places [number, pos, mark], before the batch
-- - deltas: for each thing that is known of a scope, what has happened to it since then, before the batch
-- - written: [number, name, at] for values of scopes that are written: the position at which each first was there
--
-- Where a session or a scope comes near a limit it writes nothing and answers null: commit knows the limits.
--
-- Sessions are locked first, then scopes, in the order of all calls. Each statement sees what was committed before it
-- began: what is looked at is looked at when all is locked. A statement costs by its parts, also where they find
-- nothing: what moves scopes has statements of its own.
create function statepad.append_many(
  -- Whether what they write to apps and users goes into the log.
  keeps_log boolean,
  -- Apps, which have the parent 0, and users, which have their app's place, in the order of locking; whether an event
  -- moves them.
  scope_parents integer[],
  scope_names text[],
  scope_moves boolean[],
  -- Beyond so many names and bytes a scope is near a limit; null where there is none.
  scope_max_names double precision[],
  scope_max_bytes double precision[],
  -- The place of each event in the batch, and its parts: the creation, the revision and the fence that its session
  -- must have, null where it may have any; and the names by which it moves its app and its user, as JSON lists, null
  -- where it does not.
  batch_indices integer[],
  app_places integer[],
  user_places integer[],
  session_ids text[],
  expected_created text[],
  expected_revs double precision[],
  expected_fences double precision[],
  ids text[],
  calls text[],
  times double precision[],
  event_times double precision[],
  event_data text[],
  app_names text[],
  user_names text[],
  -- The same for the session, and the revision beyond which it is near its limit.
  max_revs double precision[],
  max_names double precision[],
  max_bytes double precision[],
  -- Values that are set: the place of the event, 0 for the session's, 1 for the app's, 2 for the user's.
  set_events integer[],
  set_parts integer[],
  set_names text[],
  set_values text[],
  -- Values of sessions that are deleted before that.
  unset_events integer[],
  unset_names text[],
  -- What callers know of scopes.
  known_places integer[],
  known_positions bigint[],
  known_marks text[]
) returns text language plpgsql
  :settings
as $append$
declare
  moves_any boolean := true = any(scope_moves);
  -- By the place of a scope: its number, and its position before the batch.
  scope_nos bigint[];
  scope_positions bigint[];
  locked_nos bigint[];
  -- By the place of an event: null where it is not written; the positions where no scope is moved.
  session_nos bigint[];
  revs integer[];
  app_positions bigint[];
  user_positions bigint[];
  is_trimmed boolean;
  is_written boolean;
  is_near boolean;
  -- The time when all is locked, in milliseconds since the epoch.
  now_ms double precision;
  -- The sessions of deleted values, and the sizes of these.
  unset_nos bigint[];
  unset_sizes integer[];
  answer_events json;
  answer_scopes json;
  answer_deltas json;
  answer_written json;
begin
  select array_agg(scope.no order by request.place) into scope_nos
    from unnest(scope_parents, scope_names) with ordinality request (parent, name, place)
    left join statepad.scopes app on app.parent = 0 and app.name = scope_names[request.parent]
    left join statepad.scopes scope on scope.name = request.name
      and scope.parent = case request.parent when 0 then 0 else app.no end;
  select array_agg(locked.no) into locked_nos from (
    select session.no from unnest(user_places, session_ids) with ordinality request (user_place, id, place)
      join statepad.sessions session on session.usr = scope_nos[request.user_place] and session.id = request.id
      order by request.place for no key update of session) locked;
  if moves_any then
    perform from unnest(scope_moves) with ordinality request (moves, place)
      join statepad.scopes scope on scope.no = scope_nos[request.place]
      where request.moves order by request.place for no key update of scope;
  end if;

  now_ms := floor(extract(epoch from clock_timestamp()) * 1000);

  -- What becomes of each event: the rules are those of commit, for the guards that there are here. The subqueries are
  -- no exists: for many rows a planner would rather read the whole table first.
  with judged as materialized (
    select request.place, request.id, request.call, session.no, session.rev, session.fence,
        case
          when coalesce(request.created = session.created, true) and (select event.rev from statepad.events event
            where -event.session = -session.no and event.id = request.id) is not null then 'duplicate'
          when (select late.at from statepad.refused late where late.call = request.call) is not null then 'late'
          when session.no is null or request.created <> session.created then 'not-found'
          when request.fence <> session.fence then 'fenced'
          when request.rev <> session.rev then 'conflict'
          else 'written' end as ruling,
        coalesce(session.rev > request.max_rev or session.names > request.max_names
          or session.bytes > request.max_bytes, false) as is_near,
        case when session.ttl is null then session.expires else now_ms + session.ttl end as new_expires, session.expires,
        (select event.id from statepad.events event
          where event.session = session.no and event.rev = session.rev and event.rev > 0) as last
      from unnest(user_places, session_ids, expected_created, expected_revs, expected_fences, ids, calls, max_revs,
          max_names, max_bytes)
        with ordinality request (user_place, session_id, created, rev, fence, id, call, max_rev, max_names, max_bytes,
          place)
      left join statepad.sessions session on session.usr = scope_nos[request.user_place]
        and session.id = request.session_id and session.no = any(locked_nos)
        and coalesce(session.expires > now_ms, true)),
  scopes as materialized (
    select array_agg(coalesce(scope.pos, 0) order by request.place) as pos,
        json_agg(json_build_array(scope.no, coalesce(scope.pos, 0), scope.mark) order by request.place) as answer,
        bool_or(scope.names > request.max_names or scope.bytes > request.max_bytes) as is_near
      from unnest(scope_nos, scope_max_names, scope_max_bytes) with ordinality request (no, max_names, max_bytes, place)
      left join statepad.scopes scope on scope.no = request.no)
  select array_agg(case when judged.ruling = 'written' then judged.no end), array_agg(judged.rev + 1),
      json_agg(case judged.ruling
        when 'duplicate' then (
          select json_build_array(judged.ruling, judged.rev, judged.last, event.data, event.results, judged.expires)
            from statepad.events event where -event.session = -judged.no and event.id = judged.id)
        when 'fenced' then json_build_array(judged.ruling, judged.fence)
        when 'late' then json_build_array(judged.ruling,
          (select late.digest from statepad.refused late where late.call = judged.call))
        else json_build_array(judged.ruling, judged.rev, judged.last, judged.new_expires) end),
      bool_or(judged.ruling = 'written'),
      bool_or(judged.ruling = 'written' and (judged.is_near or (select coalesce(scopes.is_near, false) from scopes))),
      (select scopes.pos from scopes),
      (select scopes.answer from scopes),
      (select json_agg(case when known.pos < scopes.pos[known.place]
          then statepad.changed(scope_nos[known.place], known.pos, known.mark, scopes.pos[known.place]) end
          order by known.nth)
        from unnest(known_places, known_positions, known_marks) with ordinality known (place, pos, mark, nth), scopes)
    into session_nos, revs, answer_events, is_written, is_near, scope_positions, answer_scopes, answer_deltas
    from (select judged.* from judged order by judged.place) judged;
  if not exists (select from statepad.statepad_version version where version.version = :version) then
    perform statepad.refuse_version();
  end if;
  if is_near then
    return null;
  end if;

  if is_written and moves_any then
    -- Each event before an event, and that one itself, moves a scope by one if it is written and moves it.
    select array_agg(event.app_pos + event.app_moves), array_agg(event.user_pos + event.user_moves),
        bool_or((event.app_pos + event.app_moves) / :moves_between_trims > event.app_pos / :moves_between_trims
          or (event.user_pos + event.user_moves) / :moves_between_trims > event.user_pos / :moves_between_trims)
      into app_positions, user_positions, is_trimmed
      from (
        select scope_positions[event.app] as app_pos, scope_positions[event.usr] as user_pos,
            count(*) filter (where event.app_names is not null and session_nos[event.place] is not null)
              over (partition by event.app order by event.batch_index) as app_moves,
            count(*) filter (where event.user_names is not null and session_nos[event.place] is not null)
              over (partition by event.usr order by event.batch_index) as user_moves
          from unnest(batch_indices, app_places, user_places, app_names, user_names)
            with ordinality event (batch_index, app, usr, app_names, user_names, place)
          order by event.place) event;
  end if;
  if is_written and unset_events is not null then
    with gone as (
      delete from statepad.state state using unnest(unset_events, unset_names) unset (event, name)
        where state.owner = session_nos[unset.event] and state.name = unset.name
        returning state.owner, octet_length(state.value) + statepad.name_size(state.name) as size)
    select array_agg(gone.owner), array_agg(gone.size) into unset_nos, unset_sizes from gone;
  end if;
  if is_written then
    with written as (
      insert into statepad.events (session, rev, id, time, data, app_pos, user_pos)
        select session_nos[event.place], revs[event.place], event.id, event.time, event.data,
            case when keeps_log then coalesce(app_positions[event.place], scope_positions[event.app]) end,
            case when keeps_log then coalesce(user_positions[event.place], scope_positions[event.usr]) end
          from unnest(ids, event_times, event_data, app_places, user_places)
            with ordinality event (id, time, data, app, usr, place)
          where session_nos[event.place] is not null),
    kept as (
      insert into statepad.state as present (owner, name, value, at, nth)
        select session_nos[new.event], new.name, new.value, revs[new.event], new.nth
          from unnest(set_events, set_parts, set_names, set_values) with ordinality new (event, part, name, value, nth)
          where new.part = 0 and session_nos[new.event] is not null
        on conflict (owner, name) do update set value = excluded.value, was = octet_length(present.value)
          where present.value <> excluded.value
        returning present.owner, (present.was is null)::integer as names,
          octet_length(present.value) - coalesce(present.was, -statepad.name_size(present.name)) as size)
    update statepad.sessions session
      set rev = revs[event.place], time = times[event.place], names = session.names + event.names,
        bytes = session.bytes + event.bytes,
        expires = case when session.ttl is null then session.expires else now_ms + session.ttl end
      from (
        select part.place, sum(part.names) as names, sum(part.size) as bytes from (
          select place, 0 as names, 0 as size from generate_subscripts(session_nos, 1) place
          union all
          select array_position(session_nos, kept.owner), kept.names, kept.size from kept
          union all
          select array_position(session_nos, gone.no), -1, -gone.size from unnest(unset_nos, unset_sizes) gone (no, size))
          part
          group by part.place) event
      where session.usr = scope_nos[user_places[event.place]] and session.id = session_ids[event.place]
        and session_nos[event.place] is not null;
  end if;
  if is_written and moves_any then
    with moving as materialized (
      select scope_nos[event.scope] as no, app_positions[event.place] as pos, event.call, event.names
        from unnest(app_places, calls, app_names) with ordinality event (scope, call, names, place)
        where event.names is not null and session_nos[event.place] is not null
      union all
      select scope_nos[event.scope], user_positions[event.place], event.call, event.names
        from unnest(user_places, calls, user_names) with ordinality event (scope, call, names, place)
        where event.names is not null and session_nos[event.place] is not null),
    noted as (
      insert into statepad.moves (scope, pos, mark, names)
        select moving.no, moving.pos, moving.call, moving.names::jsonb from moving),
    sets as materialized (
      select new.event, new.name, new.value, new.nth,
          scope_nos[(case new.part when 1 then app_places else user_places end)[new.event]] as scope,
          (case new.part when 1 then app_positions else user_positions end)[new.event] as pos
        from unnest(set_events, set_parts, set_names, set_values) with ordinality new (event, part, name, value, nth)
        where new.part > 0 and session_nos[new.event] is not null),
    logged as (
      insert into statepad.log (scope, pos, nth, name, was, value, time, user_id, session_id, event)
        select new.scope, new.pos, new.nth, new.name,
            coalesce(lag(new.value) over (partition by new.scope, new.name order by new.pos), old.value), new.value,
            times[new.event], scope_names[user_places[new.event]], session_ids[new.event], ids[new.event]
          from sets new left join statepad.state old on old.owner = new.scope and old.name = new.name
          where keeps_log),
    shared as (
      insert into statepad.state as present (owner, name, value, at, nth)
        select new.scope, new.name, (array_agg(new.value order by new.pos desc))[1], min(new.pos),
            (array_agg(new.nth order by new.pos))[1]
          from sets new
          group by new.scope, new.name
        on conflict (owner, name) do update set value = excluded.value, was = octet_length(present.value)
          where present.value <> excluded.value
        returning present.owner, present.name, present.at, (present.was is null)::integer as names,
          octet_length(present.value) - coalesce(present.was, -statepad.name_size(present.name)) as size),
    moved as (
      update statepad.scopes scope
        set pos = last.pos, mark = last.call, base = case when keeps_log then scope.base else last.pos end,
          changed = now(), due = least(scope.due, now()), names = scope.names + last.names,
          bytes = scope.bytes + last.bytes
        from (
          select step.no, max(step.pos) as pos, (array_agg(step.call order by step.pos desc nulls last))[1] as call,
              sum(step.names) as names, sum(step.size) as bytes
            from (
              select moving.no, moving.pos, moving.call, 0 as names, 0 as size from moving
              union all
              select shared.owner, null, null, shared.names, shared.size from shared) step
            group by step.no) last
        where scope.no = last.no)
    select json_agg(json_build_array(shared.owner, shared.name, shared.at)) into answer_written from shared;
  end if;
  if is_trimmed then
    delete from statepad.moves move using unnest(scope_nos, scope_moves) scope (no, moves)
      where scope.moves and move.scope = scope.no
        and move.pos <= (select moved.pos from statepad.scopes moved where moved.no = scope.no) - :reported_moves;
  end if;
  return json_build_object('events', answer_events, 'scopes', answer_scopes, 'deltas', answer_deltas,
    'written', answer_written);
end
$append$;
