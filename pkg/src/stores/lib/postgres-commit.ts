// The function inside the database that commits: what changes something does so in one call, which is one statement and one
// transaction.

import { forgetOld, isOurVersion, SETTINGS, SHARDS, wrongVersion } from './postgres-function.js';
import { changedSince, markOf } from './postgres-moves.js';
import { endOfTurn } from './postgres-turns.js';

/** How many of the last moves of a scope are kept, and after how many moves those before them are deleted. */
const MOVES = 1_000;
const TRIMMED_EVERY = 256;

/**
 * The function that commits. It takes the parts of a batch as `batchOf` writes them, makes its changes one after the other,
 * and answers a JSON list with an answer for each of them, in their order:
 *
 * - `[rev, app, user, last, appMark, userMark, appChanged, userChanged]`: written; the positions of the app and the user
 *   after it; the event and the marks before it; and what others have changed since what the caller knew
 * - `["duplicate", rev, app, user, last, appMark, userMark, data]`: all as it is now
 * - `["conflict", actual]`, `["exists"]`, `["not-found"]`, and `["late"]` where another try of the call was refused
 *
 * It locks first and looks then: a statement sees what was committed before it began. Everybody locks in one order, so that
 * nobody waits in a circle: new scopes, sessions, scopes, counts, refused calls, and each of them in the order of their names
 * or numbers.
 *
 * A call that was refused is found by its other tries although they do not look for it before they have their locks: both
 * lock the session, or its place among all sessions, or the scopes of an update. An update locks its scopes always.
 */
