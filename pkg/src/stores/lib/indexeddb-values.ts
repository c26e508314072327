// The values of one scope in an IndexedDB database: a row for each name.

import { StoreError } from '../../store-error.js';
import { beginningWith, get, getAll, put, remove, type Home } from './indexeddb-tables.js';
import { emptyValues } from './values.js';
import type { Delta, Values } from '../../store.js';
import type { Json } from '../../types.js';

/** A value, and its place among the others. */
interface Held {
  readonly order: number;
  readonly text: string;
}

/** Reads all values of a scope. Throws `corrupt`. */
export async function readValues(transaction: IDBTransaction, home: Home): Promise<Values> {
  const rows = await getAll(transaction, 'values', beginningWith([home]));
  const values = emptyValues();
  for (const { name, text } of rows.sort((a, b) => a.order - b.order)) {
    values[name] = parsed(name, text);
  }
  return values;
}

function parsed(name: string, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new StoreError('corrupt', `the value of "${name}" cannot be read`, { cause: error });
  }
}

/** The values of one scope that some changes are about, from before they are made until they are written. */
export class HeldValues {
  readonly #held = new Map<string, Held>();
  readonly #asked = new Set<string>();
  readonly #moved = new Set<string>();
  /** The order of the next new name. */
  next = 0;

  /** Reads the values that matter for a delta and for what a guard expects. */
  read(transaction: IDBTransaction, home: Home, delta: Delta | undefined, expected: Delta | undefined): Promise<unknown> {
    const names = [...Object.keys(delta?.set ?? {}), ...Object.keys(expected?.set ?? {}), ...(expected?.unset ?? [])];
    const asked = names.filter((name) => !this.#asked.has(name));
    return Promise.all(
      asked.map(async (name) => {
        this.#asked.add(name);
        const row = await get(transaction, 'values', [home, name]);
        if (row !== undefined) {
          this.#held.set(name, row);
        }
      }),
    );
  }

  /** Makes a delta. A name that is there keeps its place; one that is deleted, or new, comes at the end. */
  apply({ set = {}, unset = [] }: Delta): void {
    for (const name of unset) {
      this.#held.delete(name);
      this.#moved.add(name);
    }
    for (const name of Object.keys(set)) {
      this.#held.set(name, { order: this.#held.get(name)?.order ?? this.next++, text: JSON.stringify(set[name]) });
      this.#moved.add(name);
    }
  }

  /** Whether names have the values, or the absence, that a guard expects. */
  holds({ set = {}, unset = [] }: Delta): boolean {
    return (
      unset.every((name) => !this.#held.has(name)) &&
      Object.keys(set).every((name) => this.#held.get(name)?.text === JSON.stringify(set[name]))
    );
  }

  /** Writes what has moved. */
  write(transaction: IDBTransaction, home: Home): void {
    for (const name of this.#moved) {
      const held = this.#held.get(name);
      if (held === undefined) {
        remove(transaction, 'values', [home, name]);
      } else {
        put(transaction, 'values', { home, name, order: held.order, text: held.text });
      }
    }
  }
}
