// The keys of a moment by name. Time moves over nearly the same keys again and again: they are looked up once.

import type { KeyRow } from '../model/rows.js';

/** The keys that have a value: those that the turn has deleted have none. */
export interface KeyRows {
  get(key: string): KeyRow | undefined;
  keys(): Iterable<string>;
}

/** The rows of a moment by their keys. The index is made when it is asked for. */
export class KeyIndex implements KeyRows {
  readonly #rows: readonly KeyRow[];
  /** By key, of all rows. */
  #places: ReadonlyMap<string, number> | undefined;

  /** Takes over the index of another moment if it has the same keys in the same order. */
  constructor(rows: readonly KeyRow[], last?: KeyIndex) {
    this.#rows = rows;
    if (last !== undefined && hasSameKeys(rows, last.#rows)) {
      this.#places = last.#places;
    }
  }

  get(key: string): KeyRow | undefined {
    this.#places ??= new Map(this.#rows.map((row, place) => [row.key, place]));
    const row = this.#rows[this.#places.get(key) ?? -1];
    return row?.value === undefined ? undefined : row;
  }

  keys(): string[] {
    return this.#rows.filter(({ value }) => value !== undefined).map(({ key }) => key);
  }
}

function hasSameKeys(rows: readonly KeyRow[], others: readonly KeyRow[]): boolean {
  return (
    rows.length === others.length &&
    rows.every((row, place) => row === others[place] || row.key === others[place]?.key)
  );
}
