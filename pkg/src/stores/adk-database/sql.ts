// Texts of statements. They carry their values in them, because several go to the server in one message.

import { columnTime } from './times.js';
import { isEmpty, namesIn } from '../shared/values.js';
import { isWellFormed } from '../../model/json.js';
import { jsonWithBigints } from '../../model/json-numbers.js';
import type { Delta, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** The names of the tables, with their schema. */
export interface Tables {
  readonly sessions: string;
  readonly events: string;
  readonly app: string;
  readonly user: string;
}

/** The tables in a schema, whose name is quoted. */
export function tablesIn(schema: string): Tables {
  return {
    sessions: `${schema}.sessions`,
    events: `${schema}.events`,
    app: `${schema}.app_states`,
    user: `${schema}.user_states`,
  };
}

/** A text as it is written in a statement, whatever the server's settings are. It has no NUL. */
export function literal(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** Values as they are written in a statement; one that was read as a `bigint`, too. */
export function jsonb(value: Values): string {
  return `${literal(jsonWithBigints(value))}::jsonb`;
}

/** A time, in microseconds, as it is written in a statement. */
export function timestamp(microseconds: number): string {
  return `timestamp ${literal(columnTime(microseconds))}`;
}

/** A list of texts as it is written in a statement. */
export function texts(items: readonly string[]): string {
  return `array[${items.map(literal).join(', ')}]::text[]`;
}

/** The microseconds of a time, as text: no client makes anything else of it. */
export function microseconds(column: string): string {
  return `(extract(epoch from ${column}) * 1000000)::bigint::text`;
}

/** A condition: a row of `sessions` is the one of a key. */
export function isSession({ appName, userId, sessionId }: SessionKey): string {
  return `app_name = ${literal(appName)} and user_id = ${literal(userId)} and id = ${literal(sessionId)}`;
}

/** A condition: a row of `events` is of this session. */
export function isEventOf({ appName, userId, sessionId }: SessionKey): string {
  return `app_name = ${literal(appName)} and user_id = ${literal(userId)} and session_id = ${literal(sessionId)}`;
}

/**
 * The version of a row, unlike every other: its writer, its place, and its time. Each write makes another one, and a
 * lock does not.
 */
export function versionOf(row: string): string {
  return `concat_ws(' ', ${row}.xmin, ${row}.ctid, extract(epoch from ${row}.update_time))`;
}

/** A condition: a state is empty, which its size tells without reading it. */
export function isEmptyState(row: string): string {
  return `(pg_column_size(${row}.state) <= 8)`;
}

/** A state after a delta: without what is deleted, with what is set. */
export function merged(state: string, { set = {}, unset = [] }: Delta): string {
  const deleted = unset.filter(isKeepable);
  const without = deleted.length === 0 ? state : `(${state} - ${texts(deleted)})`;
  return Object.keys(set).length === 0 ? without : `${without} || ${jsonb(set)}`;
}

/** A condition: names have the values, or the absence, that a guard expects. Values are compared as JSON. */
export function holds(state: string, { set = {}, unset = [] }: Delta): string {
  const absent = unset.filter(isKeepable);
  const other = `select from jsonb_each(${jsonb(set)}) expected
    where coalesce(${state} -> expected.key <> expected.value, true)`;
  return [
    ...(Object.keys(set).length === 0 ? [] : [`not exists (${other})`]),
    ...(absent.length === 0 ? [] : [`not jsonb_exists_any(${state}, ${texts(absent)})`]),
    'true',
  ].join(' and ');
}

/** True if a delta writes anything or is about any name. */
export function isAbout(delta: Delta | undefined): delta is Delta {
  return !isEmpty(delta) && namesIn(delta as Delta).length > 0;
}

/** True if Postgres can keep a text in a column or in JSON. */
export function isKeepable(text: string): boolean {
  return !text.includes('\0') && isWellFormed(text);
}
