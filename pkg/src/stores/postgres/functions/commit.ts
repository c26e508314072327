// The function inside the database that commits: what changes something does so in one call, which is one statement
// and one transaction. Most of its time goes into getting each of its statements and expressions ready, once in a
// transaction: so what is looked for at one moment is one statement, and so is what is written together, and what is
// rare is behind one condition.

import { SETTINGS } from './common.js';
import { decide } from './decide.js';
import { findScopes, lockSessions, look, lookForUpdate } from './find.js';
import { moveScopes } from './move-scopes.js';
import { markOf } from './moves.js';
import { writeChange, writeTogether } from './write.js';

/**
 * The function that commits. It takes the parts of a batch as `batchOf` writes them, makes its changes one after the
 * other, and answers a JSON list with an answer for each of them, in their order:
 *
 * - `[rev, app, user, last, appMark, userMark, appChanged, userChanged, results]`: written; the positions of the app
 *   and the user after it; the event and the marks before it; what others have changed since what the caller knew; and
 *   what the operators came to
 * - `["duplicate", rev, app, user, last, appMark, userMark, data, results]`: all as it is now
 * - `["conflict", actual]`, `["fenced", actual]`, `["exists"]`, `["not-found"]`, and `["late"]` where another try of
 *   the call was refused
 * - `["misfit", index, fault]`: the operator at that index does not fit
 *
 * It locks first and looks then: a statement sees what was committed before it began. All calls lock in one order, so
 * that none waits in a circle: new scopes, sessions, scopes, counts, refused calls, and each of them in the order of
 * their names or numbers.
 *
 * A call that was refused is found by its other tries, which do not look for it before they have their locks: both
 * lock the session, or its place among all sessions, or the scopes of an update. An update locks its scopes always.
 */
export function commitFunction(schema: string): string {
  return `create function ${schema}.commit_v2(scopes text, sessions text, locks text, changes text, keeps_log boolean) returns text ${SETTINGS}
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
  own_fence integer;
  -- Of the operators of the change: what they set, what is kept of that, and the index of the first that does not fit.
  op_sets jsonb;
  op_results text;
  misfit integer;
  fault text;
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
      op_results := null;
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

    ${decide(schema)}

    ${moveScopes(schema)}

    ${writeChange(schema)}
    answers[place] := json_build_array(own_rev, app_pos, user_pos, last_id, app_mark, user_mark, app_told, user_told, op_results);
  end loop;

  ${writeTogether(schema)}
  return '[' || array_to_string(answers, ',') || ']';
end
$commit$`;
}
