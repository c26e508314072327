// The caller's database, as a consistent snapshot.

import { StatepadError } from '../../model/errors.js';
import { describe, isObject } from '../../model/value-types.js';
import { sqliteClient, type SqliteDatabase } from '../../stores/sqlite-core/client.js';
import type { AdkDatabase, AdkRow } from '../../stores/adk-database/database.js';

/** A `Pool` or a connected `Client` of `pg`, PGlite, or anything else that answers so. */
export interface PostgresHandle {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
}

/** A pool or a connection of `mysql2`, of `mysql2/promise` or with callbacks. */
export interface MysqlHandle {
  query(...args: never[]): unknown;
  execute(...args: never[]): unknown;
}

/** The accepted handles of databases. */
export type AdkDatabaseHandle = AdkDatabase | PostgresHandle | SqliteDatabase | MysqlHandle;

/** Runs reads in one read-only transaction, so that all of them see the same moment. */
export type Snapshot = <T>(read: (database: AdkDatabase) => Promise<T>) => Promise<T>;

/** Recognizes the handle of a database. Throws `INVALID_ARGUMENT`. */
export function snapshotOf(given: unknown): Snapshot {
  if (isObject(given)) {
    const has = (name: string): boolean => typeof (given as Partial<Record<string, unknown>>)[name] === 'function';
    if ('dialect' in given && has('query')) {
      return plain(given as AdkDatabase);
    }
    if (has('prepare') && has('exec')) {
      return sqlite(given as SqliteDatabase);
    }
    if (has('query') && has('execute')) {
      return mysql(given);
    }
    if (has('query')) {
      return postgres(given as PostgresPool);
    }
  }
  throw new StatepadError(
    'INVALID_ARGUMENT',
    `database must be a pool or client of pg, mysql2 or SQLite, or { dialect, query }, not ${describe(given)}`,
    { path: 'database' },
  );
}

/** A handle without a transaction: consistency is the caller's responsibility. */
function plain(database: AdkDatabase): Snapshot {
  if (!['postgres', 'sqlite', 'mysql'].includes(database.dialect)) {
    throw new StatepadError('INVALID_ARGUMENT', "database.dialect must be 'postgres', 'sqlite' or 'mysql'", {
      path: 'database.dialect',
    });
  }
  return async (read) => await read(database);
}

function sqlite(handle: SqliteDatabase): Snapshot {
  return async (read) => {
    const client = sqliteClient(handle);
    client.exec('BEGIN');
    try {
      return await read({ dialect: 'sqlite', query: (sql, values) => client.all(sql, values).map(withBytes) });
    } finally {
      client.close();
      handle.exec('ROLLBACK');
    }
  };
}

/** A row whose bytes are a `Uint8Array`: libsql has another type for them. */
function withBytes(row: AdkRow): AdkRow {
  const entries = Object.entries(row);
  return entries.some(([, value]) => value instanceof ArrayBuffer)
    ? Object.fromEntries(
        entries.map(([name, value]) => [name, value instanceof ArrayBuffer ? new Uint8Array(value) : value]),
      )
    : row;
}

/** The additional members of a pool of `pg`. */
interface PostgresPool extends PostgresHandle {
  readonly totalCount?: unknown;
  connect?(): Promise<PostgresHandle & { release(): void }>;
}

function postgres(handle: PostgresPool): Snapshot {
  return async (read) => {
    const isPool = typeof handle.totalCount === 'number' && handle.connect !== undefined;
    const connection = isPool ? await handle.connect?.() : undefined;
    const client = connection ?? handle;
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY');
      try {
        return await read({
          dialect: 'postgres',
          query: async (sql, values) => (await client.query(sql, [...values])).rows as readonly AdkRow[],
        });
      } finally {
        await client.query('ROLLBACK');
      }
    } finally {
      connection?.release();
    }
  };
}

/** The members of `mysql2/promise` that are used. */
interface MysqlConnection {
  query(sql: string, values?: unknown[]): Promise<readonly [unknown, ...unknown[]]>;
  getConnection?(): Promise<MysqlConnection & { release(): void }>;
}

function mysql(handle: object): Snapshot {
  return async (read) => {
    const { promise } = handle as { promise?: () => object };
    const given = (promise === undefined ? handle : promise.call(handle)) as MysqlConnection;
    const connection = await given.getConnection?.();
    const client = connection ?? given;
    try {
      await client.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
      await client.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
      try {
        return await read({
          dialect: 'mysql',
          query: async (sql, values) => (await client.query(sql, [...values]))[0] as readonly AdkRow[],
        });
      } finally {
        await client.query('ROLLBACK');
      }
    } finally {
      connection?.release();
    }
  };
}
