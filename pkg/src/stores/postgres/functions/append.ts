// The function inside the database that writes a single event, which most changes are: each of its parameters is a
// value, and what is written is one statement.

import { isOurVersion, SETTINGS } from './common.js';
import { markOf } from './moves.js';
import { lastEvent, refuseOtherVersion, verdict, VERDICT } from './verdict.js';
import {
  VALUE_PARAMETERS,
  VARIABLES,
  byMoving,
  changedSince,
  ownerOf,
  trim,
  writeValues,
  type Moving,
} from './write-one.js';

/** The name of the function and its parameters. */
export const APPEND = {
  name: 'append_v2',
  parameters: [
    'app_name text',
    'user_name text',
    'session_id text',
    // The creation and the revision that the session must have; null where it may have any.
    'wanted_created text',
    'wanted_rev double precision',
    'change_id text',
    'change_call text',
    'change_time double precision',
    'event_time double precision',
    'event_data text',
    ...VALUE_PARAMETERS,
    // The same for names that are deleted before that.
    'unset_parts integer[]',
    'unset_names text[]',
  ],
} as const;

/**
 * The function that appends one event, as `commitFunction` does and with the same answers. It takes no guards but
 * `created` and the revision, no turn and no later try of a call.
 *
 * The first statement finds and locks: the session, then the app and the user if they are moved, in the order in which
 * all calls lock. What it says of locked rows is of the moment when it has all locks. The second statement sees what
 * was committed until then: it looks whether the event may be written, and writes everything. Where values are
 * deleted, what others have done to moved scopes is told as it was before that.
 */
export function appendFunction(schema: string): string {
  return `create function ${schema}.${APPEND.name}(${APPEND.parameters.join(', ')}) returns text ${SETTINGS}
as $append$
declare
  ${VARIABLES}
  ruling integer;
begin
  ${byMoving((moving) => write(schema, moving))}
  if answer is null then
    ${refuse(schema)}
  end if;
  return answer;
end
$append$`;
}

/** The statements for events that move these scopes. They leave no answer when nothing is written. */
function write(schema: string, moving: Moving): string {
  const locked = ['session', ...(moving.app ? ['app'] : []), ...(moving.user ? ['usr'] : [])].join(', ');
  const tell = (part: 'app' | 'user'): string =>
    moving[part]
      ? `
        if ${part}_known < ${part}_pos then
          ${part}_told := ${changedSince(schema, part, `${part}_pos`)};
        end if;`
      : '';
  return `select app.no, app.pos, ${markOf('app')}, usr.no, usr.pos, ${markOf('usr')}, session.no, session.rev, session.created
        into app_no, app_pos, app_mark, usr_no, user_pos, user_mark, own_no, own_rev, own_created
        from ${schema}.scopes app
        join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
        join ${schema}.sessions session on session.usr = usr.no and session.id = session_id
        where app.parent = 0 and app.name = app_name for no key update of ${locked};
      -- A condition with a question in it is a statement of its own, also where the answer is known without it.
      if unset_names is not null then
        if (${judge(schema)}) = ${VERDICT.write} then${tell('app')}${tell('user')}
          delete from ${schema}.state state using unnest(unset_parts, unset_names) gone (part, name)
            where state.owner = ${ownerOf('gone.part', moving)} and state.name = gone.name;
        end if;
      end if;
      if own_no is not null and coalesce(own_created = wanted_created, true) and coalesce(own_rev = wanted_rev, true) then
        with written as (
          insert into ${schema}.events (session, rev, id, time, data)
            select own_no, own_rev + 1, change_id, event_time, event_data
            where ${isOurVersion(schema)}
              and not exists (select from ${schema}.refused late where late.call = change_call)
            on conflict ((-session), id) do nothing returning rev),
        stamped as (
          update ${schema}.sessions session set rev = written.rev, time = change_time from written
            where session.usr = usr_no and session.id = session_id)${writeValues(schema, moving, { last: lastEvent(schema, 'own_no', 'own_rev'), told: 'unset_names is not null' })}
      end if;${trim(schema, moving)}`;
}

function judge(schema: string): string {
  return verdict(schema, {
    no: 'own_no',
    rev: 'own_rev',
    created: 'own_created',
    wantedCreated: 'wanted_created',
    wantedRev: 'wanted_rev',
    id: 'change_id',
    call: 'change_call',
  });
}

/** The statements that say why nothing is written. */
function refuse(schema: string): string {
  return `${refuseOtherVersion(schema)}
    ruling := ${judge(schema)};
    answer := case ruling
      when ${VERDICT.notFound} then '["not-found"]'
      when ${VERDICT.late} then '["late"]'
      when ${VERDICT.conflict} then '["conflict",' || own_rev || ']'
      when ${VERDICT.duplicate} then (
        select json_build_array('duplicate', own_rev, app.pos, usr.pos, ${lastEvent(schema, 'own_no', 'own_rev')},
            ${markOf('app')}, ${markOf('usr')}, event.data)::text
          from ${schema}.scopes app, ${schema}.scopes usr, ${schema}.events event
          where app.no = app_no and usr.no = usr_no and -event.session = -own_no and event.id = change_id)
      end;`;
}
