// The function inside the database that writes a single event, which most changes are: each of its parameters is a
// value, and what is written is one statement.

import { isOurVersion, SETTINGS } from './common.js';
import { DELETED, LOG_COLUMNS } from './log.js';
import { markOf } from './moves.js';
import { resolveCall } from './operators.js';
import { lastEvent, refuseOtherVersion, verdict, VERDICT } from './verdict.js';
import {
  VALUE_PARAMETERS,
  VARIABLES,
  byMoving,
  changedSince,
  eventPositions,
  ownerOf,
  placesOf,
  positionOf,
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
    // The creation, the revision and the token that the session must have; null where it may have any.
    'wanted_created text',
    'wanted_rev double precision',
    'wanted_fence double precision',
    'change_id text',
    'change_call text',
    'change_time double precision',
    'event_time double precision',
    'event_data text',
    ...VALUE_PARAMETERS,
    // The same for names that are deleted before that.
    'unset_parts integer[]',
    'unset_names text[]',
    // Values that are written by operators, after those that are set: of the app, the user and the session, in this
    // order. What each comes to is said by `resolveFunction`.
    'op_parts integer[]',
    'op_names text[]',
    'op_kinds text[]',
    'op_operands text[]',
    'op_expected text[]',
  ],
} as const;

/**
 * The function that appends one event, as `commitFunction` does and with the same answers. It takes no guards but
 * `created`, the token and the revision, no turn and no later try of a call.
 *
 * The first statement finds and locks: the session, then the app and the user if they are moved, in the order in which
 * all calls lock. What it says of locked rows is of the moment when it has all locks. The second statement sees what
 * was committed until then: it looks whether the event may be written, and writes everything. Where values are
 * deleted, what others have done to moved scopes is told as it was before that. Operators are resolved between the
 * two: the rows that they write belong to what is locked.
 */
export function appendFunction(schema: string): string {
  return `create function ${schema}.${APPEND.name}(${APPEND.parameters.join(', ')}) returns text ${SETTINGS}
as $append$
declare
  ${VARIABLES}
  ruling integer;
  own_fence integer;
  op_results text;
  -- The place of the operator that does not fit, and why it does not.
  misfit integer;
  fault text;
begin
  ${byMoving('set_names is null and op_names is null', (moving) => write(schema, moving))}
  if answer is null then
    ${refuse(schema)}
  end if;
  return answer;
end
$append$`;
}

/** The statements for events that move these scopes. They leave no answer when nothing is written. */
function write(schema: string, moving: Moving): string {
  const places = placesOf(schema, moving);
  const locked = ['session', ...(moving.app ? ['app'] : []), ...(moving.user ? ['usr'] : [])].join(', ');
  const tell = (part: 'app' | 'user'): string =>
    moving[part]
      ? `
        if ${part}_known < ${part}_pos then
          ${part}_told := ${changedSince(schema, part, `${part}_pos`)};
        end if;`
      : '';
  return `select app.no, app.pos, ${markOf('app')}, usr.no, usr.pos, ${markOf('usr')}, session.no, session.rev, session.created,
          session.fence
        into app_no, app_pos, app_mark, usr_no, user_pos, user_mark, own_no, own_rev, own_created, own_fence
        from ${schema}.scopes app
        join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
        join ${schema}.sessions session on session.usr = usr.no and session.id = session_id
        where app.parent = 0 and app.name = app_name for no key update of ${locked};
${moving.values ? resolve(schema, moving) : ''}
      -- A condition with a question in it is a statement of its own, also where the answer is known without it.
      if unset_names is not null and misfit is null then
        if (${judge(schema)}) = ${VERDICT.write} then${tell('app')}${tell('user')}${moving.app || moving.user ? logDeleted(schema, moving) : ''}
          delete from ${schema}.state state using unnest(unset_parts, unset_names) gone (part, name)
            where state.owner = ${ownerOf('gone.part', moving)} and state.name = gone.name;
        end if;
      end if;
      if own_no is not null and misfit is null and coalesce(own_created = wanted_created, true)
        and coalesce(own_rev = wanted_rev, true) and coalesce(own_fence = wanted_fence, true)
      then
        with ${places.part}written as (
          insert into ${schema}.events (session, rev, id, time, data, results, app_pos, user_pos)
            select own_no, own_rev + 1, change_id, event_time, event_data, op_results, ${eventPositions(places)}
            ${places.from.replace(',', 'from')} where ${isOurVersion(schema)}
              and not exists (select from ${schema}.refused late where late.call = change_call)
            on conflict ((-session), id) do nothing returning rev),
        stamped as (
          update ${schema}.sessions session set rev = written.rev, time = change_time from written
            where session.usr = usr_no and session.id = session_id)${writeValues(schema, moving, places, {
              last: lastEvent(schema, 'own_no', 'own_rev'),
              told: 'unset_names is not null',
              event: 'change_id',
              isLogged: `(unset_names is not null and (new.part, new.name) in (${GONE}))`,
              answer: 'op_results',
            })}
      end if;${trim(schema, moving)}`;
}

