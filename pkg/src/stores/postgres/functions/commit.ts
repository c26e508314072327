// The function inside the database that commits: what changes something does so in one call, which is one statement and one
// transaction. Most of its time goes into getting each of its statements and expressions ready, once in a transaction: so what
// is looked for at one moment is one statement, and so is what is written together, and what is rare is behind one condition.

import { findScopes, lockSessions, look, lookForUpdate } from './find.js';
import { forgetOld, SETTINGS, SHARDS, wrongVersion } from './common.js';
import { changedCall, markOf } from './moves.js';
import { endOfTurn } from '../turns.js';

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
 * A call that was refused is found by its other tries, which do not look for it before they have their locks: both
 * lock the session, or its place among all sessions, or the scopes of an update. An update locks its scopes always.
 */
export function commitFunction(schema: string): string {
  return `create function ${schema}.commit_v2(scopes text, sessions text, locks text, changes text) returns text ${SETTINGS}
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
  -- Whether there is one session or app alone, which was found at once.
  is_one boolean := false;
  -- Of the change.
  app_place integer;
  user_place integer;
  own_no bigint;
  own_rev integer;
  own_created text;
  app_pos bigint;
  user_pos bigint;
  app_mark text;
  user_mark text;
  last_id text;
  is_late boolean;
  answer text;
  answers text[];
  -- Of a scope of the change: what it is at before it, its mark there, and what others did.
  scope_place integer;
  before_pos bigint;
  known_pos bigint;
  told json;
  app_told json;
  user_told json;
  is_ours boolean;
  is_behind boolean;
  -- The calls that are refused now.
  refused text[];
  -- The scopes of the sessions that are created.
  counted bigint[];
  has_updates boolean := false;
begin
  if is_single and session_list[1] is not null and not session_list[1] ? 'created' then
    -- Most changes are an event of a session that is there: it is found and locked at once.
    select array[app.no, usr.no], 1, 2, session.no, session.rev, session.created
      into scope_no, app_place, user_place, own_no, own_rev, own_created
      from ${schema}.scopes app
      join ${schema}.scopes usr on usr.parent = app.no and usr.name = scope_list[2]->>1
      join ${schema}.sessions session on session.usr = usr.no and session.id = session_list[1]->>'session'
      where app.parent = 0 and app.name = scope_list[1]->>1 for no key update of session;
    is_one := found;
  elsif is_single and cardinality(scope_list) = 1 then
    -- An update of an app that is there.
    select array[scope.no], 1, 0, array[scope.pos], array[${markOf('scope')}], array[true]
      into scope_no, app_place, own_rev, scope_pos, scope_mark, is_locked
      from ${schema}.scopes scope where scope.parent = 0 and scope.name = scope_list[1]->>1 for no key update;
    is_one := found;
  end if;
  if not is_one then
    ${findScopes(schema)}
    ${lockSessions(schema)}
  end if;

  -- Scopes that are looked at, or moved together with others. One that is only moved is locked by that.
  if is_locked is null then
    foreach place in array locks::integer[] loop
      select scope.pos, ${markOf('scope')} into found_pos, found_text
        from ${schema}.scopes scope where scope.no = scope_no[place] for no key update;
      scope_pos[place] := found_pos;
      scope_mark[place] := found_text;
      is_locked[place] := true;
    end loop;
  end if;

  place := 0;
  foreach change in array change_list loop
    place := place + 1;
    change_id := change->>'id';
    change_call := coalesce(change->>'call', change_id);
    if not is_one then
      app_place := (change->'app')::int;
      user_place := (change->'usr')::int;
      own_no := session_no[place];
      own_rev := coalesce(session_rev[place], 0);
      own_created := session_created[place];
      answer := null;
      app_told := null;
      user_told := null;
    end if;
    if change->>'kind' = 'append' then
      ${look(schema, `(select event.data from ${schema}.events event where -event.session = -own_no and event.id = change_id)`)}
    elsif change->>'kind' = 'create' then
      ${look(schema, `(select gone.id from ${schema}.creations gone where gone.id = change_id)`)}
    else
      ${lookForUpdate(
        schema,
        `(select done.id from ${schema}.updates done
              where done.scope = scope_no[coalesce(user_place, app_place)] and done.id = change_id)`,
      )}
    end if;

    if found_text is not null or is_late or refused is not null or not is_ours or change ? 'guard'
      or change->>'kind' <> 'append' or own_no is null or change->>'created' <> own_created
    then
      if not is_ours then
        ${wrongVersion(schema)}
      end if;
      case change->>'kind'
        when 'append' then
          if own_no is null or change->>'created' <> own_created then
            answer := '["not-found"]';
          elsif found_text is not null then
            answer := 'duplicate';
          end if;
        when 'create' then
          if found_text is not null or own_created = change_id then
            answer := 'duplicate';
            if own_created is distinct from change_id then
              own_rev := 0;
            end if;
            found_text := null;
          elsif is_new[place] is null then
            answer := '["exists"]';
          end if;
        else
          if found_text is not null then
            answer := 'duplicate';
            found_text := null;
          end if;
      end case;
      if answer = 'duplicate' then
        answer := json_build_array(answer, own_rev, app_pos, user_pos, last_id, app_mark, user_mark, found_text);
        if change ? 'turn' then
          ${endOfTurn(schema, "(change->'turn')")};
        end if;
      elsif is_late or change_call = any(refused) then
        answer := '["late"]';
      elsif answer is null and change ? 'guard' then
        if (change->'guard'->'rev')::float8 <> own_rev then
          answer := '["conflict",' || own_rev || ']';
        elsif (change->'guard'->'app')::float8 <> app_pos or (change->'guard'->'user')::float8 <> user_pos then
          answer := '["conflict"]';
        elsif change->'guard' ? 'keys' then
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
        end if;
        continue;
      end if;
    end if;

    if change ? 'moves' or (change->'app_known')::bigint <> app_pos or (change->'user_known')::bigint <> user_pos then
      for index in 0..jsonb_array_length(change->'scopes') - 1 loop
        item := change->'scopes'->index;
        scope_place := (item->0)::int;
        if jsonb_typeof(item->1) = 'array' and (is_single or is_locked[scope_place] is null) then
          with moved as (
            update ${schema}.scopes scope set pos = scope.pos + 1, mark = change_call, marked = scope.pos + 1
              where scope.no = scope_no[scope_place] returning scope.no, scope.pos)
          insert into ${schema}.moves as move (scope, pos, mark, names)
            select moved.no, moved.pos, change_call, item->1 from moved
            returning move.scope, move.pos, move.pos - 1, (item->2)::bigint, (item->2)::bigint < move.pos - 1
            into found_no, found_pos, before_pos, known_pos, is_behind;
          if is_behind or before_pos <> (case when scope_place = app_place then app_pos else user_pos end) then
            select (select move.mark from ${schema}.moves move where move.scope = found_no and move.pos = before_pos),
                case when is_behind then ${changedCall(schema, 'found_no', 'known_pos', 'item->>3', 'before_pos')} end
              into found_text, told;
            if scope_place = app_place then
              app_mark := found_text;
              app_told := told;
            else
              user_mark := found_text;
              user_told := told;
            end if;
          end if;
        else
          found_no := scope_no[scope_place];
          found_pos := case when scope_place = app_place then app_pos else user_pos end;
          found_text := case when scope_place = app_place then app_mark else user_mark end;
          known_pos := (item->2)::bigint;
          told := null;
          if known_pos < found_pos and is_locked[scope_place] then
            told := ${changedCall(schema, 'found_no', 'known_pos', 'item->>3', 'found_pos')};
          elsif known_pos <> found_pos then
            -- Nobody is kept from moving it: its position and what is told have to be of one moment.
            select scope.pos, ${markOf('scope')},
                case when known_pos < scope.pos then ${changedCall(schema, 'scope.no', 'known_pos', 'item->>3', 'scope.pos')} end
              into found_pos, found_text, told from ${schema}.scopes scope where scope.no = found_no;
          end if;
          if scope_place = app_place then
            app_mark := found_text;
            app_told := told;
          else
            user_mark := found_text;
            user_told := told;
          end if;
          if jsonb_typeof(item->1) = 'array' then
            found_pos := found_pos + 1;
            insert into ${schema}.moves (scope, pos, mark, names) values (found_no, found_pos, change_call, item->1);
            scope_pos[scope_place] := found_pos;
            scope_mark[scope_place] := change_call;
          end if;
        end if;
        if scope_place = app_place then
          app_pos := found_pos;
        else
          user_pos := found_pos;
        end if;
        if found_pos % ${TRIMMED_EVERY} = 0 and jsonb_typeof(item->1) = 'array' then
          delete from ${schema}.moves move where move.scope = found_no and move.pos <= found_pos - ${MOVES};
        end if;
      end loop;
    end if;

    if change->>'kind' = 'append' then
      own_rev := own_rev + 1;
      with written as (
        insert into ${schema}.events (session, rev, id, time, data)
          values (own_no, own_rev, change_id, (change->'at')::float8, change->>'data'))
      update ${schema}.sessions session set rev = own_rev, time = (change->'time')::float8
        where session.usr = scope_no[user_place] and session.id = change->>'session';
    elsif change->>'kind' = 'create' then
      if is_unused is not null then
        is_unused[app_place] := false;
        is_unused[user_place] := false;
      end if;
      counted := counted || scope_no[app_place] || scope_no[user_place];
      if change ? 'data' then
        -- It has an id that no other event can have (toColumn never writes it): nothing appended is a duplicate of it.
        insert into ${schema}.events (session, rev, id, time, data)
          values (own_no, 0, chr(1), (change->'at')::float8, change->>'data');
      end if;
    else
      if is_unused is not null then
        is_unused[app_place] := false;
        is_unused[coalesce(user_place, app_place)] := false;
      end if;
      insert into ${schema}.updates (scope, id) values (scope_no[coalesce(user_place, app_place)], change_id);
      has_updates := true;
    end if;
    if change ?| array['unset', 'turn'] then
      delete from ${schema}.state state using jsonb_array_elements(change->'unset') gone (key)
        where state.name = gone.key->>1 and state.owner =
          case gone.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end;
      ${endOfTurn(schema, "(change->'turn')")};
    end if;
    if change ? 'set' then
      insert into ${schema}.state as old (owner, name, value, at, nth, wrote)
        select case new.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end,
          new.key->>1, new.key->>2,
          case new.key->>0 when 'app' then app_pos when 'user' then user_pos else own_rev end, new.nth,
          case new.key->>0 when 'app' then app_pos when 'user' then user_pos else own_rev end
        from jsonb_array_elements(change->'set') with ordinality new (key, nth)
        on conflict (owner, name) do update set value = excluded.value, wrote = excluded.wrote where old.value <> excluded.value;
    end if;
    answers[place] := json_build_array(own_rev, app_pos, user_pos, last_id, app_mark, user_mark, app_told, user_told);
  end loop;

  if not is_one or refused is not null or has_updates then
    if not is_single then
      foreach place in array locks::integer[] loop
        update ${schema}.scopes scope set pos = scope_pos[place], mark = scope_mark[place], marked = scope_pos[place]
          where scope.no = scope_no[place] and scope.pos <> scope_pos[place];
      end loop;
    end if;
    if is_unused is not null then
      delete from ${schema}.scopes scope where scope.no = any(
        select scope_no[new.place] from generate_subscripts(is_unused, 1) new (place) where is_unused[new.place]);
    end if;
    if counted is not null then
      insert into ${schema}.counts as old (scope, shard, sessions)
        select scope.no, pg_backend_pid() % ${SHARDS}, count(*) from unnest(counted) scope (no) group by scope.no order by scope.no
        on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
    end if;
    if refused is not null then
      insert into ${schema}.refused (call) select distinct late.call from unnest(refused) late (call) order by late.call
        on conflict do nothing;
      ${forgetOld(`${schema}.refused`)}
    end if;
    if has_updates then
      ${forgetOld(`${schema}.updates`)}
    end if;
  end if;
  return '[' || array_to_string(answers, ',') || ']';
end
$commit$`;
}
