// What is remembered by its id for some time: updates, refused calls, creations of sessions that are gone.

import { get, put, remove, type IdRow } from './indexeddb-tables.js';

/** How long, in milliseconds: a day, as clocks may be wrong. */
const REMEMBERED = 24 * 60 * 60 * 1_000;

/** The ids of one table, from before some changes are made until they are written. */
export class RememberedIds {
  readonly #table: 'updates' | 'calls' | 'creations';
  readonly #known = new Set<string>();
  readonly #added: IdRow[] = [];

  constructor(table: 'updates' | 'calls' | 'creations') {
    this.#table = table;
  }

  async read(transaction: IDBTransaction, scope: readonly string[], id: string): Promise<void> {
    if ((await get(transaction, this.#table, [[...scope], id], 'id')) !== undefined) {
      this.#known.add(textOf(scope, id));
    }
  }

  has(scope: readonly string[], id: string): boolean {
    return this.#known.has(textOf(scope, id));
  }

  add(scope: readonly string[], id: string): void {
    if (!this.has(scope, id)) {
      this.#known.add(textOf(scope, id));
      this.#added.push({ at: Date.now(), scope, id });
    }
  }

  /** Writes what has been added, and forgets what is too old. */
  write(transaction: IDBTransaction): void {
    if (this.#added.length > 0) {
      remove(transaction, this.#table, IDBKeyRange.upperBound([Date.now() - REMEMBERED]));
      this.#added.forEach((row) => put(transaction, this.#table, row));
    }
  }
}

function textOf(scope: readonly string[], id: string): string {
  return JSON.stringify([...scope, id]);
}
