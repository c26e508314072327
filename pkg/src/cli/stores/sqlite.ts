// An SQLite file, by the library of Node itself or, in a Node without one, by better-sqlite3 of the user. Commands
// that read open it for reading alone, whoever has made it.

import { stat } from 'node:fs/promises';
import process from 'node:process';
import { installedDriver } from './drivers.js';
import { CommandError } from '../errors.js';
import type { OpenedStore, OpenOptions } from './opened.js';
import type { ReadOnlyDatabase, ReadOnlyOptions, SqliteDatabase } from '../../stores/sqlite/index.js';

type DatabaseClass = NonNullable<ReadOnlyOptions['Database']>;

/** Whose tables a file has. */
type Owner = 'statepad' | 'nobody' | { readonly adk: string } | { readonly tables: readonly string[] };

/** The number of tables that a message names. */
const MOST_TABLES = 10;

/**
 * Opens a file. Throws `CommandError` where no library is installed, and for the file of another program; for that of
 * an ADK, which is only read, if the command writes.
 */
export async function openSqlite(path: string, options: OpenOptions): Promise<OpenedStore> {
  const Database = hasLibrary() ? undefined : await betterSqlite(options.folder);
  return options.write ? await openToWrite(path, Database, options) : await openToRead(path, Database);
}

async function openToRead(path: string, Database: DatabaseClass | undefined): Promise<OpenedStore> {
  const database = await readOnly(path, Database);
  const close = async (): Promise<void> => database.close();
  try {
    const owner = await ownerOf(database);
    if (typeof owner === 'object' && 'adk' in owner) {
      const { adkReadStore } = await import('../../import-adk.js');
      return { store: adkReadStore(database), isReadOnly: true, close };
    }
    checkOwner(path, owner, 'check');
    const { sqliteStore } = await import('../../stores/sqlite/index.js');
    return { store: sqliteStore(database), isEncryptable: true, close };
  } catch (error) {
    database.close();
    throw error;
  }
}

async function openToWrite(
  path: string,
  Database: DatabaseClass | undefined,
  { migrate }: OpenOptions,
): Promise<OpenedStore> {
  if (await isThere(path)) {
    const database = await readOnly(path, Database);
    try {
      checkOwner(path, await ownerOf(database), migrate);
    } finally {
      database.close();
    }
  }
  const { sqliteStore } = await import('../../stores/sqlite/index.js');
  if (Database === undefined) {
    return { store: sqliteStore(path), isEncryptable: true, close: async () => undefined };
  }
  const database = opened(path, Database, migrate === 'check');
  return { store: sqliteStore(database), isEncryptable: true, close: async () => void database.close() };
}

async function readOnly(path: string, Database: DatabaseClass | undefined): Promise<ReadOnlyDatabase> {
  const { openReadOnly } = await import('../../stores/sqlite/index.js');
  return await openReadOnly(path, { Database });
}

async function isThere(path: string): Promise<boolean> {
  const stats = await stat(path.startsWith('file:') ? new URL(path) : path).catch(() => undefined);
  return stats !== undefined && stats.size > 0;
}

async function ownerOf(database: ReadOnlyDatabase): Promise<Owner> {
  const rows = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all();
  const names = (rows as readonly { readonly name: string }[]).map(({ name }) => name);
  if (names.some((name) => name.startsWith('statepad_'))) {
    return 'statepad';
  }
  if (names.length === 0) {
    return 'nobody';
  }
  const { identifyAdk } = await import('../../import-adk.js');
  const { kind } = await identifyAdk(database);
  return kind === 'unknown' ? { tables: names } : { adk: kind };
}

/**
 * Throws `CommandError` for a file whose owner is another one. Tables of other programs are no hindrance to those of
 * statepad where a command may make them.
 */
function checkOwner(path: string, owner: Owner, migrate: OpenOptions['migrate']): void {
  if (typeof owner === 'object' && 'adk' in owner) {
    const help = `npx statepad import ${path} ADDRESS copies its sessions`;
    throw new CommandError(`${path} is the database of an ADK (${owner.adk}), which is only read: ${help}`);
  }
  if (owner === 'nobody' && migrate === 'check') {
    throw new CommandError(`${path} has no sessions: there are no tables in it`);
  }
  if (typeof owner === 'object' && migrate === 'check') {
    const { tables } = owner;
    const others = tables.length > MOST_TABLES ? ` and ${tables.length - MOST_TABLES} more` : '';
    const list = `${tables.slice(0, MOST_TABLES).join(', ')}${others}`;
    throw new CommandError(`${path} has no sessions: it belongs to another program, with the tables ${list}`);
  }
}

/** Opens a file for questions that no store asks. Throws `CommandError` where no library is installed. */
export async function readOnlySqlite(path: string, folder: string): Promise<ReadOnlyDatabase> {
  return await readOnly(path, hasLibrary() ? undefined : await betterSqlite(folder));
}

/** True when the host has a library for SQLite, which the store finds by itself. */
function hasLibrary(): boolean {
  return process.versions['bun'] !== undefined || process.getBuiltinModule('node:sqlite') !== undefined;
}

async function betterSqlite(folder: string): Promise<DatabaseClass> {
  const { node } = process.versions;
  const isOld = Number.parseInt(node, 10) < 22;
  const version = isOld ? '12' : '13';
  const driver = await installedDriver(folder, `SQLite in Node ${node}`, [{ name: 'better-sqlite3', version }]);
  const Database = driver.member('default') as DatabaseClass;
  if (isOld && 'explain' in (Database.prototype as object)) {
    // It would end the process by a signal.
    throw new CommandError(`better-sqlite3 13 does not run in Node ${node}: npm install better-sqlite3@${version}`);
  }
  return Database;
}

function opened(path: string, Database: DatabaseClass, mustExist: boolean): SqliteDatabase & { close(): unknown } {
  try {
    return new Database(path, { fileMustExist: mustExist });
  } catch (error) {
    throw new CommandError(`the database ${path} cannot be opened`, { cause: error });
  }
}
