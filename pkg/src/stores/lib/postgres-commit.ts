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
  set enable_mergejoin = off
  set jit = off`;

/** In how many parts the sessions of a scope are counted: those who create some at once do not wait for each other. */
const SHARDS = 16;

/**
 * The function that commits. It takes the parts of a batch as `batchOf` writes them, makes its changes one after the other,
 * and answers a JSON list with an answer for each of them, in their order:
 *
 * - `[rev, app, user]`: written; the positions of the app and the user after it
 * - `["duplicate", rev, app, user, data]`
 * - `["conflict", actual]`, `["exists"]`, `["not-found"]`
 *
 * It locks first and looks then: a statement sees what was committed before it began. Everybody locks in one order, so that
 * nobody waits in a circle: new scopes, sessions, scopes, counts, and each of them in the order of their names or numbers.
 */
export function commitFunction(schema: string): string {
  return `create function ${schema}.commit_v1(scopes text, sessions text, locks text, changes text) returns text ${SETTINGS}
as $commit$
declare
  item jsonb;
  change jsonb;
  change_id text;
  place integer := 0;
  found_no bigint;
  found_pos bigint;
  found_rev integer;
  found_text text;
  -- By the place of a scope in the request.
  scope_no bigint[];
  scope_pos bigint[];
  is_locked boolean[];
  is_unused boolean[];
  -- By the place of a change in the request.
  session_no bigint[];
  session_rev integer[];
  session_created text[];
  is_new boolean[];
  -- Of the change.
  app_place integer;
  user_place integer;
  own_no bigint;
  own_rev integer;
  user_pos bigint;
  answer text;
  answers text[];
  -- The scopes of the sessions that are created.
  counted bigint[];
  has_updates boolean := false;
