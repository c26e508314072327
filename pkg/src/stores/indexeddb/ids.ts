// The ids that are remembered for some time: updates, refused calls, creations of removed sessions.

import { REMEMBERED_MS } from '../shared/limits.js';
import { get, put, remove } from './requests.js';
import type { IdColumns, IdRow } from './rows.js';

/** The ids of one table that are looked for or added in a transaction. */
export class RememberedIds {
  readonly #table: 'updates' | 'calls' | 'creations';
  readonly #known = new Map<string, IdRow>();
  readonly #stored = new Map<string, IdRow>();
  readonly #added = new Map<string, IdRow>();

  constructor(table: 'updates' | 'calls' | 'creations') {
    this.#table = table;
  }

  /** Asks for an id. `scope`: the range in which it is unique, by default everything. */
  async read(transaction: IDBTransaction, id: string, scope: readonly string[] = []): Promise<void> {
    const row = await get(transaction, this.#table, [[...scope], id], 'id');
    if (row !== undefined) {
      this.#known.set(textOf(scope, id), row);
      this.#stored.set(textOf(scope, id), row);
    }
  }

  /** The stored data of an id; `undefined` where it is not known. */
  get(id: string, scope: readonly string[] = []): IdColumns | undefined {
    return this.#known.get(textOf(scope, id));
  }

  /** Remembers an id from now on. One that is known keeps its columns. */
  add(id: string, scope: readonly string[], columns: IdColumns): void {
    const text = textOf(scope, id);
    const row = { ...(this.#known.get(text) ?? { scope, id, ...columns }), at: Date.now() };
    this.#known.set(text, row);
    this.#added.set(text, row);
  }

  /** Writes the added ids, and forgets those that are too old. */
  write(transaction: IDBTransaction): void {
    if (this.#added.size > 0) {
      remove(transaction, this.#table, IDBKeyRange.upperBound([Date.now() - REMEMBERED_MS]));
      for (const [text, row] of this.#added) {
        const stored = this.#stored.get(text);
        if (stored !== undefined) {
          remove(transaction, this.#table, [stored.at, [...stored.scope], stored.id]);
        }
        put(transaction, this.#table, row);
      }
    }
  }
}

function textOf(scope: readonly string[], id: string): string {
  return JSON.stringify([...scope, id]);
}
