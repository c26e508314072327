// The functions inside the database that delete.

import { forgetOld, isOurVersion, SETTINGS, SHARDS, wrongVersion } from './common.js';
import { LOG_COLUMNS, moveBase } from './log.js';

/**
 * The function that deletes a session; with `created_by`, only the one that this change has created. Says whether it
 * was there. The id of its creation is kept for a while: the creation does not come back by a second try.
 */
export function removeFunction(schema: string): string {
  return `create function ${schema}.remove_v2(app_name text, user_name text, session_id text, created_by text) returns boolean ${SETTINGS}
as $remove$
declare
  gone record;
begin
  select session.no, session.app, session.usr, session.created into gone
    from ${schema}.scopes app
    join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
    join ${schema}.sessions session on session.usr = usr.no and session.id = session_id
    where app.parent = 0 and app.name = app_name and session.created = coalesce(created_by, session.created)
    for update of session;
  if not found then
    return false;
  end if;
  if not ${isOurVersion(schema)} then
    ${wrongVersion(schema)}
  end if;
  delete from ${schema}.events event where event.session = gone.no;
  delete from ${schema}.state state where state.owner = gone.no;
  delete from ${schema}.sessions session where session.usr = gone.usr and session.id = session_id;
  insert into ${schema}.creations (id) values (gone.created) on conflict do nothing;
  insert into ${schema}.counts as old (scope, shard, sessions)
    select scope.no, pg_backend_pid() % ${SHARDS}, -1 from unnest(array[gone.app, gone.usr]) scope (no) order by scope.no
    on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
  ${forgetOld(`${schema}.creations`)}
  return true;
end
$remove$`;
}

/**
 * The function that deletes the values of an app, or of a user in it. Says whether there ever was anything. It is a
 * move that has no mark, and nothing can be told about what was before it.
 */
export function removeScopeFunction(schema: string): string {
  return `create function ${schema}.remove_scope_v2(app_name text, user_name text, keeps_log boolean) returns boolean ${SETTINGS}
as $remove$
declare
  emptied bigint;
  emptied_pos bigint;
begin
  update ${schema}.scopes scope set pos = scope.pos + 1, mark = null, marked = scope.pos + 1, ${moveBase('scope', 'scope.pos + 1')}
    where scope.no = (
      select case when user_name is null then app.no else usr.no end
      from ${schema}.scopes app left join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
      where app.parent = 0 and app.name = app_name)
    returning scope.no, scope.pos into emptied, emptied_pos;
  if not ${isOurVersion(schema)} then
    ${wrongVersion(schema)}
  end if;
  if keeps_log and emptied is not null then
    insert into ${schema}.log (${LOG_COLUMNS})
      select emptied, emptied_pos, 0, null, null, null, floor(extract(epoch from clock_timestamp()) * 1000), null, null, null
      union all
      select emptied, emptied_pos, row_number() over (order by state.at, state.nth), state.name, state.value, null,
          floor(extract(epoch from clock_timestamp()) * 1000), null, null, null
        from ${schema}.state state where state.owner = emptied;
  end if;
  delete from ${schema}.state state where state.owner = emptied;
  delete from ${schema}.moves move where move.scope = emptied;
  return emptied is not null;
end
$remove$`;
}
