// The tables of adk-python 2.13, as tests/hosts/adk-python/tables.py prints their statements.

import { readFileSync } from 'node:fs';

const statements = readFileSync(new URL('tables.sql', import.meta.url), 'utf8');

/** The statements that make a schema with the tables in it. */
export function makeTables(schema) {
  return `create schema ${schema}; set search_path = ${schema}; ${statements} reset search_path;`;
}

/** The statement that empties the tables of sessions. */
export function emptyTables(schema) {
  return `truncate ${['sessions', 'events', 'app_states', 'user_states'].map((name) => `${schema}.${name}`).join()}`;
}

/** A schema of a database with the tables in it. */
export async function schemaWithTables(database, pool = database.pool()) {
  const schema = database.schema();
  await pool.query(makeTables(schema));
  return schema;
}
