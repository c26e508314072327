// What is remembered by its id for some time: updates, refused calls, creations of sessions that are gone.

import { get, put, remove, type IdRow } from './schema.js';

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

  /** Asks for an id; `scope` is what it is unique in, everything unless told otherwise. */
  async read(transaction: IDBTransaction, id: string, scope: readonly string[] = []): Promise<void> {
    if ((await get(transaction, this.#table, [[...scope], id], 'id')) !== undefined) {
      this.#known.add(textOf(scope, id));
    }
  }

  has(id: string, scope: readonly string[] = []): boolean {
    return this.#known.has(textOf(scope, id));
  }

  add(id: string, scope: readonly string[] = []): void {
    if (!this.has(id, scope)) {
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
