// The connection of a store that was made with a path: it opens the database, and closes it.

import { isStoreError, StoreError } from '../../store/store-error.js';
import { PlacedFile } from '../shared/placed-file.js';
import { absolute, diagnosis, MEMORY, type FileUrl } from '../sqlite-core/file.js';
import { databaseClass } from '../sqlite-core/library.js';
import type { SqliteDatabase, SqliteStatement } from '../sqlite-core/client.js';

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