/** The query of the names that are deleted, with their parts. */
const GONE = 'select gone.part, gone.name from unnest(unset_parts, unset_names) gone (part, name)';

/** The statements that resolve the operators, and set what they come to behind all else. */
function resolve(schema: string, moving: Moving): string {
  const present = `(select state.value from ${schema}.state state
              where state.owner = ${ownerOf('op.part', moving)} and state.name = op.name)`;
  return `
      if op_names is not null and own_no is not null then
        with resolved as materialized (
          select op.nth, op.part, op.name, ${resolveCall(schema, 'op.kind', 'op.operand', 'op.expected', present)} as value
            from unnest(op_parts, op_names, op_kinds, op_operands, op_expected)
              with ordinality op (part, name, kind, operand, expected, nth))
        select set_parts || array_agg(resolved.part order by resolved.nth),
            set_names || array_agg(resolved.name order by resolved.nth),
            set_values || array_agg(resolved.value order by resolved.nth),
            json_build_array(op_parts, op_names, array_agg(resolved.value order by resolved.nth)),
            min(resolved.nth) filter (where resolved.value ^@ '!'),
            (array_agg(resolved.value order by resolved.nth) filter (where resolved.value ^@ '!'))[1]
          into set_parts, set_names, set_values, op_results, misfit, fault from resolved;
      end if;`;
}

/**
 * The statement that writes the deletions of shared values into the log, while they are there still. A name that is
 * set again is one write, in the place of the latter.
 */
function logDeleted(schema: string, moving: Moving): string {
  const owner = ownerOf('gone.part', moving);
  const at = positionOf('gone.part', '0', moving);
  return `
          if keeps_log then
            insert into ${schema}.log (${LOG_COLUMNS})
              select ${owner}, ${at}, 0, null, null, null, change_time, user_name, session_id, change_id
                from (${GONE}) gone where gone.part > 0 group by gone.part
              union all
              select ${owner}, ${at}, coalesce(new.nth, ${DELETED} + gone.nth), gone.name, old.value, new.value, change_time,
                  user_name, session_id, change_id
                from (select gone.part, gone.name, min(gone.nth) as nth
                    from unnest(unset_parts, unset_names) with ordinality gone (part, name, nth)
                    where gone.part > 0 group by gone.part, gone.name) gone
                left join unnest(set_parts, set_names, set_values) with ordinality new (part, name, value, nth)
                  on new.part = gone.part and new.name = gone.name
                left join ${schema}.state old on old.owner = ${owner} and old.name = gone.name
                where old.value is not null or new.value is not null;
          end if;`;
}

function judge(schema: string): string {
  return verdict(schema, {
    no: 'own_no',
    rev: 'own_rev',
    fence: 'own_fence',
    created: 'own_created',
    wantedCreated: 'wanted_created',
    wantedFence: 'wanted_fence',
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
      when ${VERDICT.fenced} then '["fenced",' || own_fence || ']'
      when ${VERDICT.conflict} then '["conflict",' || own_rev || ']'
      when ${VERDICT.write} then json_build_array('misfit', misfit - 1, substr(fault, 2))::text
      when ${VERDICT.duplicate} then (
        select json_build_array('duplicate', own_rev, app.pos, usr.pos, ${lastEvent(schema, 'own_no', 'own_rev')},
            ${markOf('app')}, ${markOf('usr')}, event.data, event.results)::text
          from ${schema}.scopes app, ${schema}.scopes usr, ${schema}.events event
          where app.no = app_no and usr.no = usr_no and -event.session = -own_no and event.id = change_id)
      end;`;
}
