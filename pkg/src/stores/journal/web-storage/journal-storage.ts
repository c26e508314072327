// Lines in the storage of a browser: an item for each batch of them.

import { StoreError } from '../../../store/store-error.js';
import { areaOfPage, type StorageArea } from './area.js';
import { lockStorage, type StorageLock } from './lock.js';
import type { StorageOptions } from '../options.js';
import type { Durability } from '../../../store/contract.js';

const DELETED = 'was deleted while it was open';

/** The least number of digits in the number of an item. */
const DIGITS = 7;

/** Items of a storage, each with some lines. */
export class JournalStorage {
  readonly durability: Durability = 'os';
  readonly name: string;
  readonly #name: string;
  readonly #options: StorageOptions;
  #storage: StorageArea | undefined;
  #lock: StorageLock | undefined;
  /** The numbers of the first and the last item; 0 when there is none. */
  #first = 0;
  #last = 0;
  /** The reason that all later writes are refused. */
  #failure: StoreError | undefined;

  constructor(name: string, options: StorageOptions) {
    this.name = `the journal "${name}"`;
    this.#name = name;
    this.#options = options;
  }

  async open(): Promise<void> {
    const { storage = areaOfPage('localStorage') } = this.#options;
    if (storage === undefined) {
      throw new StoreError('rejected', `there is no localStorage for ${this.name}`);
    }
    this.#lock = await lockStorage(storage, this.#name, this.#options.locks);
    this.#storage = storage;
    this.#failure = undefined;
    this.#first = 0;
    this.#last = 0;
  }

  *read(): Generator<string> {
    const storage = this.#opened();
    const numbers = Array.from({ length: storage.length }, (_, index) => this.#numberOf(storage.key(index) ?? ''));
    const itemNumbers = numbers.filter((number) => number > 0).sort((a, b) => a - b);
    if ((itemNumbers.at(-1) ?? 0) < this.#last) {
      throw this.#fail(DELETED);
    }
    this.#first = itemNumbers[0] ?? 0;
    for (const number of itemNumbers) {
      this.#last = number;
      yield* (storage.getItem(this.#item(number)) ?? '').split('\n');
      // An item is there as a whole: its last line is never a torn one.
      yield '';
    }
  }

  async append(lines: readonly string[]): Promise<void> {
    const storage = this.#opened();
    this.#assertOurs(storage);
    const item = this.#item(this.#last + 1);
    try {
      storage.setItem(item, lines.join('\n'));
    } catch (error) {
      if (isFull(error) && storage.getItem(item) === null) {
        throw new StoreError('unavailable', `there is no room left for ${this.name}`, { cause: error });
      }
      throw error;
    }
    this.#last += 1;
    this.#first ||= this.#last;
  }

  async close(): Promise<void> {
    this.#lock?.release();
    this.#lock = undefined;
    this.#storage = undefined;
  }

  /** Throws when items have been deleted, or written by another page. */
  #assertOurs(storage: StorageArea): void {
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
    this.#lock?.confirm();
    const isThere = (number: number): boolean => storage.getItem(this.#item(number)) !== null;
    if (this.#last > 0 && !(isThere(this.#first) && isThere(this.#last))) {
      throw this.#fail(DELETED);
    }
    if (isThere(this.#last + 1)) {
      throw this.#fail('was written by another page while it was open');
    }
  }

  /** Writes nothing from now on: this page's memory differs from the stored data. */
  #fail(what: string): StoreError {
    this.#failure = new StoreError('rejected', `${this.name} ${what}: reload the page`);
    return this.#failure;
  }

  #opened(): StorageArea {
    if (this.#storage === undefined) {
      throw new Error(`${this.name} is not open`);
    }
    return this.#storage;
  }

  #item(number: number): string {
    return `${this.#name}:${String(number).padStart(DIGITS, '0')}`;
  }

  /** The number of an item; 0 when it belongs to something else. */
  #numberOf(item: string): number {
    const number = Number(item.slice(this.#name.length + 1));
    return Number.isSafeInteger(number) && item === this.#item(number) ? number : 0;
  }
}

/** Browsers tell in several ways that a storage is full. */
function isFull(error: unknown): boolean {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  return name === 'QuotaExceededError' || name === 'NS_ERROR_DOM_QUOTA_REACHED' || code === 22 || code === 1014;
}
