// A log in use: its tables in memory, and the queue of its writes.

import { defined } from '../../model/defined.js';
import { isStoreError, StoreError } from '../../store/store-error.js';
import { olderVersion } from '../../store/refusals.js';
import { makeEntry, recordsOf, takeBatch, type Done, type Entry, type Request, type Task } from './batch.js';
import { LogTables, type LogItem } from './log-tables.js';
import type { Leases } from '../memory/target.js';
import { versionRecord, type Callbacks, type LogOptions, type Records } from './log-record.js';
import { FORMAT, type LogFormat } from './version.js';
import type { Migrate, StoreContext } from '../../store/contract.js';

/** The storage of a log's records. */
export interface LogSource extends Pick<Callbacks, 'persist'> {
  /**
   * Returns the stored records. `tally` says how many records are known to be missing: a journal compares that with
   * the lines that it misses. Absent where nothing is read back.
   */
  restore?(tally: { readonly missing: number }): Records<LogItem> | Promise<Records<LogItem>>;
  /** Checks a restored record, by its number from 1; a journal has done so already. */
  admit?(item: unknown, place: number): readonly LogItem[];
  /** Its name in messages. */
  readonly name?: string;
}

/** A task that is done while no change is on its way. */
interface Between {
  readonly run: (tables: LogTables) => void;
  readonly reject: (error: unknown) => void;
}

/** Reads the log when it is first needed, and again after an error that leaves open which records are stored. */
export class Log {
  /** The permitted treatment of a log of an older version. */
  migrate: Migrate = 'create';
  readonly #source: LogSource;
  readonly #waiting: Task[] = [];
  #reading: Promise<LogTables> | undefined;
  #writing: Promise<void> | undefined;
  /** An error has left the outcome of the last records open. */
  #isUnknown = false;
  /** The tasks between two batches. */
  #between: Between[] = [];
  readonly #hasLog: boolean;
  readonly #format: LogFormat;
  /** They live as long as this process, which alone has the log; they are there still when it is read again. */
  readonly #leases: Leases = new Map();
  readonly #claims: Leases = new Map();

  constructor(source: LogSource, { log = true }: LogOptions = {}, format = FORMAT) {
    this.#source = source;
    this.#format = format;
    this.#hasLog = log;
  }

  /** The tables that the log describes. */
  tables(): Promise<LogTables> {
    return (this.#reading ??= Promise.resolve().then(() => this.#read()));
  }

  /**
   * Writes a request behind all others; alone, when those behind it cannot be decided before it is made. One that
   * nobody waits for any more before its turn has come is not written: throws `unavailable`. When its
   * turn has come, it is written only where `isDue` is true, if that is there.
   */
  write(
    request: Request,
    context: StoreContext,
    { isAlone = false, isDue }: Partial<Pick<Task, 'isAlone' | 'isDue'>> = {},
  ): Promise<Done | undefined> {
    return new Promise((resolve, reject) => {
      const task: Task = { request, isAlone, resolve, reject, ...defined({ isDue }) };
      this.#waiting.push(task);
      if (this.#writing === undefined) {
        this.#writing = this.#writeAll();
      } else {
        context.signal.addEventListener('abort', () => this.#giveUp(request, reject), { once: true });
      }
    });
  }

  /** Does something with the tables while no change is on its way to be written: none has been checked before it. */
  between<T>(run: (tables: LogTables) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#between.push({ run: (tables) => resolve(run(tables)), reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Waits for all requests, and forgets the tables. */
  async close(): Promise<void> {
    await this.#writing;
    this.#reading = undefined;
  }

  get #name(): string {
    return this.#source.name ?? 'the log';
  }

  #giveUp(target: Request, reject: Task['reject']): void {
    const place = this.#waiting.findIndex(({ request }) => request === target);
    if (place >= 0) {
      this.#waiting.splice(place, 1);
      const why =
        'the writes before this one have not ended in time: persist must not wait for a write of its own service';
      reject(new StoreError('unavailable', why));
    }
  }

  async #read(): Promise<LogTables> {
    try {
      const tables = new LogTables({
        log: this.#hasLog,
        leases: this.#leases,
        claims: this.#claims,
        name: this.#name,
        format: this.#format,
      });
      let place = 0;
      for await (const item of (await this.#source.restore?.(tables)) ?? []) {
        place += 1;
        for (const record of this.#source.admit?.(item, place) ?? [item]) {
          tables.replay(record);
        }
      }
      if (tables.version !== undefined && tables.version < this.#format.version) {
        await this.#upgrade(tables, tables.version);
      }
      this.#isUnknown = false;
      return tables;
    } catch (error) {
      this.#reading = undefined;
      if (this.#isUnknown) {
        // A `StoreError` would say that the change is not written, and it may be.
        throw new Error('the log cannot be read again: the outcome of the last changes is unknown', { cause: error });
      }
      throw error;
    }
  }

  /** Appends the record of this version behind all others. A second one does no harm. */
  async #upgrade(tables: LogTables, version: number): Promise<void> {
    if (this.migrate !== 'upgrade') {
      throw olderVersion(this.#name, version, this.#format.version);
    }
    const record = versionRecord(this.#format);
    await this.#source.persist([record]);
    tables.replay(record);
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0 || this.#between.length > 0) {
      try {
        const tables = await this.tables();
        this.#runBetween(tables);
        const batch = takeBatch(this.#waiting, tables);
        if (batch.length > 0) {
          await this.#writeBatch(batch, tables);
        }
      } catch (error) {
        [...this.#waiting.splice(0), ...this.#between.splice(0)].forEach(({ reject }) => reject(error));
      }
    }
    this.#writing = undefined;
  }

  #runBetween(tables: LogTables): void {
    for (const { run, reject } of this.#between.splice(0)) {
      try {
        run(tables);
      } catch (error) {
        reject(error);
      }
    }
  }

  async #writeBatch(batch: readonly Entry[], tables: LogTables): Promise<void> {
    try {
      const version = tables.version === undefined ? [versionRecord(this.#format)] : [];
      await this.#source.persist([...version, ...batch.flatMap(recordsOf)]);
      version.forEach((record) => tables.replay(record));
    } catch (error) {
      this.#fail(batch, error);
      return;
    }
    batch.forEach((entry) => makeEntry(tables, entry));
  }

  #fail(batch: readonly Entry[], error: unknown): void {
    const isUnwritten = isUnwrittenBy(error);
    if (!isUnwritten && this.#source.restore !== undefined) {
      this.#isUnknown = true;
      this.#reading = undefined;
    }
    if (isUnwritten && error.code === 'rejected' && batch.length > 1) {
      // One record may be the cause: each is tried by itself.
      this.#waiting.unshift(...batch.map(({ task }) => ({ ...task, isAlone: true })));
      return;
    }
    // A store error would say that nothing is written.
    const reason = !isUnwritten && isStoreError(error) ? new Error(error.message, { cause: error }) : error;
    batch.forEach(({ task }) => task.reject(reason));
  }
}

/** True when an error of `persist` says that none of the records is stored. */
function isUnwrittenBy(error: unknown): error is StoreError {
  return isStoreError(error) && (error.code === 'unavailable' || error.code === 'rejected');
}
