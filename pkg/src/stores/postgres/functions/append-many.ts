// The function inside the database that writes a batch of events, one for each of its sessions: by statements over
// sets, whose number does not grow with the batch.

import { SETTINGS } from './common.js';
import { LOG_COLUMNS, moveBase } from './log.js';
import { changedCall, markOf } from './moves.js';
import { lastEvent, refuseOtherVersion, verdict, VERDICT } from './verdict.js';
import { MOVES_BETWEEN_TRIMS, TOLD_MOVES } from '../../shared/limits.js';

/**
 * The name of the function and its parameters. Arrays of one prefix have an element each for the same thing: a scope
 * (its place is the one in these arrays, from 1), an event (in the order of locking; its place likewise), a value.
 */
export const APPEND_MANY = {
  name: 'append_many_v2',
  parameters: [
    // Whether what they write to apps and users goes into the log.
    'keeps_log boolean',
    // Apps, which have the parent 0, and users, which have their app's place, in the order of locking; whether an
    // event moves them.
    'scope_parents integer[]',
    'scope_names text[]',
    'scope_moves boolean[]',
    // The place in the batch, and the parts of each event, as those of `appendFunction`.
    'turns integer[]',
    'app_places integer[]',
    'user_places integer[]',
    'session_ids text[]',
    'wanted_created text[]',
    'wanted_revs double precision[]',
    'wanted_fences double precision[]',
    'ids text[]',
    'calls text[]',
    'times double precision[]',
    'event_times double precision[]',
    'event_data text[]',
    'app_names text[]',
    'user_names text[]',
    // Values that are set: the place of the event, 0 for the session's, 1 for the app's, 2 for the user's.
    'set_events integer[]',
    'set_parts integer[]',
    'set_names text[]',
    'set_values text[]',
    // Values of sessions that are deleted before that.
    'unset_events integer[]',
    'unset_names text[]',
    // What callers know of scopes.
    'known_places integer[]',
    'known_positions bigint[]',
    'known_marks text[]',
  ],
} as const;

/**
 * The function that appends events, each as `appendFunction` does. Answers a JSON object, from which `outcomesOf`
 * tells what became of each event:
 *
 * - `events`: in the order of locking `[verdict, rev, last, data, results]`: the revision and the last event as they
 *   are before the batch; for a duplicate what is stored. `[verdict, fence]` where the lease was lost
 * - `scopes`: by their places `[number, pos, mark]`, before the batch
 * - `told`: for each thing that is known of a scope, what has happened to it since then, before the batch
 * - `written`: `[number, name, at]` for values of scopes that are written: the position at which each first was there
 *
 * Sessions are locked first, then scopes, in the order of all calls. Each statement sees what was committed before it
 * began: what is looked at is looked at when all is locked. A statement costs by its parts, also where they find
 * nothing: batches that move no scope have statements of their own.
 */
export function appendManyFunction(schema: string): string {
  return `create function ${schema}.${APPEND_MANY.name}(${APPEND_MANY.parameters.join(', ')}) returns text ${SETTINGS}
as $append$
declare
  scope_nos bigint[];
  locked_nos bigint[];
  -- By the place of an event: null where it is not written.
  session_nos bigint[];
  revs integer[];
  app_positions bigint[];
  user_positions bigint[];
  is_trimmed boolean;
  is_written boolean;
  answer_events json;
  answer_scopes json;
  answer_told json;
  answer_written json;
begin
  select array_agg(scope.no order by wanted.place) into scope_nos
    from unnest(scope_parents, scope_names) with ordinality wanted (parent, name, place)
    left join ${schema}.scopes app on app.parent = 0 and app.name = scope_names[wanted.parent]
    left join ${schema}.scopes scope on scope.name = wanted.name
      and scope.parent = case wanted.parent when 0 then 0 else app.no end;
  select array_agg(locked.no) into locked_nos from (
    select session.no from unnest(user_places, session_ids) with ordinality wanted (user_place, id, place)
      join ${schema}.sessions session on session.usr = scope_nos[wanted.user_place] and session.id = wanted.id
      order by wanted.place for no key update of session) locked;
  if true = any(scope_moves) then
    perform from unnest(scope_moves) with ordinality wanted (moves, place)
      join ${schema}.scopes scope on scope.no = scope_nos[wanted.place]
      where wanted.moves order by wanted.place for no key update of scope;
    ${look(schema, true)}
    ${refuseOtherVersion(schema)}
    ${writeAll(schema, true)}
  else
    ${look(schema, false)}
    ${refuseOtherVersion(schema)}
    ${writeAll(schema, false)}
  end if;
  return json_build_object('events', answer_events, 'scopes', answer_scopes, 'told', answer_told,
    'written', answer_written);
end
$append$`;
}

