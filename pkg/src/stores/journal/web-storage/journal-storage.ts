// Lines in the storage of a browser: an item for each batch of them.

import { StoreError } from '../../../store/store-error.js';
import { browserLock, pageLock, type StorageLock } from './lock.js';
import type { Durability } from '../../../store/contract.js';

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
  /**
   * Locks that all that use the storage share; for `localStorage` those of the browser (`navigator.locks`), unless told otherwise.
   * A storage without them is refused, but for `sessionStorage`, which each page has for itself.
   */
  readonly locks?: StorageLocks | undefined;
}

/** What a page has. */
interface Host {
  readonly localStorage?: StorageArea;
  readonly sessionStorage?: StorageArea;
  readonly navigator?: { readonly locks?: StorageLocks };
}

const DELETED = 'was deleted while it was open';

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
  /** The numbers of the first and the last item; 0 when there is none. */
  #first = 0;
  #last = 0;
  /** Why nothing is written any more. */
  #failure: StoreError | undefined;

  constructor(name: string, options: StorageOptions) {
    this.name = `the journal "${name}"`;
    this.#name = name;
    this.#options = options;
  }

  async open(): Promise<void> {
    const { storage = areaOf('localStorage') } = this.#options;
    if (storage === undefined) {
      throw new StoreError('rejected', `there is no localStorage for ${this.name}`);
    }
    this.#lock = await this.#acquire(storage);
    this.#storage = storage;
    this.#failure = undefined;
    this.#first = 0;
    this.#last = 0;
  }

  *read(): Generator<string> {
    const storage = this.#opened();
    const numbers = Array.from({ length: storage.length }, (_, index) => this.#numberOf(storage.key(index) ?? ''));
    const found = numbers.filter((number) => number > 0).sort((a, b) => a - b);
    if ((found.at(-1) ?? 0) < this.#last) {
      throw this.#fail(DELETED);
    }
    this.#first = found[0] ?? 0;
    for (const number of found) {
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

  /**
   * Only locks that the browser itself takes back keep a second writer out: a page that has been stopped (the machine slept) goes
   * on where it was, and cannot know by anything in the storage that others have taken its place meanwhile.
   */
  async #acquire(storage: StorageArea): Promise<StorageLock> {
    const isShared = storage === areaOf('localStorage');
    const locks = this.#options.locks ?? (isShared ? (globalThis as Host).navigator?.locks : undefined);
    if (locks !== undefined) {
      return await browserLock(locks, `statepad:${this.#name}`);
    }
    if (!isShared && storage === areaOf('sessionStorage')) {
      return pageLock(storage, this.#name);
    }
    const why = isShared
      ? 'needs navigator.locks, which a page has that comes by https or from localhost: serve it so, or use indexedDBStore'
      : 'needs locks that all that use its storage share: give them as locks';
    throw new StoreError('rejected', `${this.name} ${why}`);
  }

  /** Makes sure that what is here is still what was here, and that nothing else has come. */
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

  /** Writes nothing from now on: what this page has in memory is not what is stored. */
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

/** A storage of the page; `undefined` where there is none, or the page is not allowed to use it. */
function areaOf(name: 'localStorage' | 'sessionStorage'): StorageArea | undefined {
  try {
    return (globalThis as Host)[name];
  } catch {
    return undefined;
  }
}

/** Browsers have told in several ways that a storage is full. */
function isFull(error: unknown): boolean {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  return name === 'QuotaExceededError' || name === 'NS_ERROR_DOM_QUOTA_REACHED' || code === 22 || code === 1014;
}
