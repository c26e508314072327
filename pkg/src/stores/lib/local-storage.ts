// Lines in the storage of a browser: an item for each batch of them.

import { StoreError } from '../../store-error.js';
import { browserLock, itemLock, type StorageLock } from './local-storage-lock.js';
import type { Durability } from '../../store.js';

/** What is needed of a `Storage`. */
export interface StorageArea {
  readonly length: number;
  key(index: number): string | null;
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** What is needed of `navigator.locks`. */
export interface StorageLocks {
  request(
    name: string,
    options: { readonly mode: 'exclusive'; readonly ifAvailable: true },
    callback: (lock: object | null) => Promise<unknown>,
  ): Promise<unknown>;
}

/** Options of `localStorageJournal`. */
export interface StorageOptions {
  /** `globalThis.localStorage`, unless told otherwise. */
  readonly storage?: StorageArea | undefined;
  /** Locks that all who use the storage share; for `localStorage` those of the browser, unless told otherwise. */
  readonly locks?: StorageLocks | undefined;
}

/** How many digits the number of an item has at least. */
const DIGITS = 7;

/** Items of a storage, each with some lines. */
export class JournalStorage {
  readonly durability: Durability = 'os';
  readonly name: string;
  readonly #name: string;
  readonly #options: StorageOptions;
  #storage: StorageArea | undefined;
  #lock: StorageLock | undefined;
  #last = 0;

  constructor(name: string, options: StorageOptions) {
    this.name = `the journal "${name}"`;
    this.#name = name;
    this.#options = options;
  }

  async open(): Promise<void> {
    const host = globalThis as { readonly localStorage?: StorageArea; readonly navigator?: { readonly locks?: StorageLocks } };
    // Reading the property may throw, where a page is not allowed to store anything.
    const { storage = host.localStorage, locks = this.#options.storage === undefined ? host.navigator?.locks : undefined } = this.#options;
    if (storage === undefined) {
      throw new StoreError('rejected', `there is no localStorage for the journal "${this.#name}"`);
    }
    this.#lock = await (locks === undefined ? itemLock(storage, `${this.#name}:lock`) : browserLock(locks, `statepad:${this.#name}`));
    this.#storage = storage;
  }

  *read(): Generator<string> {
    const storage = this.#opened();
    this.#last = 0;
    const numbers = Array.from({ length: storage.length }, (_, index) => this.#numberOf(storage.key(index) ?? ''));
    for (const number of numbers.filter((number) => number > 0).sort((a, b) => a - b)) {
      this.#last = number;
      yield* (storage.getItem(this.#item(number)) ?? '').split('\n');
      // An item is there as a whole: its last line is never a torn one.
      yield '';
    }
  }

  async append(lines: readonly string[]): Promise<void> {
    const storage = this.#opened();
    this.#lock?.confirm();
    const item = this.#item(this.#last + 1);
    try {
      storage.setItem(item, lines.join('\n'));
    } catch (error) {
      if (isFull(error) && storage.getItem(item) === null) {
        throw new StoreError('unavailable', `there is no room left for the journal "${this.#name}"`, { cause: error });
      }
      throw error;
    }
    this.#last += 1;
  }

  async close(): Promise<void> {
    this.#lock?.release();
    this.#lock = undefined;
    this.#storage = undefined;
  }

  #opened(): StorageArea {
    if (this.#storage === undefined) {
      throw new Error(`the journal "${this.#name}" is not open`);
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

/** Browsers have told in several ways that a storage is full. */
function isFull(error: unknown): boolean {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  return name === 'QuotaExceededError' || name === 'NS_ERROR_DOM_QUOTA_REACHED' || code === 22 || code === 1014;
}