export function commitFunction(schema: string): string {
  return `create function ${schema}.commit_v2(scopes text, sessions text, locks text, changes text, calls text) returns text ${SETTINGS}
as $commit$
declare
  item jsonb;
  change jsonb;
  change_id text;
  change_call text;
  place integer := 0;
  found_no bigint;
  found_pos bigint;
  found_rev integer;
  found_text text;
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
  is_new boolean[];
  -- Of the change.
  app_place integer;
  user_place integer;
  own_no bigint;
  own_rev integer;
  user_pos bigint;
  user_mark text;
  last_id text;
  answer text;
  answers text[];
  -- Of a scope of the change: what it is at before it, and for the app (1) and the user (2) its mark and what others did.
  scope_place integer;
  part integer;
  before_pos bigint;
  known_pos bigint;
  told json;
  before_mark text[];
  changed json[];
  is_ours boolean;
  -- Calls that were refused: before, and now.
  refused text[];
  newly_refused text[];
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
    select scope.pos, ${markOf('scope')} into found_pos, found_text
      from ${schema}.scopes scope where scope.no = scope_no[place] for no key update;
    scope_pos[place] := found_pos;
    scope_mark[place] := found_text;
    is_locked[place] := true;
  end loop;

  select (select array_agg(late.call) from ${schema}.refused late where late.call = any(calls::text[])), ${isOurVersion(schema)}
    into refused, is_ours;
  if not is_ours then
    ${wrongVersion(schema)}
  end if;

  place := 0;
  foreach change in array changes::jsonb[] loop
    place := place + 1;
    change_id := change->>'id';
    app_place := (change->'app')::int;
    user_place := (change->'usr')::int;
    own_no := session_no[place];
    own_rev := coalesce(session_rev[place], 0);
    change_call := coalesce(change->>'call', change_id);
    -- Whoever had the session locked may have moved them.
    if scope_pos[app_place] is null or (user_place is not null and scope_pos[user_place] is null) then
      select app.pos, usr.pos, ${markOf('app')}, ${markOf('usr')}
        into found_pos, user_pos, found_text, user_mark
        from ${schema}.scopes app left join ${schema}.scopes usr on usr.no = scope_no[user_place]
        where app.no = scope_no[app_place];
      if scope_pos[app_place] is null then
        scope_pos[app_place] := found_pos;
        scope_mark[app_place] := found_text;
      end if;
      if user_place is not null and scope_pos[user_place] is null then
        scope_pos[user_place] := user_pos;
        scope_mark[user_place] := user_mark;
      end if;
    end if;
    user_pos := coalesce(scope_pos[user_place], 0);
    answer := null;
    found_text := null;
    last_id := null;

    case change->>'kind'
      when 'create' then
        if session_created[place] = change_id then
          answer := 'duplicate';
        else
          perform from ${schema}.creations gone where gone.id = change_id;
          if found then
            answer := 'duplicate';
          end if;
        end if;
        if answer is not null then
          select event.id into last_id from ${schema}.events event
            where event.session = own_no and event.rev = own_rev and own_rev > 0;
          if session_created[place] is distinct from change_id then
            own_rev := 0;
          end if;
        end if;
      when 'append' then
        if own_no is not null and coalesce(change->>'created' = session_created[place], true) then
          select
              (select event.data from ${schema}.events event where -event.session = -own_no and event.id = change_id),
              (select event.id from ${schema}.events event where event.session = own_no and event.rev = own_rev and own_rev > 0)
            into found_text, last_id;
          answer := case when found_text is not null then 'duplicate' end;
        end if;
      else
        perform from ${schema}.updates done where done.scope = scope_no[coalesce(user_place, app_place)] and done.id = change_id;
        answer := case when found then 'duplicate' end;
    end case;
    if answer is not null then
      answer := json_build_array(answer, own_rev, scope_pos[app_place], user_pos, last_id, scope_mark[app_place],
        scope_mark[user_place], found_text);
      if change ? 'turn' then
        ${endOfTurn(schema, "(change->'turn')")};
      end if;
    elsif change_call = any(refused) then
      answer := '["late"]';
    elsif change->>'kind' = 'create' and is_new[place] is null then
      answer := '["exists"]';
    elsif change->>'kind' = 'append' and (own_no is null or change->>'created' <> session_created[place]) then
      answer := '["not-found"]';
    elsif change ? 'guard' then
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
    end if;
    if answer is not null then
      answers[place] := answer;
      if is_new[place] then
        delete from ${schema}.sessions session where session.usr = scope_no[user_place] and session.id = change->>'session';
      end if;
      if change ? 'attempt' and answer not like '["duplicate%' then
        refused := refused || change_call;
        newly_refused := newly_refused || change_call;
      end if;
      continue;
    end if;

    if is_unused is not null then
      is_unused[app_place] := false;
      if user_place is not null then
        is_unused[user_place] := false;
      end if;
    end if;
    before_mark := array[scope_mark[app_place], scope_mark[user_place]];
    changed := array[null, null];
    for index in 0..coalesce(jsonb_array_length(change->'scopes'), 0) - 1 loop
      item := change->'scopes'->index;
      scope_place := (item->0)::int;
      part := case when scope_place = app_place then 1 else 2 end;
      found_no := scope_no[scope_place];
      before_pos := scope_pos[scope_place];
      found_text := scope_mark[scope_place];
      known_pos := (item->2)::bigint;
      told := null;
      if jsonb_typeof(item->1) = 'array' and is_locked[scope_place] is null then
        update ${schema}.scopes scope set pos = scope.pos + 1, mark = change_call, marked = scope.pos + 1
          where scope.no = found_no returning scope.pos - 1 into found_pos;
        if found_pos <> before_pos then
          before_pos := found_pos;
          select move.mark into found_text from ${schema}.moves move where move.scope = found_no and move.pos = before_pos;
        end if;
        if known_pos < before_pos then
          told := ${changedSince(schema, 'found_no', 'known_pos', '(item->>3)', 'before_pos')};
        end if;
      elsif known_pos < before_pos and is_locked[scope_place] then
        told := ${changedSince(schema, 'found_no', 'known_pos', '(item->>3)', 'before_pos')};
      elsif known_pos <> before_pos then
        -- Nobody is kept from moving it: its position and what is told have to be of one moment.
        select scope.pos, ${markOf('scope')},
            case when known_pos < scope.pos then ${changedSince(schema, 'scope.no', 'known_pos', '(item->>3)', 'scope.pos')} end
          into before_pos, found_text, told from ${schema}.scopes scope where scope.no = found_no;
      end if;
      before_mark[part] := found_text;
      changed[part] := told;
      scope_pos[scope_place] := before_pos;
      scope_mark[scope_place] := found_text;
      if jsonb_typeof(item->1) = 'array' then
        before_pos := before_pos + 1;
        insert into ${schema}.moves (scope, pos, mark, names) values (found_no, before_pos, change_call, item->1);
        if before_pos % ${TRIMMED_EVERY} = 0 then
          delete from ${schema}.moves move where move.scope = found_no and move.pos <= before_pos - ${MOVES};
        end if;
        scope_pos[scope_place] := before_pos;
        scope_mark[scope_place] := change_call;
      end if;
    end loop;
    user_pos := coalesce(scope_pos[user_place], 0);
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
      insert into ${schema}.state as old (owner, name, value, at, nth, wrote)
        select case new.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end,
          new.key->>1, new.key->>2,
          case new.key->>0 when 'app' then scope_pos[app_place] when 'user' then user_pos else own_rev end, new.nth,
          case new.key->>0 when 'app' then scope_pos[app_place] when 'user' then user_pos else own_rev end
        from jsonb_array_elements(change->'set') with ordinality new (key, nth)
        on conflict (owner, name) do update set value = excluded.value, wrote = excluded.wrote where old.value <> excluded.value;
    end if;
    if change ? 'turn' then
      ${endOfTurn(schema, "(change->'turn')")};
    end if;
    answers[place] := json_build_array(own_rev, scope_pos[app_place], user_pos, last_id, before_mark[1], before_mark[2],
      changed[1], changed[2]);
  end loop;

  foreach place in array locks::integer[] loop
    update ${schema}.scopes scope set pos = scope_pos[place], mark = scope_mark[place], marked = scope_pos[place]
      where scope.no = scope_no[place] and scope.pos <> scope_pos[place];
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
  if newly_refused is not null then
    insert into ${schema}.refused (call) select distinct late.call from unnest(newly_refused) late (call) order by late.call
      on conflict do nothing;
    ${forgetOld(`${schema}.refused`)}
  end if;
  if has_updates then
    ${forgetOld(`${schema}.updates`)}
  end if;
  return '[' || array_to_string(answers, ',') || ']';
end
$commit$`;
}
