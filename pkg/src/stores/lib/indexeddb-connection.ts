// The connection to an IndexedDB database: opened, lost, opened again.

import { StoreError } from '../../store-error.js';
import { isLoss, nameOf, newer, reasonOf, refusalOfOpening, refusalOfRead, refusalOfWrite, refused } from './indexeddb-errors.js';
import { createTables, get, isComplete, TABLES, VERSION } from './indexeddb-tables.js';
import type { Migrate } from '../../store.js';

/** How long another tab may take to let go of the database before it is said that it does not, in milliseconds. */
const PATIENCE = 1_000;

/** An attempt to open a database. */
interface Opening {
  readonly done: Promise<IDBDatabase>;
  /** Rejects when another tab is in the way. The attempt goes on. */
  readonly blocked: Promise<never>;
}

/** A database by its name. Whoever needs it while it is not open, opens it again. */
export class Connection {
  readonly #name: string;
  readonly #factory: IDBFactory | undefined;
  #database: IDBDatabase | undefined;
  #opening: Opening | undefined;
  /** Of the database that was opened first: no other one may take its place unnoticed. */
  #identity: string | undefined;
  #isClosed = false;

  constructor(name: string, factory: IDBFactory | undefined) {
    this.#name = name;
    this.#factory = factory;
  }

  /** Opens the database, unless it is open. */
  async open(migrate: Migrate): Promise<IDBDatabase> {
    if (this.#isClosed) {
      throw new StoreError('rejected', `the store of the database "${this.#name}" is closed`);
    }
    if (this.#database !== undefined) {
      return this.#database;
    }
    this.#opening ??= this.#start(migrate);
    return Promise.race([this.#opening.done, this.#opening.blocked]);
  }

  /** Reads a snapshot. `work` may wait for nothing but the transaction, here and in {@link write}: it would end. */
  async read<T>(work: (transaction: IDBTransaction) => Promise<T>): Promise<T> {
    const transaction = await this.#begin('readonly');
    try {
      return await work(transaction);
    } catch (error) {
      const cause = transaction.error ?? error;
      this.#loseAfter(cause, transaction.db);
      throw refusalOfRead(cause);
    }
  }

  /** Writes all of it or nothing. It is durable when this resolves. */
  async write<T>(durability: IDBTransactionDurability, work: (transaction: IDBTransaction) => Promise<T>): Promise<T> {
    const transaction = await this.#begin('readwrite', durability);
    const completed = completionOf(transaction);
    // When a request fails, it and the others have written nothing. Only the end itself can fail in an unknown way.
    let isEnding = false;
    let hasFailed = false;
    transaction.onerror = () => (hasFailed = true);
    try {
      const result = await work(transaction);
      // It ends by itself. Told to, Chromium would keep the rest of a transaction when one of its rows was too large.
      isEnding = true;
      await completed;
      return result;
    } catch (error) {
      const cause = transaction.error ?? error;
      abort(transaction);
      this.#loseAfter(cause, transaction.db);
      throw refusalOfWrite(cause, isEnding && !hasFailed);
    }
  }

  /** Closes the database when everything that has begun is done. */
  close(): void {
    this.#isClosed = true;
    this.#database?.close();
    this.#database = undefined;
  }

  /** Begins a transaction. When the connection was lost meanwhile it is made anew, once. */
  async #begin(mode: IDBTransactionMode, durability: IDBTransactionDurability = 'default'): Promise<IDBTransaction> {
    for (let isSecond = false; ; isSecond = true) {
      const database = await this.open('check');
      try {
        return database.transaction([...TABLES], mode, { durability });
      } catch (error) {
        this.#loseAfter(error, database);
        if (isSecond || !isLoss(error)) {
          throw refusalOfWrite(error, false);
        }
      }
    }
  }

  #loseAfter(error: unknown, database: IDBDatabase): void {
    if (isLoss(error)) {
      this.#lose(database);
    }
  }

