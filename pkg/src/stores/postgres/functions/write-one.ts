// What the functions that write one change have in common. Their variables are those of `appendFunction`.

import { changedCall, markOf } from './moves.js';
import { MOVES_BETWEEN_TRIMS, TOLD_MOVES } from '../../shared/limits.js';

/** The parameters that say what is known of the scopes, and what is set. */
export const VALUE_PARAMETERS = [
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

/** Statements that differ by what is moved and set: what is not costs nothing. */
export function byMoving(write: (moving: Moving) => string): string {
  return `if app_names is null then
    if user_names is null then
      if set_names is null then
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

function byPart(own: string, app: string | undefined, user: string | undefined, part: string): string {
  const others = [app && `when 1 then ${app}`, user && `when 2 then ${user}`].filter(Boolean);
  return others.length === 0 ? own : `case ${part} when 0 then ${own} ${others.join(' ')} end`;
}

/** The call that tells what others have done to a scope, until a position. */
export function changedSince(schema: string, part: 'app' | 'user', pos: string): string {
  return changedCall(schema, part === 'app' ? 'app_no' : 'usr_no', `${part}_known`, `${part}_by`, pos);
}

/**
 * The end of the statement that writes a change, behind its part `written`, whose one row has the revision: it moves
 * the scopes, which are locked, writes the values and makes the answer. `last`: the expression of the last event
 * before it; `told`: the condition on which it is known already what others have done to scopes that are moved.
 */
export function writeValues(schema: string, moving: Moving, { last, told }: { last: string; told: string }): string {
  // What is not locked may have moved while a lock was waited for: it is read with what is written.
  const app = moving.app ? { pos: 'app_pos', after: 'app_pos + 1', mark: 'app_mark' } : unmoved('app');
  const user = moving.user ? { pos: 'user_pos', after: 'user_pos + 1', mark: 'user_mark' } : unmoved('usr');
  const read = [...(moving.app ? [] : ['app']), ...(moving.user ? [] : ['usr'])];
  const tables = ['written', ...read.map((alias) => `${schema}.scopes ${alias}`)].join(', ');
  const found = read.length === 0 ? '' : ` where ${read.map((alias) => `${alias}.no = ${alias}_no`).join(' and ')}`;
  const at = byPart(
    'written.rev',
    moving.app ? 'app_pos + 1' : undefined,
    moving.user ? 'user_pos + 1' : undefined,
    'new.part',
  );
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
  return `${moves(schema, moving)}${moving.values ? kept : ''}
        select json_build_array(written.rev, ${app.after}, ${user.after}, ${last}, ${app.mark}, ${user.mark},
            ${changed('app', app.pos)},
            ${changed('user', user.pos)})
          into answer from ${tables}${found};`;
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
          update ${schema}.scopes scope set pos = scope.pos + 1, mark = change_call, marked = scope.pos + 1
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

/** A scope that is not moved, whose row has the alias. */
function unmoved(alias: string): { readonly pos: string; readonly after: string; readonly mark: string } {
  return { pos: `${alias}.pos`, after: `${alias}.pos`, mark: markOf(alias) };
}
