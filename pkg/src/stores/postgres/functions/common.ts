// What all functions inside the database have in common.

import { REMEMBERED_MS } from '../../shared/limits.js';
import { VERSION, WRONG_VERSION } from '../version.js';

/**
 * How the functions are run: with plans that are made once, and go through indexes whatever the tables were like when
 * they were made. Nothing but Postgres's own functions and operators is found by an unqualified name.
 */
export const SETTINGS = `language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off`;

/** In how many parts the sessions of a scope are counted: creations at the same time do not wait for each other. */
export const SHARDS = 16;

/** How long updates, refused calls and creations are kept. */
const KEPT = `interval '${REMEMBERED_MS / 1_000} seconds'`;

/** A text as it is written in a statement. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * Whether the schema has the version that a function is of: each that writes looks, after it has looked at the scopes,
 * which comes first in all of them. An upgrade locks the table of the scopes as a whole before anything else, so it
 * waits for those that have begun, and those that begin later see what it has made of the version.
 */
export function isOurVersion(schema: string): string {
  return `exists (select from ${schema}.statepad_version version where version.version = ${VERSION})`;
}

/** The statement that raises {@link WRONG_VERSION}. */
export function wrongVersion(schema: string): string {
  return `raise exception using errcode = '${WRONG_VERSION}', message = ${literal(`the schema ${schema}`)},
      detail = (select coalesce(max(version.version), 0)::text from ${schema}.statepad_version version);`;
}

/** The statement that deletes some of the rows of a table that are kept for a while, `at` being the time they came. */
export function forgetOld(table: string): string {
  return `delete from ${table} old where old.ctid = any(array(
      select done.ctid from ${table} done where done.at < now() - ${KEPT}
      order by done.at limit 100 for update skip locked));`;
}
