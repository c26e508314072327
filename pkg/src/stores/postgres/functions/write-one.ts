// What the functions that write one change have in common. Their variables are those of `appendFunction`.

import { LOG_COLUMNS, moveBase } from './log.js';
import { changedCall, markOf } from './moves.js';
import { MOVES_BETWEEN_TRIMS, TOLD_MOVES } from '../../shared/limits.js';

/** The parameters that say what is known of the scopes, and what is set. */
export const VALUE_PARAMETERS = [
  // Whether what it writes to the app and the user goes into the log.
  'keeps_log boolean',
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
] as const;

/** The variables: the scopes, what others have done to those that are moved, the session, the answer. */
export const VARIABLES = `app_no bigint;
  app_pos bigint;
  app_mark text;
  app_told json;
  usr_no bigint;
  user_pos bigint;
  user_mark text;
  user_told json;
  own_no bigint;
  own_rev integer;
  own_created text;
  answer text;`;

/** Which scopes a change moves, and whether it sets values. */
export interface Moving {
  readonly app: boolean;
  readonly user: boolean;
  readonly values: boolean;
}

/**
 * Statements that differ by what is moved and set: what is not costs nothing. `setsNone`: the condition on which
 * nothing is set.
 */
export function byMoving(setsNone: string, write: (moving: Moving) => string): string {
  return `if app_names is null then
    if user_names is null then
      if ${setsNone} then
        ${write({ app: false, user: false, values: false })}
      else
        ${write({ app: false, user: false, values: true })}
      end if;
    else
      ${write({ app: false, user: true, values: true })}
    end if;
  elsif user_names is null then
    ${write({ app: true, user: false, values: true })}
  else
    ${write({ app: true, user: true, values: true })}
  end if;`;
}

/** The expression of the row that a value belongs to, by the number of its part. */
export function ownerOf(part: string, { app, user }: Moving): string {
  return byPart('own_no', app ? 'app_no' : undefined, user ? 'usr_no' : undefined, part);
}

/** The expression of where a write gets a value to, by the number of its part. `own`: the revision of the session. */
export function positionOf(part: string, own: string, { app, user }: Moving): string {
  return byPart(own, app ? 'app_pos + 1' : undefined, user ? 'user_pos + 1' : undefined, part);
}

function byPart(own: string, app: string | undefined, user: string | undefined, part: string): string {
  const others = [app && `when 1 then ${app}`, user && `when 2 then ${user}`].filter(Boolean);
  return others.length === 0 ? own : `case ${part} when 0 then ${own} ${others.join(' ')} end`;
}

/** The call that tells what others have done to a scope, until a position. */
export function changedSince(schema: string, part: 'app' | 'user', pos: string): string {
  return changedCall(schema, part === 'app' ? 'app_no' : 'usr_no', `${part}_known`, `${part}_by`, pos);
}

/** Where a statement that writes a change has the positions of the scopes, and their marks, from. */
export interface Places {
  /** What comes before its other parts. */
  readonly part: string;
  /** The tables that are read for them, behind others. */
  readonly from: string;
  readonly app: Place;
  readonly user: Place;
}

/** Expressions of where a scope is before the change and after it, and of its mark before it. */
interface Place {
  readonly pos: string;
  readonly after: string;
  readonly mark: string;
}

/**
 * Where the scopes are. What is not locked may have moved while a lock was waited for: it is read by the statement
 * that writes.
 */
export function placesOf(schema: string, moving: Moving): Places {
  const read = [...(moving.app ? [] : ['app']), ...(moving.user ? [] : ['usr'])];
  const columns = read
    .map((alias) => `${alias}.pos as ${alias}_is_at, ${markOf(alias)} as ${alias}_moved_by`)
    .join(', ');
  const tables = read.map((alias) => `${schema}.scopes ${alias}`).join(', ');
  const found = read.map((alias) => `${alias}.no = ${alias}_no`).join(' and ');
  const place = (part: 'app' | 'user', alias: string): Place =>
    moving[part]
      ? { pos: `${part}_pos`, after: `${part}_pos + 1`, mark: `${part}_mark` }
      : { pos: `here.${alias}_is_at`, after: `here.${alias}_is_at`, mark: `here.${alias}_moved_by` };
  return {
    part:
      read.length === 0
        ? ''
        : `here as materialized (select ${columns} from ${tables} where ${found}),
        `,
    from: read.length === 0 ? '' : ', here',
    app: place('app', 'app'),
    user: place('user', 'usr'),
  };
}

