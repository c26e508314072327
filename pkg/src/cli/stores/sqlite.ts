// An SQLite file, by the library of Node itself or, in a Node without one, by better-sqlite3 of the user.

import process from 'node:process';
import { installedDriver } from './drivers.js';
import { CommandError } from '../errors.js';
import type { SqliteDatabase } from '../../stores/sqlite/index.js';
import type { OpenedStore, OpenOptions } from './opened.js';

type Database = SqliteDatabase & { close(): unknown };

/** The members that both libraries have for a question. */
interface Queried {
  prepare(sql: string): { all(): readonly unknown[] };
  close(): unknown;
}
/** The library of Node. */
interface Builtin {
  readonly DatabaseSync: new (path: string, options: { readonly readOnly: boolean }) => Queried;
}

/** Opens a file. Throws `CommandError` where no library is installed. */
export async function openSqlite(path: string, options: OpenOptions): Promise<OpenedStore> {
  const { sqliteStore } = await import('../../stores/sqlite/index.js');
  if (hasLibrary()) {
    return { store: sqliteStore(path), close: async () => undefined };
  }
  const database = await opened(path, options);
  return { store: sqliteStore(database), close: async () => void database.close() };
}

/** A file to read by the functions that take a database: its path, or a connection where Node has no library. */
export async function readableSqlite(
  path: string,
  { folder }: Pick<OpenOptions, 'folder'>,
): Promise<{ readonly database: string | Database; readonly close: () => void }> {
  if (hasLibrary()) {
    return { database: path, close: () => undefined };
  }
  const database = await opened(path, { folder, migrate: 'check', isReadOnly: true });
  return { database, close: () => void database.close() };
}

/** A connection that reads a file, for questions that no store asks. Throws `CommandError`. */
export async function queriedSqlite(
  path: string,
  options: Pick<OpenOptions, 'folder'>,
): Promise<{ readonly all: (sql: string) => readonly unknown[]; readonly close: () => void }> {
  const builtin = process.getBuiltinModule('node:sqlite') as Builtin | undefined;
  const database: Queried =
    builtin === undefined
      ? ((await opened(path, { ...options, migrate: 'check', isReadOnly: true })) as unknown as Queried)
      : new builtin.DatabaseSync(path, { readOnly: true });
  return { all: (sql) => database.prepare(sql).all(), close: () => void database.close() };
}

/** True when the host has a library for SQLite, which the store finds by itself. */
function hasLibrary(): boolean {
  return process.versions['bun'] !== undefined || process.getBuiltinModule('node:sqlite') !== undefined;
}

async function opened(
  path: string,
  { folder, migrate, isReadOnly = false }: Pick<OpenOptions, 'folder' | 'migrate'> & { readonly isReadOnly?: boolean },
): Promise<Database> {
  const { node } = process.versions;
  const isOld = Number.parseInt(node, 10) < 22;
  const version = isOld ? '12' : '13';
  const driver = await installedDriver(folder, `SQLite in Node ${node}`, [{ name: 'better-sqlite3', version }]);
  const Database = driver.member('default') as new (
    path: string,
    options: { readonly fileMustExist: boolean; readonly readonly: boolean },
  ) => Database;
  if (isOld && 'explain' in (Database.prototype as object)) {
    // It would end the process by a signal.
    throw new CommandError(`better-sqlite3 13 does not run in Node ${node}: npm install better-sqlite3@${version}`);
  }
  try {
    return new Database(path, { fileMustExist: migrate === 'check', readonly: isReadOnly });
  } catch (error) {
    throw new CommandError(`the database ${path} cannot be opened`, { cause: error });
  }
}
