// The database of a store in place: looked at once when it is opened, and read in short transactions, one at a time.

import { Pacer } from '../../transfer/pacer.js';
import { AdkLists } from '../readers/lists.js';
import { AdkReader } from '../readers/reader.js';
import { snapshotOf, type AdkDatabaseHandle, type Snapshot } from '../source/source.js';
import { Queues } from '../../async/queues.js';
import { StoreError } from '../../store/store-error.js';
import { identifyTables } from '../../stores/adk-database/detect.js';
import { undone } from '../../stores/sqlite-core/errors.js';
import { isPath, type FileUrl } from '../../stores/sqlite-core/file.js';
import { openReadOnly, type ReadOnlyDatabase } from '../../stores/sqlite-core/read-only.js';
import type { KnownKind } from '../readers/layout.js';
import type { AdkDatabase } from '../../stores/adk-database/database.js';
import type { TableColumns } from '../../stores/adk-database/tables.js';

/** A database whose maker is known, during a transaction. */
export interface Reader {
  readonly rows: AdkReader;
  readonly lists: AdkLists;
}

interface Known {
  readonly kind: KnownKind;
  readonly tables: TableColumns;
}

/** The database behind a store: that of the caller, or a file that it opens itself. */
export class Source {
  readonly #path: string | FileUrl | undefined;
  readonly #turns = new Queues();
  #snapshot: Snapshot | undefined;
  #known: Known | undefined;
  #own: ReadOnlyDatabase | undefined;
  /** The number of services that have it open. */
  #users = 0;

  /** Throws `INVALID_ARGUMENT` for something else than a database or the name of a file. */
  constructor(database: AdkDatabaseHandle | FileUrl | string) {
    this.#path = isPath(database) ? database : undefined;
    this.#snapshot = isPath(database) ? undefined : snapshotOf(database);
  }

  /** The maker of the database, once it is open. */
  get kind(): KnownKind {
    return this.#opened().kind;
  }

  /** Opens the file, and finds out who has made the tables. Throws `rejected` for tables of no known ADK. */
  async open(): Promise<void> {
    await this.#turns.run('open', async () => {
      try {
        await this.#connect();
        const { kind, tables, signs } = await this.#transaction(identifyTables);
        if (kind === 'unknown') {
          throw new StoreError('rejected', `the database does not belong to a known ADK: ${signs.join('; ')}`);
        }
        this.#known = { kind, tables };
        this.#users += 1;
      } catch (error) {
        this.#release();
        throw error;
      }
    });
  }

  /**
   * Reads in one transaction. `read` waits for nothing but the database: a transaction of SQLite that stays open keeps
   * others from writing.
   */
  async read<T>(read: (reader: Reader) => Promise<T>): Promise<T> {
    const known = this.#opened();
    return await this.#transaction(
      async (database) =>
        await read({
          rows: new AdkReader(known.kind, database, known, new Pacer(undefined)),
          lists: new AdkLists(known.kind, database, known),
        }),
    );
  }

  /** Closes the file when the last service has. */
  close(): void {
    this.#users = Math.max(0, this.#users - 1);
    this.#release();
  }

  async #connect(): Promise<void> {
    if (this.#path !== undefined && this.#own === undefined) {
      this.#own = await openReadOnly(this.#path);
      this.#snapshot = snapshotOf(this.#own);
    }
  }

  async #transaction<T>(read: (database: AdkDatabase) => Promise<T>): Promise<T> {
    return await this.#turns.run('read', async () => {
      if (this.#snapshot === undefined) {
        throw new StoreError('unavailable', 'the database is not open');
      }
      try {
        return await this.#snapshot(read);
      } catch (error) {
        throw undone(error);
      }
    });
  }

  #opened(): Known {
    if (this.#known === undefined) {
      throw new StoreError('unavailable', 'the database is not open');
    }
    return this.#known;
  }

  #release(): void {
    if (this.#users === 0) {
      this.#known = undefined;
      this.#own?.close();
      this.#own = undefined;
    }
  }
}