/** The statement that looks at everything, and rules which events are written. `moves`: whether any moves a scope. */
function look(schema: string, moves: boolean): string {
  const ruling = verdict(schema, {
    no: 'session.no',
    rev: 'session.rev',
    fence: 'session.fence',
    created: 'session.created',
    wantedCreated: 'wanted.created',
    wantedFence: 'wanted.fence',
    wantedRev: 'wanted.rev',
    id: 'wanted.id',
    call: 'wanted.call',
  });
  // Where a scope is after an event: each event before it, or that one, that is written and moves it, moves it by one.
  const position = (scope: 'app' | 'user'): string =>
    moves
      ? `array_agg(ruled.${scope}_pos + ruled.${scope}_moves)`
      : `array_agg((select positions.pos from positions)[ruled.${scope}_place])`;
  const movesUntil = (scope: 'app' | 'user'): string =>
    `count(*) filter (where judged.ruling = ${VERDICT.write} and judged.${scope}_names is not null)
          over (partition by judged.${scope}_place order by judged.turn) as ${scope}_moves`;
  const isTrimmed = (scope: 'app' | 'user'): string =>
    `(ruled.${scope}_pos + ruled.${scope}_moves) / ${MOVES_BETWEEN_TRIMS} > ruled.${scope}_pos / ${MOVES_BETWEEN_TRIMS}`;
  const ruled = moves
    ? `(select judged.*, positions.pos[judged.app_place] as app_pos, positions.pos[judged.user_place] as user_pos,
          ${movesUntil('app')},
          ${movesUntil('user')}
        from judged, positions order by judged.place)`
    : 'judged';
  return `with judged as materialized (
      select wanted.*, session.no, session.rev as found_rev, session.fence as found_fence, ${ruling} as ruling, ${lastEvent(schema, 'session.no', 'session.rev')} as last
        from unnest(turns, app_places, user_places, session_ids, wanted_created, wanted_revs, wanted_fences, ids,
            calls, app_names, user_names)
          with ordinality wanted (turn, app_place, user_place, session_id, created, rev, fence, id, call, app_names, user_names, place)
        left join ${schema}.sessions session
          on session.usr = scope_nos[wanted.user_place] and session.id = wanted.session_id and session.no = any(locked_nos)),
    scopes as materialized (
      select wanted.place, scope.no, coalesce(scope.pos, 0) as pos, ${markOf('scope')} as mark
        from unnest(scope_nos) with ordinality wanted (no, place)
        left join ${schema}.scopes scope on scope.no = wanted.no),
    positions as materialized (
      select array_agg(scopes.pos order by scopes.place) as pos,
          json_agg(json_build_array(scopes.no, scopes.pos, scopes.mark) order by scopes.place) as answer from scopes)
    select array_agg(case when ruled.ruling = ${VERDICT.write} then ruled.no end), array_agg(ruled.found_rev + 1),
        ${position('app')}, ${position('user')},
        json_agg(case ruled.ruling
          when ${VERDICT.duplicate} then (
            select json_build_array(ruled.ruling, ruled.found_rev, ruled.last, event.data, event.results)
              from ${schema}.events event where -event.session = -ruled.no and event.id = ruled.id)
          when ${VERDICT.fenced} then json_build_array(ruled.ruling, ruled.found_fence)
          else json_build_array(ruled.ruling, ruled.found_rev, ruled.last) end),
        (select positions.answer from positions),
        (select json_agg(case when known.pos < positions.pos[known.place]
            then ${changedCall(schema, 'scope_nos[known.place]', 'known.pos', 'known.mark', 'positions.pos[known.place]')} end
            order by known.nth)
          from unnest(known_places, known_positions, known_marks) with ordinality known (place, pos, mark, nth), positions),
        bool_or(ruled.ruling = ${VERDICT.write}),
        ${moves ? `bool_or(${isTrimmed('app')} or ${isTrimmed('user')})` : 'false'}
      into session_nos, revs, app_positions, user_positions, answer_events, answer_scopes, answer_told, is_written, is_trimmed
      from ${ruled} ruled;`;
}

