// The function inside the database that writes a single creation of a session.

import { isOurVersion, SETTINGS, SHARDS } from './common.js';
import { markOf } from './moves.js';
import { lastEvent, refuseOtherVersion } from './verdict.js';
import {
  VALUE_PARAMETERS,
  VARIABLES,
  byMoving,
  eventPositions,
  placesOf,
  trim,
  writeValues,
  type Moving,
} from './write-one.js';

/** The name of the function and its parameters, which are those of `appendFunction` where they have its names. */
export const CREATE = {
  name: 'create_v2',
  parameters: [
    'app_name text',
    'user_name text',
    'session_id text',
    'change_id text',
    'change_call text',
    'change_time double precision',
    'event_time double precision',
    // Null where the session begins with no event.
    'event_data text',
    ...VALUE_PARAMETERS,
  ],
} as const;

/**
 * The function that creates one session, as `commitFunction` does and with the same answers. It takes no guard, no
 * turn and no later try of a call, and deletes no values.
 *
 * Apps and users that are missing are made first, then the session; both are taken back where the creation is refused.
 * The app and the user are locked then if they are moved.
 */
export function createFunction(schema: string): string {
  return `create function ${schema}.${CREATE.name}(${CREATE.parameters.join(', ')}) returns text ${SETTINGS}
as $create$
declare
  ${VARIABLES}
  made bigint[] := '{}';
  made_no bigint;
begin
  loop
    select app.no, usr.no into app_no, usr_no
      from ${schema}.scopes app left join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
      where app.parent = 0 and app.name = app_name;
    exit when usr_no is not null;
    insert into ${schema}.scopes (parent, name)
      values (coalesce(app_no, 0), case when app_no is null then app_name else user_name end)
      on conflict do nothing returning no into made_no;
    if found then
      made := made || made_no;
    end if;
  end loop;
  insert into ${schema}.sessions (usr, id, app, user_id, created, rev, time)
    values (usr_no, session_id, app_no, user_name, change_id, 0, change_time)
    on conflict do nothing returning no into own_no;
  if found then
    ${byMoving('set_names is null', (moving) => write(schema, moving))}
    if answer is null then
      delete from ${schema}.sessions session where session.usr = usr_no and session.id = session_id;
      own_no := null;
    end if;
  end if;
  if answer is null then
    ${refuse(schema)}
  end if;
  return answer;
end
$create$`;
}

/** The statements for creations that move these scopes. They leave no answer when nothing is written. */
function write(schema: string, moving: Moving): string {
  const locked = [...(moving.app ? ['app'] : []), ...(moving.user ? ['usr'] : [])].join(', ');
  const lock = `select app.pos, ${markOf('app')}, usr.pos, ${markOf('usr')} into app_pos, app_mark, user_pos, user_mark
        from ${schema}.scopes app, ${schema}.scopes usr where app.no = app_no and usr.no = usr_no
        for no key update of ${locked};
      `;
  const places = placesOf(schema, moving);
  return `${locked === '' ? '' : lock}with ${places.part}written as materialized (
        select 0 as rev where ${isOurVersion(schema)}
          and not exists (select from ${schema}.refused late where late.call = change_call)
          and not exists (select from ${schema}.creations gone where gone.id = change_id)),
      counted as (
        insert into ${schema}.counts as old (scope, shard, sessions)
          select scope.no, pg_backend_pid() % ${SHARDS}, 1 from written, unnest(array[app_no, usr_no]) scope (no)
          on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions),
      begun as (
        -- It has an id that no other event can have (toColumn never writes it): nothing appended is a duplicate of it.
        insert into ${schema}.events (session, rev, id, time, data, app_pos, user_pos)
          select own_no, 0, chr(1), event_time, event_data, ${eventPositions(places)}
          from written${places.from} where event_data is not null)${writeValues(schema, moving, places, { last: 'null', told: 'false', event: 'null' })}${trim(schema, moving)}`;
}

/** The statements that say why nothing is written: the session is there, or was, or another try was refused. */
function refuse(schema: string): string {
  return `${refuseOtherVersion(schema)}
    select session.no, session.rev, session.created into own_no, own_rev, own_created from ${schema}.sessions session
      where session.usr = usr_no and session.id = session_id for no key update;
    select case
        when own_created = change_id or exists (select from ${schema}.creations gone where gone.id = change_id)
        then json_build_array('duplicate', case when own_created = change_id then own_rev else 0 end, app.pos, usr.pos,
          ${lastEvent(schema, 'own_no', 'own_rev')}, ${markOf('app')}, ${markOf('usr')})::text
        when exists (select from ${schema}.refused late where late.call = change_call) then '["late"]'
        else '["exists"]' end
      into answer from ${schema}.scopes app, ${schema}.scopes usr where app.no = app_no and usr.no = usr_no;
    delete from ${schema}.scopes scope where scope.no = any(made);`;
}
