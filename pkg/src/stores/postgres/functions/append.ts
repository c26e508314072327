// The function inside the database that writes a single event, which most changes are: each of its parameters is a
// value, and what is written is one statement.

import { isOurVersion, SETTINGS } from './common.js';
import { changedCall, markOf } from './moves.js';
import { lastEvent, refuseOtherVersion, verdict, VERDICT } from './verdict.js';
import { MOVES_BETWEEN_TRIMS, TOLD_MOVES } from '../../shared/limits.js';

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
    // The positions and marks that the caller knows; null where it does not.
    'app_known bigint',
    'app_by text',
    'user_known bigint',
    'user_by text',
    // The names that it sets and deletes of the app's and the user's values; null where it moves nothing there.
    'app_names jsonb',
    'user_names jsonb',
    // Values that it sets: 0 for the session's, 1 for the app's, 2 for the user's; names; JSON texts.
    'set_parts integer[]',
    'set_names text[]',
    'set_values text[]',
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
 * was committed until then: it looks whether the event may be written, and writes everything.
 */
export function appendFunction(schema: string): string {
  return `create function ${schema}.${APPEND.name}(${APPEND.parameters.join(', ')}) returns text ${SETTINGS}
as $append$
declare
  app_no bigint;
  app_pos bigint;
  app_mark text;
  usr_no bigint;
  user_pos bigint;
  user_mark text;
  own_no bigint;
  own_rev integer;
  own_created text;
  ruling integer;
  -- What others have done to moved scopes, where values are deleted: it is told as it was before that.
  app_told json;
  user_told json;
  answer text;
begin
  if app_names is null then
    if user_names is null then
      ${write(schema, false, false)}
    else
      ${write(schema, false, true)}
    end if;
  elsif user_names is null then
    ${write(schema, true, false)}
  else
    ${write(schema, true, true)}
  end if;
  if answer is null then
    ${refuse(schema)}
  end if;
  return answer;
end
$append$`;
}

/** The expression of the row that a value belongs to, for events that move these scopes. */
function byPart(own: string, app: string | undefined, user: string | undefined, part: string): string {
  const others = [app && `when 1 then ${app}`, user && `when 2 then ${user}`].filter(Boolean);
  return others.length === 0 ? own : `case ${part} when 0 then ${own} ${others.join(' ')} end`;
}

/** The statements for events that move these scopes. They leave no answer when nothing is written. */
function write(schema: string, movesApp: boolean, movesUser: boolean): string {
  const locked = ['session', ...(movesApp ? ['app'] : []), ...(movesUser ? ['usr'] : [])].join(', ');
  // What is not locked may have moved while a lock was waited for: it is read with what is written.
  const app = movesApp ? { pos: 'app_pos', after: 'app_pos + 1', mark: 'app_mark' } : unmoved('app');
  const user = movesUser ? { pos: 'user_pos', after: 'user_pos + 1', mark: 'user_mark' } : unmoved('usr');
  const tables = [
    'written',
    ...(movesApp ? [] : [`${schema}.scopes app`]),
    ...(movesUser ? [] : [`${schema}.scopes usr`]),
  ];
  const found = [...(movesApp ? [] : ['app.no = app_no']), ...(movesUser ? [] : ['usr.no = usr_no'])];
  const changed = (part: 'app' | 'user', pos: string): string =>
    changedCall(schema, part === 'app' ? 'app_no' : 'usr_no', `${part}_known`, `${part}_by`, pos);
  const told = (part: 'app' | 'user', pos: string, moves: boolean): string =>
    moves
      ? `case when unset_names is not null then ${part}_told when ${part}_known < ${pos} then ${changed(part, pos)} end`
      : `case when ${part}_known < ${pos} then ${changed(part, pos)} end`;
  const tell = (part: 'app' | 'user'): string => `
        if ${part}_known < ${part}_pos then
          ${part}_told := ${changed(part, `${part}_pos`)};
        end if;`;
  const owner = (part: string): string =>
    byPart('own_no', movesApp ? 'app_no' : undefined, movesUser ? 'usr_no' : undefined, part);
  const at = byPart(
    'written.rev',
    movesApp ? 'app_pos + 1' : undefined,
    movesUser ? 'user_pos + 1' : undefined,
    'new.part',
  );
  return `select app.no, app.pos, ${markOf('app')}, usr.no, usr.pos, ${markOf('usr')}, session.no, session.rev, session.created
        into app_no, app_pos, app_mark, usr_no, user_pos, user_mark, own_no, own_rev, own_created
        from ${schema}.scopes app
        join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
        join ${schema}.sessions session on session.usr = usr.no and session.id = session_id
        where app.parent = 0 and app.name = app_name for no key update of ${locked};
      if unset_names is not null and (${judge(schema)}) = ${VERDICT.write} then${movesApp ? tell('app') : ''}${movesUser ? tell('user') : ''}
        delete from ${schema}.state state using unnest(unset_parts, unset_names) gone (part, name)
          where state.owner = ${owner('gone.part')} and state.name = gone.name;
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
            where session.usr = usr_no and session.id = session_id),${moves(schema, movesApp, movesUser)}
        kept as (
          insert into ${schema}.state as old (owner, name, value, at, nth, wrote)
            select ${owner('new.part')}, new.name, new.value, ${at}, new.nth, ${at}
            from written, unnest(set_parts, set_names, set_values) with ordinality new (part, name, value, nth)
            on conflict (owner, name) do update set value = excluded.value, wrote = excluded.wrote
              where old.value <> excluded.value)
        select json_build_array(written.rev, ${app.after}, ${user.after}, ${lastEvent(schema, 'own_no', 'own_rev')},
            ${app.mark}, ${user.mark},
            ${told('app', app.pos, movesApp)},
            ${told('user', user.pos, movesUser)})
          into answer from ${tables.join(', ')}${found.length > 0 ? ` where ${found.join(' and ')}` : ''};
      end if;${movesApp ? trim(schema, 'app_no', 'app_pos') : ''}${movesUser ? trim(schema, 'usr_no', 'user_pos') : ''}`;
}

/** The parts of the statement that move scopes, which are locked. */
function moves(schema: string, movesApp: boolean, movesUser: boolean): string {
  if (!movesApp && !movesUser) {
    return '';
  }
  const names =
    movesApp && movesUser
      ? 'case moved.no when app_no then app_names else user_names end'
      : movesApp
        ? 'app_names'
        : 'user_names';
  const which =
    movesApp && movesUser ? 'scope.no = any(array[app_no, usr_no])' : `scope.no = ${movesApp ? 'app_no' : 'usr_no'}`;
  return `
        moved as (
          update ${schema}.scopes scope set pos = scope.pos + 1, mark = change_call, marked = scope.pos + 1
            from written where ${which} returning scope.no, scope.pos),
        noted as (
          insert into ${schema}.moves (scope, pos, mark, names) select moved.no, moved.pos, change_call, ${names} from moved),`;
}

/** The statement that deletes old moves of a scope, now and then. */
function trim(schema: string, no: string, pos: string): string {
  return `
      if (${pos} + 1) % ${MOVES_BETWEEN_TRIMS} = 0 and answer is not null then
        delete from ${schema}.moves move where move.scope = ${no} and move.pos <= ${pos} + 1 - ${TOLD_MOVES};
      end if;`;
}

/** A scope that is not moved, whose row has the alias. */
function unmoved(alias: string): { readonly pos: string; readonly after: string; readonly mark: string } {
  return { pos: `${alias}.pos`, after: `${alias}.pos`, mark: markOf(alias) };
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