/** The statements that write the events that are written, and what belongs to them. */
function writeAll(schema: string, moves: boolean): string {
  const values =
    'unnest(set_events, set_parts, set_names, set_values) with ordinality new (event, part, name, value, nth)';
  const merged = `on conflict (owner, name) do update set value = excluded.value, wrote = excluded.wrote
          where old.value <> excluded.value`;
  return `if unset_events is not null and is_written then
      delete from ${schema}.state state using unnest(unset_events, unset_names) gone (event, name)
        where state.owner = session_nos[gone.event] and state.name = gone.name;
    end if;
    if is_written then
      with written as (
        insert into ${schema}.events (session, rev, id, time, data, app_pos, user_pos)
          select session_nos[event.place], revs[event.place], event.id, event.time, event.data,
              case when keeps_log then app_positions[event.place] end, case when keeps_log then user_positions[event.place] end
            from unnest(ids, event_times, event_data) with ordinality event (id, time, data, place)
            where session_nos[event.place] is not null),
      stamped as (
        update ${schema}.sessions session set rev = revs[event.place], time = event.time
          from unnest(user_places, session_ids, times) with ordinality event (user_place, session, time, place)
          where session.usr = scope_nos[event.user_place] and session.id = event.session
            and session_nos[event.place] is not null)${moves ? moveScopes(schema, values, merged) : ''}
      ${moves ? ', own as (' : ''}insert into ${schema}.state as old (owner, name, value, at, nth, wrote)
        select session_nos[new.event], new.name, new.value, revs[new.event], new.nth, revs[new.event]
          from ${values}
          where new.part = 0 and session_nos[new.event] is not null
        ${merged}${
          moves
            ? `)
      select json_agg(json_build_array(shared.owner, shared.name, shared.at)) into answer_written from shared`
            : ''
        };
    end if;${moves ? trim(schema) : ''}`;
}

/** The parts of the statement that move scopes, and write their values. */
function moveScopes(schema: string, values: string, merged: string): string {
  const moving = (
    part: 'app' | 'user',
  ): string => `select scope_nos[event.scope] as no, ${part}_positions[event.place] as pos,
            event.call, event.names
          from unnest(${part}_places, calls, ${part}_names) with ordinality event (scope, call, names, place)
          where event.names is not null and session_nos[event.place] is not null`;
  return `,
      moving as materialized (${moving('app')}
        union all ${moving('user')}),
      moved as (
        update ${schema}.scopes scope set pos = last.pos, mark = last.call, marked = last.pos, ${moveBase('scope', 'last.pos')}
          from (select distinct on (moving.no) moving.* from moving order by moving.no, moving.pos desc) last
          where scope.no = last.no),
      noted as (
        insert into ${schema}.moves (scope, pos, mark, names)
          select moving.no, moving.pos, moving.call, moving.names::jsonb from moving),
      sets as materialized (
        select new.event, new.name, new.value, new.nth,
            scope_nos[(case new.part when 1 then app_places else user_places end)[new.event]] as scope,
            (case new.part when 1 then app_positions else user_positions end)[new.event] as pos
          from ${values}
          where new.part > 0 and session_nos[new.event] is not null),
      logged as (
        insert into ${schema}.log (${LOG_COLUMNS})
          select new.scope, new.pos, new.nth, new.name,
              coalesce(lag(new.value) over (partition by new.scope, new.name order by new.pos), old.value), new.value,
              times[new.event], scope_names[user_places[new.event]], session_ids[new.event], ids[new.event]
            from sets new left join ${schema}.state old on old.owner = new.scope and old.name = new.name
            where keeps_log),
      shared as (
        insert into ${schema}.state as old (owner, name, value, at, nth, wrote)
          select new.scope, new.name, (array_agg(new.value order by new.pos desc))[1], min(new.pos),
              (array_agg(new.nth order by new.pos))[1], max(new.pos)
            from sets new
            group by new.scope, new.name
          ${merged}
          returning owner, name, at)`;
}

/** The statement that deletes old moves of the scopes, now and then. */
function trim(schema: string): string {
  return `
    if is_trimmed and is_written then
      delete from ${schema}.moves move using unnest(scope_nos, scope_moves) scope (no, moves)
        where scope.moves and move.scope = scope.no
          and move.pos <= (select moved.pos from ${schema}.scopes moved where moved.no = scope.no) - ${TOLD_MOVES};
    end if;`;
}
