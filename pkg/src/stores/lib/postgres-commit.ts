// The functions inside the database: what changes something does so in one call, which is one statement and one transaction.

/**
 * How the functions are run: with plans that are made once, and go through indexes whatever the tables were like when they
 * were made. Nothing but Postgres's own functions and operators is found by an unqualified name.
 */
const SETTINGS = `language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off`;

/** In how many parts the sessions of a scope are counted: those who create some at once do not wait for each other. */
const SHARDS = 16;

/**
 * The function that commits. It takes a batch as `batchOf` writes it and answers a JSON list with an answer for each change
 * of the batch, in its order:
 *
 * - `[rev, app, user]`: written; the positions of the app and the user after it
 * - `["duplicate", rev, app, user, data]`
 * - `["conflict", actual]`, `["exists"]`, `["not-found"]`
 *
 * It locks first and looks then: a statement sees what was committed before it began. Everybody locks in one order, so that
 * nobody waits in a circle: new scopes, new sessions, sessions, scopes, counts, and each of them in an order of their own.
 */
export function commitFunction(schema: string): string {
  return `create function ${schema}.commit_v1(batch text) returns text ${SETTINGS}
as $commit$
declare
  request constant jsonb := batch::jsonb;
  step jsonb;
  change record;
  found_row record;
  -- By the place of a scope in the request.
  scope_no bigint[];
  scope_pos bigint[];
  -- By the place of a change in the request.
  session_no bigint[];
  session_rev integer[];
  session_created text[];
  app_pos bigint[];
  user_pos bigint[];
  is_written boolean[];
  answers text[];
  -- The sessions that this call has created.
  made bigint[];
  actual integer;
  pos_text text;
begin
  -- Which scopes there are. Those that are missing are made: they say nothing yet.
  loop
    select array_agg(case when wanted.names->>1 is null then app.no else usr.no end order by wanted.i),
      array_agg(case when wanted.names->>1 is null then app.pos else usr.pos end order by wanted.i)
      into scope_no, scope_pos
      from jsonb_array_elements(request->'scopes') with ordinality wanted (names, i)
      left join ${schema}.scopes app on app.parent = 0 and app.name = wanted.names->>0
      left join ${schema}.scopes usr on usr.parent = app.no and usr.name = wanted.names->>1;
    exit when array_position(scope_no, null) is null;
    insert into ${schema}.scopes (parent, name)
      select 0, wanted.names->>0 from jsonb_array_elements(request->'scopes') with ordinality wanted (names, i)
      where wanted.names->>1 is null order by wanted.i
      on conflict do nothing;
    insert into ${schema}.scopes (parent, name)
      select app.no, wanted.names->>1 from jsonb_array_elements(request->'scopes') with ordinality wanted (names, i)
      join ${schema}.scopes app on app.parent = 0 and app.name = wanted.names->>0
      where wanted.names->>1 is not null order by wanted.i
      on conflict do nothing;
  end loop;

  -- A session is created at once, and taken back when the change is refused: so nobody else can create it meanwhile.
  if request ? 'creates' then
    with new_session as (
      insert into ${schema}.sessions (usr, id, app, user_id, created, rev, time)
        select scope_no[new.usr], new.session, scope_no[new.app], new.user_id, new.id, 0, new.time
        from jsonb_array_elements(request->'steps') steps (list),
          jsonb_to_recordset(steps.list) new (kind text, app int, usr int, user_id text, session text, id text, time float8)
        where new.kind = 'create' order by scope_no[new.usr], new.session collate "C"
        on conflict do nothing
        returning no)
    select array_agg(new_session.no) into made from new_session;
  end if;
  for found_row in
    select wanted.i, session.no, session.rev, session.created
      from jsonb_array_elements(request->'steps') steps (list),
        jsonb_to_recordset(steps.list) wanted (i int, usr int, session text)
      join ${schema}.sessions session on session.usr = scope_no[wanted.usr] and session.id = wanted.session
      order by session.usr, session.id for no key update of session
  loop
    session_no[found_row.i] := found_row.no;
    session_rev[found_row.i] := found_row.rev;
    session_created[found_row.i] := found_row.created;
  end loop;
  if request ? 'locks' then
    for found_row in
      select wanted.i::int as i, scope.pos
        from jsonb_array_elements_text(request->'locks') wanted (i)
        join ${schema}.scopes scope on scope.no = scope_no[wanted.i::int]
        order by scope.no for no key update of scope
    loop
      scope_pos[found_row.i] := found_row.pos;
    end loop;
  end if;

  for step in select steps.list from jsonb_array_elements(request->'steps') steps (list) loop
    -- What is known of each change, and whether its guard holds.
    for change in
      select * from jsonb_to_recordset(step) change (i int, kind text, app int, usr int, session text, id text,
        app_moves boolean, user_moves boolean, created text, rev float8, app_pos float8, user_pos float8, keys jsonb)
    loop
      pos_text := scope_pos[change.app] || ',' || coalesce(scope_pos[change.usr], 0);
      if change.kind = 'create' then
        if session_no[change.i] = any(made) then
          null;
        elsif session_created[change.i] = change.id then
          answers[change.i] := '["duplicate",' || session_rev[change.i] || ',' || pos_text || ']';
          continue;
        else
          answers[change.i] := '["exists"]';
          continue;
        end if;
      elsif change.kind = 'append' then
        if session_no[change.i] is null or change.created <> session_created[change.i] then
          answers[change.i] := '["not-found"]';
          continue;
        end if;
        select to_json(event.data)::text as data into found_row
          from ${schema}.events event where event.session = session_no[change.i] and event.id = change.id;
        if found then
          answers[change.i] := '["duplicate",' || session_rev[change.i] || ',' || pos_text || ',' || found_row.data || ']';
          continue;
        end if;
      else
        perform from ${schema}.updates done where done.scope = scope_no[coalesce(change.usr, change.app)] and done.id = change.id;
        if found then
          answers[change.i] := '["duplicate",0,' || pos_text || ']';
          continue;
        end if;
      end if;

      actual := coalesce(session_rev[change.i], 0);
      if change.rev <> actual then
        answers[change.i] := '["conflict",' || actual || ']';
      elsif change.app_pos <> scope_pos[change.app] or change.user_pos <> coalesce(scope_pos[change.usr], 0) then
        answers[change.i] := '["conflict"]';
      elsif change.keys is not null then
        -- A key that is expected to be absent is null here, and so is one that is.
        perform from jsonb_array_elements(change.keys) expected (key)
          left join ${schema}.state state on state.name = expected.key->>1 and state.owner =
            case expected.key->>0 when 'app' then scope_no[change.app] when 'user' then scope_no[change.usr] else session_no[change.i] end
          where state.value is distinct from expected.key->>2;
        if found then
          answers[change.i] := '["conflict"]';
        end if;
      end if;
      if answers[change.i] is not null then
        if change.kind = 'create' then
          delete from ${schema}.sessions session where session.usr = scope_no[change.usr] and session.id = change.session;
          made := array_remove(made, session_no[change.i]);
        end if;
        continue;
      end if;

      is_written[change.i] := true;
      if change.app_moves then
        scope_pos[change.app] := scope_pos[change.app] + 1;
      end if;
      if change.user_moves then
        scope_pos[change.usr] := scope_pos[change.usr] + 1;
      end if;
      app_pos[change.i] := scope_pos[change.app];
      user_pos[change.i] := coalesce(scope_pos[change.usr], 0);
      if change.kind = 'append' then
        session_rev[change.i] := session_rev[change.i] + 1;
      elsif change.kind = 'update' then
        insert into ${schema}.updates (scope, id) values (scope_no[coalesce(change.usr, change.app)], change.id);
      end if;
      answers[change.i] := '[' || coalesce(session_rev[change.i], 0) || ',' || app_pos[change.i] || ',' || user_pos[change.i] || ']';
    end loop;

    -- All of them are written together.
    if request ? 'appends' then
      insert into ${schema}.events (session, rev, id, time, data)
        select session_no[new.i], session_rev[new.i], new.id, new.at, new.data
        from jsonb_to_recordset(step) new (i int, kind text, id text, at float8, data text)
        where new.kind = 'append' and is_written[new.i];
      update ${schema}.sessions session set rev = session_rev[new.i], time = new.time
        from jsonb_to_recordset(step) new (i int, kind text, usr int, session text, time float8)
        where new.kind = 'append' and is_written[new.i] and session.usr = scope_no[new.usr] and session.id = new.session;
    end if;
    if request ? 'unsets' then
      delete from ${schema}.state state
        using jsonb_to_recordset(step) new (i int, app int, usr int, unset jsonb), jsonb_array_elements(new.unset) unset (key)
        where is_written[new.i] and state.name = unset.key->>1 and state.owner =
          case unset.key->>0 when 'app' then scope_no[new.app] when 'user' then scope_no[new.usr] else session_no[new.i] end;
    end if;
    -- Of those who set the same name the first gives it its place, and the last its value.
    insert into ${schema}.state as old (owner, name, value, at, nth)
      select new.owner, new.name, (array_agg(new.value order by new.i desc))[1],
        (array_agg(new.at order by new.i))[1], (array_agg(new.nth order by new.i))[1]
      from (
        select new.i, key.nth, key.parts->>1 as name, key.parts->>2 as value,
          case key.parts->>0 when 'app' then scope_no[new.app] when 'user' then scope_no[new.usr] else session_no[new.i] end as owner,
          case key.parts->>0 when 'app' then app_pos[new.i] when 'user' then user_pos[new.i] else session_rev[new.i] end as at
        from jsonb_to_recordset(step) new (i int, app int, usr int, set jsonb),
          jsonb_array_elements(new.set) with ordinality key (parts, nth)
        where is_written[new.i]) new
      group by new.owner, new.name
      on conflict (owner, name) do update set value = excluded.value where old.value <> excluded.value;
  end loop;

  if request ? 'locks' then
    update ${schema}.scopes scope set pos = scope_pos[wanted.i::int]
      from jsonb_array_elements_text(request->'locks') wanted (i)
      where scope.no = scope_no[wanted.i::int] and scope.pos <> scope_pos[wanted.i::int];
  end if;
  if cardinality(made) > 0 then
    insert into ${schema}.counts as old (scope, shard, sessions)
      select scope.no, pg_backend_pid() % ${SHARDS}, count(*)
      from jsonb_array_elements(request->'steps') steps (list),
        jsonb_to_recordset(steps.list) new (i int, app int, usr int), unnest(array[scope_no[new.app], scope_no[new.usr]]) scope (no)
      where session_no[new.i] = any(made) group by scope.no order by scope.no
      on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
  end if;
  if request ? 'updates' then
    -- Whoever sends an update again does it soon.
    delete from ${schema}.updates old where old.ctid = any(array(
      select done.ctid from ${schema}.updates done where done.at < now() - interval '1 day'
      order by done.at limit 100 for update skip locked));
  end if;
  return '[' || array_to_string(answers, ',') || ']';
end
$commit$`;
}