  #lose(database: IDBDatabase): void {
    database.close();
    if (this.#database === database) {
      this.#database = undefined;
    }
  }

  #start(migrate: Migrate): Opening {
    let onBlocked = (): void => undefined;
    const blocked = new Promise<never>((_, reject) => {
      const message = `another tab keeps an older version of the database "${this.#name}" open: close it`;
      const error = new StoreError('unavailable', message);
      onBlocked = () => void setTimeout(() => reject(error), PATIENCE);
    });
    const done = this.#connect(migrate, onBlocked).finally(() => (this.#opening = undefined));
    // Nobody may be there to hear of it.
    done.catch(() => undefined);
    blocked.catch(() => undefined);
    return { done, blocked };
  }

  async #connect(migrate: Migrate, onBlocked: () => void): Promise<IDBDatabase> {
    let database: IDBDatabase | undefined;
    try {
      database = await this.#find(migrate, onBlocked);
      if (database.version > VERSION) {
        throw newer(this.#name);
      }
      if (!isComplete(database)) {
        throw new StoreError('rejected', `the database "${this.#name}" is not one of statepad`);
      }
      await this.#identify(database);
      if (this.#isClosed) {
        throw new StoreError('rejected', `the store of the database "${this.#name}" was closed while it was opened`);
      }
    } catch (error) {
      database?.close();
      throw refusalOfWrite(error, false);
    }
    const opened = database;
    opened.onclose = () => this.#lose(opened);
    // Another tab wants to upgrade the database, or to delete it.
    opened.onversionchange = () => this.#lose(opened);
    this.#database = opened;
    return opened;
  }

  /** Opens what is there, at its own version; makes it when nothing is there and that is wanted. */
  async #find(migrate: Migrate, onBlocked: () => void): Promise<IDBDatabase> {
    const factory = this.#factory ?? factoryOfHost();
    const found = await openDatabase(factory, this.#name, { onBlocked });
    if (found !== undefined && found.version >= VERSION) {
      return found;
    }
    found?.close();
    if (this.#identity !== undefined) {
      throw replaced(this.#name);
    }
    if (migrate === 'check') {
      throw new StoreError('rejected', `there is no database "${this.#name}": open it with migrate: 'create'`);
    }
    const made = await openDatabase(factory, this.#name, { version: VERSION, onBlocked });
    if (made === undefined) {
      throw new StoreError('rejected', `the database "${this.#name}" is not one of statepad`);
    }
    return made;
  }

  /** Makes sure that it is the same database as before. */
  async #identify(database: IDBDatabase): Promise<void> {
    const row = await get(database.transaction('meta'), 'meta', 'database');
    const identity = row?.identity ?? '';
    this.#identity ??= identity;
    if (this.#identity !== identity) {
      throw replaced(this.#name);
    }
  }
}

/** What has been read before says nothing of a new database, not even where its scopes are. */
function replaced(name: string): StoreError {
  return new StoreError('rejected', `the database "${name}" was deleted while it was in use: reload the page`);
}

function factoryOfHost(): IDBFactory {
  let cause: unknown;
  try {
    const factory = globalThis.indexedDB as IDBFactory | undefined | null;
    if (factory !== undefined && factory !== null) {
      return factory;
    }
  } catch (error) {
    cause = error;
  }
  throw refused(cause);
}

/**
 * Opens a database, or answers `undefined` and leaves everything as it is when there is none that suits: none at all, or,
 * when a version is wanted, one that is not empty and has another layout.
 */
function openDatabase(
  factory: IDBFactory,
  name: string,
  { version, onBlocked }: { readonly version?: number; readonly onBlocked: () => void },
): Promise<IDBDatabase | undefined> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => reject(refusalOfOpening(error, name));
    let request: IDBOpenDBRequest;
    try {
      request = factory.open(name, version);
    } catch (error) {
      fail(error);
      return;
    }
    let isUnfit = false;
    request.onblocked = onBlocked;
    request.onupgradeneeded = () => {
      const { result: database, transaction } = request;
      isUnfit = version === undefined || database.objectStoreNames.length > 0;
      if (isUnfit) {
        transaction?.abort();
      } else if (transaction !== null) {
        createTables(database, transaction);
      }
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      const reason = reasonOf(request);
      if (isUnfit && nameOf(reason) === 'AbortError') {
        resolve(undefined);
      } else {
        fail(reason);
      }
    };
  });
}

/** Resolves when a transaction is complete: what it has written is durable then, and not before. */
function completionOf(transaction: IDBTransaction): Promise<void> {
  const completed = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(reasonOf(transaction));
  });
  // Whoever failed before its end does not wait for it.
  completed.catch(() => undefined);
  return completed;
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // It has been aborted.
  }
}
