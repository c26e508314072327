// Opening a database: makes or upgrades the tables, and refuses tables that are not statepad's.

import { StoreError } from '../../store/store-error.js';
import { newerVersion, olderVersion } from '../../store/refusals.js';
import * as sql from './statements.js';
import { META, SCHEMA_VERSION, TABLES } from './schema.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { Migrate } from '../../store/contract.js';

/** What of a driver makes the tables. */
export type SchemaDriver = Omit<SqlDriver, 'first' | 'lists'>;

/** A schema, and the statements that make it. */
export interface Schema {
  readonly version: number;
  /** The statements that make it, but for `statepad_meta`. */
  readonly tables: readonly string[];
  /** The statements that make the next version of an older one, by the older one. */
  readonly upgrades: Readonly<Record<number, readonly string[]>>;
  /** What the tables and indexes of older versions are called, by the version. */
  readonly names: Readonly<Record<number, readonly string[]>>;
}

const CURRENT: Schema = { version: SCHEMA_VERSION, tables: TABLES, upgrades: {}, names: {} };

/** How refusals of a version call the database. */
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
    const found = versionOf(driver, schema);
    if (found !== schema.version) {
      const statements = found === undefined ? [META, ...schema.tables] : stepsFrom(found, migrate, schema);
      statements.forEach((statement) => driver.run(statement, []));
      driver.run(sql.WRITE_META, ['version', String(schema.version)]);
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
      throw unsuited(`there is no way from version ${from} of the tables to version ${from + 1}`);
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
  const found = driver.all(sql.OUR_NAMES, []);
  if (found.length === 0) {
    return undefined;
  }
  const meta = found.find(({ name }) => name === 'statepad_meta');
  if (meta === undefined || plain(meta) !== plain({ sql: META })) {
    throw unsuited(`the table "${String((meta ?? found[0])?.['name'])}" is not one of statepad`);
  }
  const value = driver.all(sql.READ_META, ['version'])[0]?.['value'];
  const version = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : undefined;
  if (version === undefined) {
    throw unsuited('the table "statepad_meta" does not say which version the tables have');
  }
  if (version > schema.version) {
    throw newerVersion(WHAT, version, schema.version);
  }
  const names =
    version === schema.version
      ? schema.tables.map((statement) => statement.split(' ', 3)[2] as string)
      : schema.names[version];
  if (names !== undefined) {
    checkNames(found, ['statepad_meta', ...names]);
  }
  return version;
}

function checkNames(found: readonly SqlRow[], expected: readonly string[]): void {
  const missing = expected.find((name) => !found.some((row) => row['name'] === name));
  if (missing !== undefined) {
    throw unsuited(`"${missing}" is missing`);
  }
  const foreign = found.find(
    ({ type, name }) => (type === 'table' || type === 'view') && !expected.includes(String(name)),
  );
  if (foreign !== undefined) {
    throw unsuited(`the ${String(foreign['type'])} "${String(foreign['name'])}" is not one of statepad`);
  }
}

/** The text that made a table, however it is quoted and indented. */
function plain(row: SqlRow): string {
  return String(row['sql'])
    .replaceAll(/[\s"'`[\]]+/g, '')
    .toLowerCase();
}

function unsuited(reason: string): StoreError {
  return new StoreError('rejected', `the database does not suit: ${reason}`);
}
