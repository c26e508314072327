// The ids that are remembered for some time: updates, refused calls, creations of removed sessions.

import { REMEMBERED_MS } from '../shared/limits.js';
import { get, put, remove } from './requests.js';
import type { IdRow } from './rows.js';

/** The ids of one table that are looked for or added in a transaction. */
export class RememberedIds {
  readonly #table: 'updates' | 'calls' | 'creations';
  readonly #known = new Map<string, Pick<IdRow, 'results'>>();
  readonly #added: IdRow[] = [];

  constructor(table: 'updates' | 'calls' | 'creations') {
    this.#table = table;
  }

  /** Asks for an id. `scope`: the range in which it is unique, by default everything. */
  async read(transaction: IDBTransaction, id: string, scope: readonly string[] = []): Promise<void> {
    const row = await get(transaction, this.#table, [[...scope], id], 'id');
    if (row !== undefined) {
      this.#known.set(textOf(scope, id), row);
    }
  }

  has(id: string, scope?: readonly string[]): boolean {
    return this.get(id, scope) !== undefined;
  }

  /** The stored data of an id; `undefined` where it is not known. */
  get(id: string, scope: readonly string[] = []): Pick<IdRow, 'results'> | undefined {
    return this.#known.get(textOf(scope, id));
  }

  add(id: string, scope: readonly string[] = [], columns: Pick<IdRow, 'results'> = {}): void {
    if (!this.has(id, scope)) {
      this.#known.set(textOf(scope, id), columns);
      this.#added.push({ at: Date.now(), scope, id, ...columns });
    }
  }

  /** Writes the added ids, and forgets those that are too old. */
  write(transaction: IDBTransaction): void {
    if (this.#added.length > 0) {
      remove(transaction, this.#table, IDBKeyRange.upperBound([Date.now() - REMEMBERED_MS]));
      this.#added.forEach((row) => put(transaction, this.#table, row));
    }
  }
}

function textOf(scope: readonly string[], id: string): string {
  return JSON.stringify([...scope, id]);
}