/** The columns of the position of an event; null without a log. */
export function eventPositions({ app, user }: Places): string {
  return `case when keeps_log then ${app.after} end, case when keeps_log then ${user.after} end`;
}

/** What differs between the functions that write one change. */
interface Writing {
  /** The expression of the last event before it. */
  readonly last: string;
  /** The condition on which it is known already what others have done to scopes that are moved. */
  readonly told: string;
  /** The expression of the event in the log. */
  readonly event: string;
  /** The condition on which a value that is set, `new`, is in the log already. */
  readonly isLogged?: string;
  /** What the answer has besides. */
  readonly answer?: string;
}

/**
 * The end of the statement that writes a change, behind its part `written`, whose one row has the revision: it moves
 * the scopes, which are locked, writes the values and makes the answer.
 */
export function writeValues(schema: string, moving: Moving, places: Places, writing: Writing): string {
  const { last, told, event, isLogged, answer } = writing;
  const { app, user, from } = places;
  const at = positionOf('new.part', 'written.rev', moving);
  const changed = (part: 'app' | 'user', pos: string): string =>
    `case ${moving[part] ? `when ${told} then ${part}_told ` : ''}when ${part}_known < ${pos}
            then ${changedSince(schema, part, pos)} end`;
  const kept = `,
        kept as (
          insert into ${schema}.state as old (owner, name, value, at, nth, wrote)
            select ${ownerOf('new.part', moving)}, new.name, new.value, ${at}, new.nth, ${at}
            from written, unnest(set_parts, set_names, set_values) with ordinality new (part, name, value, nth)
            on conflict (owner, name) do update set value = excluded.value, wrote = excluded.wrote
              where old.value <> excluded.value)`;
  const logged = `,
        logged as (
          insert into ${schema}.log (${LOG_COLUMNS})
            select ${ownerOf('new.part', moving)}, ${at}, new.nth, new.name, old.value, new.value, change_time, user_name, session_id, ${event}
            from written, unnest(set_parts, set_names, set_values) with ordinality new (part, name, value, nth)
            left join ${schema}.state old on old.owner = ${ownerOf('new.part', moving)} and old.name = new.name
            where keeps_log and new.part > 0${isLogged === undefined ? '' : ` and not ${isLogged}`})`;
  return `${moves(schema, moving)}${moving.values ? kept : ''}${moving.app || moving.user ? logged : ''}
        select json_build_array(written.rev, ${app.after}, ${user.after}, ${last}, ${app.mark}, ${user.mark},
            ${changed('app', app.pos)},
            ${changed('user', user.pos)}${answer === undefined ? '' : `, ${answer}`})
          into answer from written${from};`;
}

/** The parts of the statement that move scopes. */
function moves(schema: string, { app, user }: Moving): string {
  if (!app && !user) {
    return '';
  }
  const names =
    app && user ? 'case moved.no when app_no then app_names else user_names end' : `${app ? 'app' : 'user'}_names`;
  const which = app && user ? 'scope.no = any(array[app_no, usr_no])' : `scope.no = ${app ? 'app_no' : 'usr_no'}`;
  return `,
        moved as (
          update ${schema}.scopes scope
            set pos = scope.pos + 1, mark = change_call, marked = scope.pos + 1, ${moveBase('scope', 'scope.pos + 1')}
            from written where ${which} returning scope.no, scope.pos),
        noted as (
          insert into ${schema}.moves (scope, pos, mark, names) select moved.no, moved.pos, change_call, ${names} from moved)`;
}

/** The statements that delete old moves of the scopes that are moved, now and then. */
export function trim(schema: string, { app, user }: Moving): string {
  const ofScope = (no: string, pos: string): string => `
      if (${pos} + 1) % ${MOVES_BETWEEN_TRIMS} = 0 and answer is not null then
        delete from ${schema}.moves move where move.scope = ${no} and move.pos <= ${pos} + 1 - ${TOLD_MOVES};
      end if;`;
  return `${app ? ofScope('app_no', 'app_pos') : ''}${user ? ofScope('usr_no', 'user_pos') : ''}`;
}
