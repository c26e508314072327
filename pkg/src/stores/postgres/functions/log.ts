// The log of what is written to apps and users. The functions that write have a parameter or a variable `keeps_log`.

import { isOurVersion, SETTINGS, wrongVersion } from './common.js';

/** The columns of the log, in the order in which rows are written. */
export const LOG_COLUMNS = 'scope, pos, nth, name, was, value, time, user_id, session_id, event';

/** What the deletion of a name has for its place in the order of writing, plus its place: it comes before all else. */
export const DELETED = -1_000_000;

/**
 * The expression of the position of a scope, whose row has the alias, from which on nothing is missing in its log.
 * What version 1 has moved has no mark at its position.
 */
export function baseOf(alias: string): string {
  return `case when ${alias}.marked = ${alias}.pos then ${alias}.base else ${alias}.pos end`;
}

/** The assignment of an update that moves a scope to the position `pos`: whether its log goes on. */
export function moveBase(alias: string, pos: string): string {
  return `base = case when keeps_log then ${baseOf(alias)} else ${pos} end`;
}

/**
 * The function that forgets a log up to a position. Answers how many entries there were. Their rows are deleted later,
 * when no writer has to wait for that.
 */
export function trimLogFunction(schema: string): string {
  return `create function ${schema}.trim_log_v2(app_name text, user_name text, up_to bigint) returns bigint ${SETTINGS}
as $trim$
declare
  own_no bigint;
  old_base bigint;
  new_base bigint;
begin
  select scope.no, ${baseOf('scope')}, least(up_to, scope.pos) into own_no, old_base, new_base from ${schema}.scopes scope
    where scope.no = (
      select case when user_name is null then app.no else usr.no end
      from ${schema}.scopes app left join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
      where app.parent = 0 and app.name = app_name)
    for no key update;
  if not ${isOurVersion(schema)} then
    ${wrongVersion(schema)}
  end if;
  if new_base > old_base then
    update ${schema}.scopes scope set base = new_base where scope.no = own_no;
    return new_base - old_base;
  end if;
  return 0;
end
$trim$`;
}

/**
 * The function that deletes the rows of what was forgotten of a log: no one reads them. It locks nothing but them, and
 * answers how many there were.
 */
export function cleanLogFunction(schema: string): string {
  return `create function ${schema}.clean_log_v2(app_name text, user_name text) returns bigint ${SETTINGS}
as $clean$
declare
  count bigint;
begin
  delete from ${schema}.log log using ${schema}.scopes app
    left join ${schema}.scopes usr on usr.parent = app.no and usr.name = user_name
    where app.parent = 0 and app.name = app_name
      and log.scope = case when user_name is null then app.no else usr.no end
      and log.pos <= case when user_name is null then app.base else usr.base end;
  get diagnostics count = row_count;
  return count;
end
$clean$`;
}