begin
  -- The scopes. Those that are missing are made, and taken back if nothing is written there.
  foreach item in array scopes::jsonb[] loop
    place := place + 1;
    loop
      select scope.no into found_no from ${schema}.scopes scope
        where scope.parent = coalesce(scope_no[(item->0)::int], 0) and scope.name = item->>1;
      exit when found;
      insert into ${schema}.scopes (parent, name) values (coalesce(scope_no[(item->0)::int], 0), item->>1)
        on conflict do nothing;
      if found then
        is_unused[place] := true;
      end if;
    end loop;
    scope_no[place] := found_no;
  end loop;

  -- The sessions. One is created at once, and taken back if the change is refused: so nobody else creates it meanwhile.
  foreach item in array sessions::jsonb[] loop
    place := (item->'i')::int;
    user_place := (item->'usr')::int;
    if item ? 'created' then
      insert into ${schema}.sessions (usr, id, app, user_id, created, rev, time)
        values (scope_no[user_place], item->>'session', scope_no[(item->'app')::int], item->>'user_id', item->>'created', 0,
          (item->'time')::float8)
        on conflict do nothing returning no into found_no;
      if found then
        session_no[place] := found_no;
        session_rev[place] := 0;
        is_new[place] := true;
        continue;
      end if;
    end if;
    select session.no, session.rev, session.created into found_no, found_rev, found_text from ${schema}.sessions session
      where session.usr = scope_no[user_place] and session.id = item->>'session' for no key update;
    if found then
      session_no[place] := found_no;
      session_rev[place] := found_rev;
      session_created[place] := found_text;
    end if;
  end loop;

  -- Scopes that are looked at, or moved together with others. One that is only moved is locked by that.
  foreach place in array locks::integer[] loop
    select scope.pos into found_pos from ${schema}.scopes scope where scope.no = scope_no[place] for no key update;
    scope_pos[place] := found_pos;
    is_locked[place] := true;
  end loop;

  place := 0;
  foreach change in array changes::jsonb[] loop
    place := place + 1;
    change_id := change->>'id';
    app_place := (change->'app')::int;
    user_place := (change->'usr')::int;
    own_no := session_no[place];
    own_rev := coalesce(session_rev[place], 0);
    -- Whoever had the session locked may have moved them.
    if scope_pos[app_place] is null or (user_place is not null and scope_pos[user_place] is null) then
      select app.pos, usr.pos into found_pos, user_pos
        from ${schema}.scopes app left join ${schema}.scopes usr on usr.no = scope_no[user_place]
        where app.no = scope_no[app_place];
      scope_pos[app_place] := coalesce(scope_pos[app_place], found_pos);
      if user_place is not null then
        scope_pos[user_place] := coalesce(scope_pos[user_place], user_pos);
      end if;
    end if;
    user_pos := coalesce(scope_pos[user_place], 0);
    answer := null;

    case change->>'kind'
      when 'create' then
        if is_new[place] is null then
          answer := case when session_created[place] = change_id
            then '["duplicate",' || own_rev || ',' || scope_pos[app_place] || ',' || user_pos || ']' else '["exists"]' end;
        end if;
      when 'append' then
        if own_no is null or change->>'created' <> session_created[place] then
          answer := '["not-found"]';
        else
          select event.data into found_text from ${schema}.events event where -event.session = -own_no and event.id = change_id;
          if found then
            answer := '["duplicate",' || own_rev || ',' || scope_pos[app_place] || ',' || user_pos || ','
              || to_json(found_text)::text || ']';
          end if;
        end if;
      else
        perform from ${schema}.updates done where done.scope = scope_no[coalesce(user_place, app_place)] and done.id = change_id;
        if found then
          answer := '["duplicate",0,' || scope_pos[app_place] || ',' || user_pos || ']';
        end if;
    end case;
    if answer is null and change ? 'guard' then
      if (change->'guard'->'rev')::float8 <> own_rev then
        answer := '["conflict",' || own_rev || ']';
      elsif (change->'guard'->'app')::float8 <> scope_pos[app_place] or (change->'guard'->'user')::float8 <> user_pos then
        answer := '["conflict"]';
      else
        -- A name that is expected to be absent has null here, and so has one that is.
        perform from jsonb_array_elements(change->'guard'->'keys') expected (key)
          left join ${schema}.state state on state.name = expected.key->>1 and state.owner =
            case expected.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end
          where state.value is distinct from expected.key->>2;
        if found then
          answer := '["conflict"]';
        end if;
      end if;
      if answer is not null and change->>'kind' = 'create' then
        delete from ${schema}.sessions session where session.usr = scope_no[user_place] and session.id = change->>'session';
      end if;
    end if;
    if answer is not null then
      answers[place] := answer;
      continue;
    end if;

    if is_unused is not null then
      is_unused[app_place] := false;
      if user_place is not null then
        is_unused[user_place] := false;
      end if;
    end if;
    if change ? 'app_moves' then
      if is_locked[app_place] then
        scope_pos[app_place] := scope_pos[app_place] + 1;
      else
        update ${schema}.scopes scope set pos = scope.pos + 1 where scope.no = scope_no[app_place]
          returning scope.pos into found_pos;
        scope_pos[app_place] := found_pos;
      end if;
    end if;
    if change ? 'user_moves' then
      if is_locked[user_place] then
        user_pos := user_pos + 1;
      else
        update ${schema}.scopes scope set pos = scope.pos + 1 where scope.no = scope_no[user_place]
          returning scope.pos into user_pos;
      end if;
      scope_pos[user_place] := user_pos;
    end if;
    case change->>'kind'
      when 'create' then
        counted := counted || scope_no[app_place] || scope_no[user_place];
        if change ? 'data' then
          -- It has an id that no other event can have (toColumn never writes it): nothing appended is a duplicate of it.
          insert into ${schema}.events (session, rev, id, time, data)
            values (own_no, 0, chr(1), (change->'at')::float8, change->>'data');
        end if;
      when 'append' then
        own_rev := own_rev + 1;
        insert into ${schema}.events (session, rev, id, time, data)
          values (own_no, own_rev, change_id, (change->'at')::float8, change->>'data');
        update ${schema}.sessions session set rev = own_rev, time = (change->'time')::float8
          where session.usr = scope_no[user_place] and session.id = change->>'session';
      else
        insert into ${schema}.updates (scope, id) values (scope_no[coalesce(user_place, app_place)], change_id);
        has_updates := true;
    end case;
    if change ? 'unset' then
      delete from ${schema}.state state using jsonb_array_elements(change->'unset') gone (key)
        where state.name = gone.key->>1 and state.owner =
          case gone.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end;
    end if;
    if change ? 'set' then
      insert into ${schema}.state as old (owner, name, value, at, nth)
        select case new.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end,
          new.key->>1, new.key->>2,
          case new.key->>0 when 'app' then scope_pos[app_place] when 'user' then user_pos else own_rev end, new.nth
        from jsonb_array_elements(change->'set') with ordinality new (key, nth)
        on conflict (owner, name) do update set value = excluded.value where old.value <> excluded.value;
    end if;
    answers[place] := '[' || own_rev || ',' || scope_pos[app_place] || ',' || user_pos || ']';
  end loop;

  foreach place in array locks::integer[] loop
    update ${schema}.scopes scope set pos = scope_pos[place] where scope.no = scope_no[place] and scope.pos <> scope_pos[place];
  end loop;
  if is_unused is not null then
    delete from ${schema}.scopes scope where scope.no = any(
      select scope_no[new.place] from generate_subscripts(is_unused, 1) new (place) where is_unused[new.place]);
  end if;
  if counted is not null then
    insert into ${schema}.counts as old (scope, shard, sessions)
      select scope.no, pg_backend_pid() % ${SHARDS}, count(*) from unnest(counted) scope (no) group by scope.no order by scope.no
      on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
  end if;
  if has_updates then
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