/** The function that deletes a session. Says whether it was there. */
export function removeFunction(schema: string): string {
  return `create function ${schema}.remove_v1(app_name text, user_name text, session_id text) returns boolean ${SETTINGS}
as $remove$
declare
  gone record;
begin
  select session.no, session.app, session.usr into gone
    from ${schema}.scopes app
    join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
    join ${schema}.sessions session on session.usr = usr.no and session.id = session_id
    where app.parent = 0 and app.name = app_name
    for update of session;
  if not found then
    return false;
  end if;
  delete from ${schema}.events event where event.session = gone.no;
  delete from ${schema}.state state where state.owner = gone.no;
  delete from ${schema}.sessions session where session.usr = gone.usr and session.id = session_id;
  insert into ${schema}.counts as old (scope, shard, sessions)
    select scope.no, pg_backend_pid() % ${SHARDS}, -1 from unnest(array[gone.app, gone.usr]) scope (no) order by scope.no
    on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
  return true;
end
$remove$`;
}

/** The function that deletes the values of an app, or of a user in it. Says whether there ever was anything. */
export function removeScopeFunction(schema: string): string {
  return `create function ${schema}.remove_scope_v1(app_name text, user_name text) returns boolean ${SETTINGS}
as $remove$
declare
  emptied bigint;
begin
  update ${schema}.scopes scope set pos = scope.pos + 1
    where scope.no = (
      select case when user_name is null then app.no else usr.no end
      from ${schema}.scopes app left join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
      where app.parent = 0 and app.name = app_name)
    returning scope.no into emptied;
  delete from ${schema}.state state where state.owner = emptied;
  return emptied is not null;
end
$remove$`;
}
