// The connection of a store that was made with a path: it opens the database, and closes it.

import { StatepadError } from '../../model/errors.js';
import { isStoreError, StoreError } from '../../store/store-error.js';
import { builtinModule } from '../shared/builtin.js';
import { PlacedFile } from '../shared/placed-file.js';
import { databaseClass } from '../sqlite-core/library.js';
import type { SqliteDatabase, SqliteStatement } from '../sqlite-core/client.js';
import type { FileUrl } from './options.js';

/** SQLite's name for a database that lies in no file. */
const MEMORY = ':memory:';

/** A connection that is open while a store is. */
export class OwnConnection implements SqliteDatabase {
  /** The caller's path, for messages. */
  readonly #name: string;
  readonly #path: string;
  #database: (SqliteDatabase & { close(): unknown }) | undefined;
  #file: PlacedFile | undefined;
  /** The number of services that have it open. */
  #users = 0;
  /** Frees all that depends on it. */
  readonly #beforeClose: () => void;

  /**
   * `beforeClose` frees all that depends on the connection. Throws `INVALID_ARGUMENT` for a URL that names no file.
   */
  constructor(path: string | FileUrl, beforeClose: () => void) {
    this.#beforeClose = beforeClose;
    this.#name = typeof path === 'string' ? path : path.href;
    this.#path = absolute(this.#name);
  }

  get isInMemory(): boolean {
    return this.#path === MEMORY;
  }

  /** The file, once it is open. */
  get file(): PlacedFile | undefined {
    return this.#file;
  }

  /**
   * Opens it, unless another service has, and has `prepare` set it up. With `mustExist` no file is made. Throws
   * `rejected` and `unavailable`, which name the path.
   */
  async open(mustExist: boolean, prepare: () => Promise<void>): Promise<void> {
    try {
      if (this.#database === undefined) {
        const Database = await databaseClass();
        if (mustExist && !this.isInMemory && PlacedFile.at(this.#path) === undefined) {
          throw new StoreError('rejected', 'there is no such file');
        }
        this.#database ??= this.#connect(Database);
      }
      await prepare();
      this.#users += 1;
    } catch (error) {
      this.#release();
      throw isStoreError(error)
        ? new StoreError(error.code, `the database "${this.#name}": ${error.message}`, { cause: error })
        : error;
    }
  }

  /** Closes it when the last service has. */
  close(): void {
    this.#users = Math.max(0, this.#users - 1);
    this.#release();
  }

  prepare(sql: string): SqliteStatement {
    return this.#opened().prepare(sql);
  }

  exec(sql: string): unknown {
    return this.#opened().exec(sql);
  }

  #opened(): SqliteDatabase {
    if (this.#database === undefined) {
      throw new StoreError('unavailable', `the database "${this.#name}" is not open`);
    }
    return this.#database;
  }

  #connect(Database: Awaited<ReturnType<typeof databaseClass>>): SqliteDatabase & { close(): unknown } {
    try {
      const database = new Database(this.#path);
      this.#file = this.isInMemory ? undefined : PlacedFile.at(this.#path);
      return database;
    } catch (error) {
      throw new StoreError(...diagnosis(this.#path, error), { cause: error });
    }
  }

  #release(): void {
    const database = this.#database;
    if (this.#users > 0 || database === undefined) {
      return;
    }
    this.#beforeClose();
    this.#database = undefined;
    this.#file = undefined;
    database.close();
  }
}

/** A path from the root: the process may change its folder. A text that begins with `file:` is a URL. */
function absolute(location: string): string {
  if (location === MEMORY) {
    return location;
  }
  try {
    const isUrl = location.startsWith('file:');
    const path = isUrl ? builtinModule('node:url')?.fileURLToPath?.(plainUrl(location)) : location;
    return builtinModule('node:path')?.resolve?.(path ?? location) ?? location;
  } catch (error) {
    const message = `the database "${location}" cannot be opened: ${String(error)}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { cause: error });
  }
}

/** SQLite's own names, `file:sessions.db?mode=ro`, are no URLs of files: the first part would be lost in one. */
function plainUrl(text: string): URL {
  const url = new URL(text);
  if (!text.startsWith('file://') || url.search !== '' || url.hash !== '') {
    throw new TypeError('the URL of a file is file:///folder/name, without a query');
  }
  return url;
}

/** The reason that a database could not be opened, as far as a look at its path tells. */
function diagnosis(path: string, error: unknown): [code: 'rejected' | 'unavailable', message: string] {
  const { accessSync, statSync } = builtinModule('node:fs') ?? {};
  const folder = builtinModule('node:path')?.dirname?.(path) ?? '';
  try {
    if (statSync?.(folder).isDirectory() === false) {
      return ['rejected', `"${folder}" is not a folder`];
    }
    const stats = statSync?.(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) {
      return ['rejected', 'it is a folder'];
    }
    const [mayRead, mayWrite] = [4, 2];
    accessSync?.(stats === undefined ? folder : path, mayRead | mayWrite);
  } catch (reason) {
    const isMissing = (reason as { readonly code?: unknown }).code === 'ENOENT';
    return ['rejected', isMissing ? `there is no folder "${folder}"` : `it cannot be opened: ${String(reason)}`];
  }
  return ['unavailable', `it cannot be opened: ${String(error)}`];
}
