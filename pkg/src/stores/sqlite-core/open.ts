// Opening a database: makes or upgrades the tables, and refuses tables that are not statepad's.

import { StoreError } from '../../store/store-error.js';
import { newerVersion, olderVersion, otherLayout } from '../../store/refusals.js';
import * as sql from './statements.js';
import { LAYOUT, META, SCHEMA_VERSION, TABLES } from './schema.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { Migrate } from '../../store/contract.js';

/** The part of a driver that makes the tables. */
export type SchemaDriver = Omit<SqlDriver, 'first' | 'lists'>;

/** A schema, and the statements that make it. */
export interface Schema {
  readonly version: number;
  /** The fingerprint of its statements: see {@link LAYOUT}. */
  readonly layout: string;
  /** The statements that make it, but for `statepad_meta`. */
  readonly tables: readonly string[];
  /** The statements that make the next version of an older one, by the older one. */
  readonly upgrades: Readonly<Record<number, readonly string[]>>;
  /** The names of the tables and indexes of older versions, by the version. */
  readonly names: Readonly<Record<number, readonly string[]>>;
}

const CURRENT: Schema = { version: SCHEMA_VERSION, layout: LAYOUT, tables: TABLES, upgrades: {}, names: {} };

/** The name of the database in refusals of a version. */
const WHAT = 'the database';

/** See `SessionStore.open`. All or nothing, and safe when others open the same database at the same time. */
export function openSchema(driver: SchemaDriver, migrate: Migrate, schema: Schema = CURRENT): void {
  const version = driver.snapshot(() => versionOf(driver, schema));
  if (version === schema.version) {
    return;
  }
  if (migrate === 'check' && version === undefined) {
    throw unsuited('there are no tables yet');
  }
  if (migrate !== 'upgrade' && version !== undefined) {
    throw olderVersion(WHAT, version, schema.version);
  }
  driver.transaction(() => {
    // Another connection may have been faster.
    const current = versionOf(driver, schema);
    if (current !== schema.version) {
      const statements = current === undefined ? [META, ...schema.tables] : stepsFrom(current, migrate, schema);
      statements.forEach((statement) => driver.run(statement, []));
      driver.run(sql.WRITE_META, ['version', String(schema.version)]);
      driver.run(sql.WRITE_META, ['layout', schema.layout]);
    }
  });
}

/** Throws `rejected` when the tables have not the version that this module writes: a later one has come meanwhile. */
export function checkVersion(version: unknown): void {
  if (version !== String(SCHEMA_VERSION)) {
    throw newerVersion(WHAT, Number(version), SCHEMA_VERSION);
  }
}

function stepsFrom(version: number, migrate: Migrate, schema: Schema): readonly string[] {
  if (migrate !== 'upgrade') {
    throw olderVersion(WHAT, version, schema.version);
  }
  const steps: string[] = [];
  for (let from = version; from < schema.version; from++) {
    const upgrade = schema.upgrades[from];
    if (upgrade === undefined) {
      throw unsuited(`there is no upgrade from version ${from} of the tables to version ${from + 1}`);
    }
    steps.push(...upgrade);
  }
  return steps;
}

/**
 * The version of the tables, `undefined` when there are none. Throws when they are not statepad's, or of a newer
 * version.
 */
function versionOf(driver: SchemaDriver, schema: Schema): number | undefined {
  const rows = driver.all(sql.OUR_NAMES, []);
  if (rows.length === 0) {
    return undefined;
  }
  const table = rows.find(({ name }) => name === 'statepad_meta');
  if (table === undefined || plain(table) !== plain({ sql: META })) {
    throw unsuited(`the table "${String((table ?? rows[0])?.['name'])}" does not belong to statepad`);
  }
  const meta = driver.all(sql.READ_META, []);
  const value = textUnder('version', meta) ?? '';
  const version = Number(value);
  if (!/^\d+$/.test(value)) {
    throw unsuited('the table "statepad_meta" does not state the version of the tables');
  }
  if (version > schema.version) {
    throw newerVersion(WHAT, version, schema.version);
  }
  const layout = textUnder('layout', meta);
  if (version === schema.version && layout !== schema.layout) {
    throw otherLayout(WHAT, layout, schema.layout);
  }
  const names =
    version === schema.version
      ? schema.tables.map((statement) => statement.split(' ', 3)[2] as string)
      : schema.names[version];
  if (names !== undefined) {
    checkNames(rows, ['statepad_meta', ...names]);
  }
  return version;
}

/** The text under a name in rows of `statepad_meta`. */
export function textUnder(name: string, rows: readonly SqlRow[]): string | undefined {
  const value = rows.find((row) => row['name'] === name)?.['value'];
  return typeof value === 'string' ? value : undefined;
}

function checkNames(rows: readonly SqlRow[], expected: readonly string[]): void {
  const missing = expected.find((name) => !rows.some((row) => row['name'] === name));
  if (missing !== undefined) {
    throw unsuited(`"${missing}" is missing`);
  }
  const foreign = rows.find(
    ({ type, name }) => (type === 'table' || type === 'view') && !expected.includes(String(name)),
  );
  if (foreign !== undefined) {
    throw unsuited(`the ${String(foreign['type'])} "${String(foreign['name'])}" does not belong to statepad`);
  }
}

/** The text that made a table, however it is quoted and indented. */
function plain(row: SqlRow): string {
  return String(row['sql'])
    .replaceAll(/[\s"'`[\]]+/g, '')
    .toLowerCase();
}

function unsuited(reason: string): StoreError {
  return new StoreError('rejected', `the database is unsuitable: ${reason}`);
}
