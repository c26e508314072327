// The connection to an IndexedDB database: opened, lost, opened again.

import { StoreError } from '../../store/store-error.js';
import { isLoss, reasonOf, refusalOfRead, refusalOfWrite, refused } from './errors.js';
import { openDatabase, type Opened, type Progress } from './open.js';
import { CURRENT, readMeta, versionOf, type Schema } from './schema.js';
import { newerVersion, olderVersion, otherLayout } from '../../store/refusals.js';
import type { Migrate } from '../../store/contract.js';

/** The longest wait for another tab to close its connection before `open` fails, in milliseconds. */
const BLOCKED_TIMEOUT_MS = 1_000;

/** An attempt to open a database. */
interface Opening {
  readonly done: Promise<IDBDatabase>;
  /** Rejects when others are in the way. The attempt goes on. */
  readonly hindered: Promise<never>;
}

/** A database by its name. It is opened again when it is needed and not open. */
export class Connection {
  readonly #name: string;
  readonly #factory: IDBFactory | undefined;
  readonly #schema: Schema;
  #database: IDBDatabase | undefined;
  #opening: Opening | undefined;
  /** Of the database that was opened first: no other one may take its place unnoticed. */
  #identity: string | undefined;
  #isClosed = false;

  constructor(name: string, factory: IDBFactory | undefined, schema = CURRENT) {
    this.#name = name;
    this.#factory = factory;
    this.#schema = schema;
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
    return Promise.race([this.#opening.done, this.#opening.hindered]);
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
    // A failed request, and the others with it, have written nothing. Only the end itself can fail in an unknown way.
    let isEnding = false;
    let hasFailed = false;
    transaction.onerror = () => (hasFailed = true);
    try {
      const result = await work(transaction);
      // It ends by itself. If told to end, Chromium would keep the rest of a transaction when one of its rows was too
      // large.
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

  /** Begins a transaction. If the connection was lost meanwhile it is made anew, once. */
  async #begin(mode: IDBTransactionMode, durability: IDBTransactionDurability = 'default'): Promise<IDBTransaction> {
    for (let isSecond = false; ; isSecond = true) {
      const database = await this.open('check');
      try {
        return database.transaction(Object.keys(this.#schema.tables), mode, { durability });
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
    let hinder: ((error: StoreError) => void) | undefined;
    const hindered = new Promise<never>((_, reject) => (hinder = reject));
    const tell = (what: string) => (): void => hinder?.(new StoreError('unavailable', what));
    const blocked = tell(`another tab keeps an older version of the database "${this.#name}" open: close it`);
    const queued = tell(
      `the browser does not open the database "${this.#name}": another tab that upgrades or deletes it waits for others`,
    );
    const progress: Progress = { onBlocked: () => void setTimeout(blocked, BLOCKED_TIMEOUT_MS), onQueued: queued };
    const done = this.#connect(migrate, progress).finally(() => (this.#opening = undefined));
    // Both may be waited for by nothing.
    done.catch(() => undefined);
    hindered.catch(() => undefined);
    return { done, hindered };
  }

  async #connect(migrate: Migrate, progress: Progress): Promise<IDBDatabase> {
    let opened: Opened | undefined;
    try {
      opened = await this.#find(migrate, progress);
      const { database } = opened;
      const identity = await this.#identify(database);
      if (this.#isClosed) {
        throw new StoreError('rejected', `the store of the database "${this.#name}" was closed while it was opened`);
      }
      if (opened.isLost) {
        throw new Error('the connection was lost while it was made');
      }
      this.#identity = identity;
      opened.onLost = () => this.#lose(database);
      this.#database = database;
      return database;
    } catch (error) {
      opened?.database.close();
      if (opened?.isLost === true) {
        const message = `another tab upgraded or deleted the database "${this.#name}" while it was opened`;
        throw new StoreError('unavailable', message, { cause: error });
      }
      throw refusalOfWrite(error, false);
    }
  }

  /** Opens the database at its own version; makes it when there is none, or upgrades it, when that is requested. */
  async #find(migrate: Migrate, progress: Progress): Promise<Opened> {
    const factory = this.#factory ?? factoryOfHost();
    const current = await openDatabase(factory, this.#name, progress);
    const version = current === undefined ? 0 : versionOf(current.database);
    if (current !== undefined && version >= this.#schema.version) {
      return current;
    }
    const isOld = version > 0 && current?.database.objectStoreNames.contains('meta') === true;
    current?.database.close();
    if (this.#identity !== undefined) {
      throw replaced(this.#name);
    }
    if (isOld && migrate !== 'upgrade') {
      throw olderVersion(titleOf(this.#name), version, this.#schema.version);
    }
    if (!isOld && migrate === 'check') {
      throw new StoreError('rejected', `there is no database "${this.#name}": open it with migrate: 'create'`);
    }
    const made = await openDatabase(factory, this.#name, { ...progress, schema: this.#schema });
    if (made === undefined) {
      throw foreign(this.#name);
    }
    return made;
  }

  /** Makes sure that it is a database that this module reads, and the same one as before. */
  async #identify(database: IDBDatabase): Promise<string> {
    const { version, layout } = this.#schema;
    const current = versionOf(database);
    if (current > version) {
      throw newer(this.#name, current, version);
    }
    const meta = await readMeta(database);
    if (meta === undefined) {
      throw foreign(this.#name);
    }
    if (meta.layout !== layout) {
      throw otherLayout(titleOf(this.#name), meta.layout, layout);
    }
    if ((this.#identity ?? meta.identity) !== meta.identity) {
      throw replaced(this.#name);
    }
    return meta.identity;
  }
}

/** The name of a database in messages. */
function titleOf(name: string): string {
  return `the database "${name}"`;
}

/** It is there, but no version has made it. */
function foreign(name: string): StoreError {
  return new StoreError('rejected', `${titleOf(name)} does not belong to statepad`);
}

/** Earlier reads say nothing of a new database, not even where its scopes are. */
function replaced(name: string): StoreError {
  return new StoreError('rejected', `the database "${name}" was deleted during use: reload the page`);
}

/** Another tab has brought the database to a later version. */
function newer(name: string, version: number, ours: number): StoreError {
  const { code, message } = newerVersion(titleOf(name), version, ours);
  return new StoreError(code, `${message}, and reload the page`);
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

/** Resolves when a transaction is complete: its writes are durable then, and not before. */
function completionOf(transaction: IDBTransaction): Promise<void> {
  const completed = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(reasonOf(transaction));
  });
  // It is not waited for when the work failed before.
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
