// The tables and columns of sessions that a database has.

import type { AdkDatabase, AdkRow, Dialect } from './database.js';

/** A column as the database describes it. */
export interface ColumnInfo {
  /** Its type in lower case, without a length: `character varying`, `datetime`, `text`. */
  readonly type: string;
  /** The most characters that it may have, where that is bounded. */
  readonly length: number | undefined;
  readonly nullable: boolean;
}

/** Columns by their names, by the names of their tables. */
export type TableColumns = ReadonlyMap<string, ReadonlyMap<string, ColumnInfo>>;

/** The tables that any ADK makes. */
const TABLES = [
  ...['adk_internal_metadata', 'sessions', 'events', 'app_states', 'user_states'],
  ...['adk_sessions', 'adk_events', 'adk_app_state', 'adk_user_state'],
];
const NAMES = TABLES.map((name) => `'${name}'`).join(', ');

const COLUMNS = `table_name AS table_name, column_name AS column_name, data_type AS data_type,
  character_maximum_length AS data_length, is_nullable AS is_nullable`;

/** Describes the columns of all tables of sessions, in the order of the tables and columns. */
const STATEMENTS: Readonly<Record<Dialect, string>> = {
  // The first schema of the search path that has a table is the one that a statement without a schema means.
  postgres: `SELECT ${COLUMNS} FROM information_schema.columns AS c
    WHERE table_name IN (${NAMES}) AND table_schema = (
      SELECT n.nspname FROM pg_class AS t JOIN pg_namespace AS n ON n.oid = t.relnamespace
      WHERE t.oid = to_regclass(quote_ident(c.table_name)))
    ORDER BY table_name, ordinal_position`,
  mysql: `SELECT ${COLUMNS} FROM information_schema.columns
    WHERE table_schema = DATABASE() AND table_name IN (${NAMES}) ORDER BY table_name, ordinal_position`,
  sqlite: `SELECT t.name AS table_name, c.name AS column_name, c.type AS data_type, NULL AS data_length,
      CASE WHEN c."notnull" OR c.pk THEN 'NO' ELSE 'YES' END AS is_nullable
    FROM sqlite_master AS t JOIN pragma_table_info(t.name) AS c
    WHERE t.type = 'table' AND t.name IN (${NAMES}) ORDER BY t.name, c.cid`,
};

/** The tables of sessions that a database has. */
export async function readTables(database: AdkDatabase): Promise<TableColumns> {
  const tables = new Map<string, Map<string, ColumnInfo>>();
  for (const row of await database.query(STATEMENTS[database.dialect], [])) {
    const table = String(row['table_name']);
    const columns = tables.get(table) ?? new Map<string, ColumnInfo>();
    columns.set(String(row['column_name']), columnOf(row));
    tables.set(table, columns);
  }
  return tables;
}

function columnOf(row: AdkRow): ColumnInfo {
  const [, type = '', length] = /^([^(]*)(?:\((\d+)\))?/.exec(String(row['data_type']).toLowerCase()) ?? [];
  const size = row['data_length'] ?? length ?? undefined;
  return {
    type: type.trim(),
    length: size === undefined ? undefined : Number(size),
    nullable: row['is_nullable'] === 'YES',
  };
}
