// Scripts of SQL for the schema of a store.

import { MOVES_BETWEEN_TRIMS, REMEMBERED_MS, REPORTED_MOVES } from '../shared/limits.js';
import { RESERVED_BYTES } from './limits.js';
import { CROWDED, VERSION, WRONG_VERSION } from './version.js';

/**
 * The settings of the functions that a client calls, whatever its connection has: plans are made once, and go through
 * indexes whatever the size of a table was when they were made; an unqualified name means a function or an operator of
 * Postgres alone.
 */
const SETTINGS = [
  'set search_path = pg_catalog, pg_temp',
  'set plan_cache_mode = force_generic_plan',
  'set enable_seqscan = off',
  'set enable_hashjoin = off',
  'set enable_mergejoin = off',
  'set jit = off',
].join('\n');

/** The texts for the names in scripts that begin with a colon. */
const CONSTANTS: Readonly<Record<string, string | number>> = {
  version: VERSION,
  wrong_version: WRONG_VERSION,
  crowded: CROWDED,
  settings: SETTINGS,
  // In how many parts the sessions of a scope are counted: creations at the same time do not wait for each other.
  shards: 16,
  // The time for which updates, refused calls and creations are stored.
  remembered: `interval '${REMEMBERED_MS / 1_000} seconds'`,
  reported_moves: REPORTED_MOVES,
  moves_between_trims: MOVES_BETWEEN_TRIMS,
  reserved_bytes: RESERVED_BYTES,
  // The most events and values of a sweep beyond those of one session, and the most users that it looks at.
  swept_rows: 10_000,
  swept_users: 256,
};

/** A text as it is written in a statement. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * A script for a schema, whose name is quoted. In the script the schema is `statepad`: before a dot its name, also at
 * the beginning of a text, and as a text by itself.
 */
export function inSchema(script: string, schema: string): string {
  const text = literal(schema).slice(0, -1);
  return script
    .replace(/(?<!:):([a-z_]+)/g, (_, name: string) => String(CONSTANTS[name]))
    .replace(/'statepad(?=[.'])|\bstatepad(?=\.)/g, (match) => (match.startsWith("'") ? text : schema));
}
