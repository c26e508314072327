// Whose sessions a database has: found out by reading alone, before anything is touched.

import type { AdkDatabase, Dialect } from './database.js';
import { readTables, type ColumnInfo, type TableColumns } from './tables.js';

export type { AdkDatabase, AdkRow, Dialect } from './database.js';

/**
 * The maker of the tables:
 *
 * - `adk-python-v1`: `DatabaseSessionService` of adk-python since 1.22: events as JSON
 * - `adk-python-v0`: the same before that: a column for each member of an event, its actions as a pickle
 * - `adk-python-sqlite`: `SqliteSessionService` of adk-python
 * - `adk-js`: `DatabaseSessionService` of adk-js
 * - `adk-go`: the database sessions of adk-go: a column for each member of an event
 * - `adk-java`: the MySQL sessions proposed for adk-java: a row for each key of app and user state
 * - `adk-java-v1`: the database sessions proposed for adk-java: the tables of `adk-python-v1`, made by Flyway
 * - `unknown`: none of them
 */
export type AdkKind =
  | 'adk-python-v1'
  | 'adk-python-v0'
  | 'adk-python-sqlite'
  | 'adk-js'
  | 'adk-go'
  | 'adk-java'
  | 'adk-java-v1'
  | 'unknown';

/** The maker of a database, and the evidence. */
export interface AdkIdentity {
  readonly kind: AdkKind;
  readonly dialect: Dialect;
  /** The signs that say so; for `unknown`, all that were seen. In words, for people. */
  readonly signs: readonly string[];
}

/** The identity of a database, and the columns that there are. */
export interface Identified extends AdkIdentity {
  readonly tables: TableColumns;
}

/** The version of the tables of adk-python and adk-js that is known here. */
const SCHEMA_VERSION = '1';

/** The columns that the tables of each layout have at least. */
const SHARED = {
  sessions: ['app_name', 'user_id', 'id', 'state', 'create_time', 'update_time'],
  app_states: ['app_name', 'state'],
  user_states: ['app_name', 'user_id', 'state'],
};
const EVENT_KEY = ['id', 'app_name', 'user_id', 'session_id', 'invocation_id', 'timestamp'];
const LAYOUTS = {
  json: { ...SHARED, events: [...EVENT_KEY, 'event_data'] },
  columns: { ...SHARED, events: [...EVENT_KEY, 'author', 'actions', 'long_running_tool_ids_json', 'content'] },
  rows: {
    adk_sessions: ['app_name', 'user_id', 'session_id', 'state', 'created_at', 'updated_at'],
    adk_events: ['event_sequence', 'app_name', 'user_id', 'session_id', 'event_id', 'event_data', 'created_at'],
    adk_app_state: ['app_name', 'state_key', 'state_value'],
    adk_user_state: ['app_name', 'user_id', 'state_key', 'state_value'],
  },
} as const satisfies Record<string, Record<string, readonly string[]>>;

/** Finds out who has made the tables of a database. Reads alone; throws what the database throws. */
export async function identifyTables(database: AdkDatabase): Promise<Identified> {
  const { dialect } = database;
  const tables = await readTables(database);
  const { kind, signs } = await kindOf(database, tables);
  return { kind, dialect, signs, tables };
}

type Verdict = Pick<AdkIdentity, 'kind' | 'signs'>;

async function kindOf(database: AdkDatabase, tables: TableColumns): Promise<Verdict> {
  if (has(tables, LAYOUTS.rows)) {
    return { kind: 'adk-java', signs: ['the tables are adk_sessions, adk_events, adk_app_state and adk_user_state'] };
  }
  if (has(tables, LAYOUTS.json)) {
    return await kindOfJson(database, tables);
  }
  if (has(tables, LAYOUTS.columns) && !tables.get('events')?.has('event_data')) {
    return await kindOfColumns(database, tables);
  }
  return { kind: 'unknown', signs: [describeTables(tables)] };
}

