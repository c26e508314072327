// The library that opens a database by its path: the host's own, or else better-sqlite3 where that is installed. The
// versions of better-sqlite3 that go with each Node are known here, too.

import { StoreError } from '../../store/store-error.js';
import { builtinModule, type DatabaseClass } from '../shared/builtin.js';

/** The class that opens a database. Throws `rejected`, with what to install, where there is none. */
export async function databaseClass(): Promise<DatabaseClass> {
  return builtinModule('bun:sqlite')?.Database ?? builtinModule('node:sqlite')?.DatabaseSync ?? (await betterSqlite());
}

async function betterSqlite(): Promise<DatabaseClass> {
  const node = nodeVersion();
  if (node === undefined) {
    throw new StoreError('rejected', 'this host has neither node:sqlite nor bun:sqlite: pass an open connection');
  }
  const fitting = node.major < 22 ? 'better-sqlite3@12' : 'better-sqlite3@13';
  const library = await installed('better-sqlite3').catch((error: unknown) => {
    const { code } = error as { readonly code?: unknown };
    const isThere = code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND';
    const reason = isThere ? `better-sqlite3 cannot be loaded: ${String(error)}` : 'better-sqlite3 is not installed';
    const help = `npm install ${fitting}, or use Node 22.13 or later`;
    throw new StoreError('rejected', `Node ${node.text} has no node:sqlite, and ${reason}: ${help}`, { cause: error });
  });
  if (node.major < 22 && isFrom13(library.prototype)) {
    // It would end the process, by a signal.
    throw new StoreError('rejected', `better-sqlite3 13 does not run in Node ${node.text}: npm install ${fitting}`);
  }
  return library;
}

/** The default export of a package. Its name is a variable, which the build marks for bundlers. */
async function installed(name: string): Promise<DatabaseClass & { readonly prototype: object }> {
  const module = (await import(name)) as {
    readonly default: DatabaseClass & { readonly prototype: object };
  };
  return module.default;
}

/**
 * The warning about a connection that can end the process; `undefined` for any other. Before version 13 a statement of
 * better-sqlite3 that is collected as garbage asks for the current environment, which is not there if no JavaScript
 * runs at that moment: binaries that were built with the headers of Node 24.19, 26.4 and later abort then. How it was
 * built cannot be seen.
 */
export function abortWarning(database: object): string | undefined {
  const node = nodeVersion();
  const isAborted =
    node !== undefined &&
    ((node.major === 24 && node.minor >= 19) || (node.major === 26 && node.minor >= 4) || node.major > 26);
  return isAborted && isBetterSqlite(database) && !isFrom13(database)
    ? `better-sqlite3 before version 13 can abort this process in Node ${node.text} during garbage collection: ` +
        'npm install better-sqlite3@13, or pass the path to sqliteStore, which opens it with node:sqlite'
    : undefined;
}

/** libsql has the methods of better-sqlite3, and `sync` besides. */
function isBetterSqlite(database: object): boolean {
  return 'unsafeMode' in database && 'defaultSafeIntegers' in database && !('sync' in database);
}

function isFrom13(database: object): boolean {
  return 'explain' in database;
}

/** The version of Node; `undefined` on other hosts, some of which name one, too. */
function nodeVersion(): { readonly text: string; readonly major: number; readonly minor: number } | undefined {
  const { process } = globalThis as { readonly process?: { readonly versions?: Readonly<Record<string, string>> } };
  const { node: text, bun, deno } = process?.versions ?? {};
  if (text === undefined || bun !== undefined || deno !== undefined) {
    return undefined;
  }
  const [major = 0, minor = 0] = text.split('.').map(Number);
  return { text, major, minor };
}