/** Events as JSON: adk-python, adk-js, or what adk-java may have. */
async function kindOfJson(database: AdkDatabase, tables: TableColumns): Promise<Verdict> {
  const sign = 'events have event_data';
  const time = columnOf(tables, 'events', 'timestamp');
  if (!tables.has('adk_internal_metadata')) {
    return database.dialect === 'sqlite' && time.type === 'real'
      ? { kind: 'adk-python-sqlite', signs: [sign, 'events.timestamp is REAL'] }
      : { kind: 'unknown', signs: [sign, 'there is no table adk_internal_metadata', describeTables(tables)] };
  }
  const version = await schemaVersion(database);
  const signs = [sign, `adk_internal_metadata says schema_version ${version ?? '(nothing)'}`];
  if (version !== SCHEMA_VERSION) {
    return { kind: 'unknown', signs };
  }
  const name = columnOf(tables, 'sessions', 'app_name');
  const created = columnOf(tables, 'sessions', 'create_time');
  if (name.type === 'text' || name.length === 191 || created.type === 'timestamp with time zone') {
    return { kind: 'adk-js', signs: [...signs, `sessions.app_name is ${describeColumn(name)}, as MikroORM makes it`] };
  }
  if (time.nullable && columnOf(tables, 'events', 'invocation_id').nullable) {
    return { kind: 'adk-java-v1', signs: [...signs, 'events.timestamp and events.invocation_id may be NULL'] };
  }
  return {
    kind: 'adk-python-v1',
    signs: [...signs, `sessions.app_name is ${describeColumn(name)}, as SQLAlchemy makes it`],
  };
}

/** A column for each member of an event: the first byte of actions shows it, and the types where there are none. */
async function kindOfColumns(database: AdkDatabase, tables: TableColumns): Promise<Verdict> {
  const sign = 'events have actions, and no event_data';
  const [row] = await database.query('SELECT actions FROM events WHERE actions IS NOT NULL LIMIT 1', []);
  const first = row === undefined ? undefined : firstByte(row['actions']);
  if (first === PICKLE) {
    return { kind: 'adk-python-v0', signs: [sign, 'actions are a pickle'] };
  }
  if (first === BRACE) {
    return { kind: 'adk-go', signs: [sign, 'actions are JSON'] };
  }
  if (row !== undefined) {
    return { kind: 'unknown', signs: [sign, 'actions are neither a pickle nor JSON'] };
  }
  const name = columnOf(tables, 'sessions', 'app_name');
  const isOfGorm = name.type === 'text' || name.type === 'longtext' || name.length === 191;
  const sees = `there are no events, and sessions.app_name is ${describeColumn(name)}`;
  return { kind: isOfGorm ? 'adk-go' : 'adk-python-v0', signs: [sign, sees] };
}

/** The first byte of pickles of protocol 2 and later, and that of an object in JSON. */
const PICKLE = 0x80;
const BRACE = 0x7b;

function firstByte(value: unknown): number | undefined {
  return typeof value === 'string' ? value.charCodeAt(0) : value instanceof Uint8Array ? value[0] : undefined;
}

async function schemaVersion(database: AdkDatabase): Promise<string | undefined> {
  const key = database.dialect === 'mysql' ? '`key`' : '"key"';
  const text = `SELECT value AS version FROM adk_internal_metadata WHERE ${key} = 'schema_version'`;
  const [row] = await database.query(text, []);
  return typeof row?.['version'] === 'string' ? row['version'] : undefined;
}

function has(tables: TableColumns, layout: Readonly<Record<string, readonly string[]>>): boolean {
  return Object.entries(layout).every(([table, columns]) => columns.every((name) => tables.get(table)?.has(name)));
}

const ABSENT: ColumnInfo = { type: '', length: undefined, nullable: false };

function columnOf(tables: TableColumns, table: string, column: string): ColumnInfo {
  return tables.get(table)?.get(column) ?? ABSENT;
}

function describeColumn({ type, length }: ColumnInfo): string {
  return length === undefined ? type : `${type}(${length})`;
}

function describeTables(tables: TableColumns): string {
  const descriptions = [...tables].map(([table, columns]) => `${table} (${[...columns.keys()].join(', ')})`);
  return descriptions.length === 0
    ? 'there are no tables of sessions'
    : `there are the tables ${descriptions.join('; ')}`;
}
