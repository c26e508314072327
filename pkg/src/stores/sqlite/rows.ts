// Reading columns. A column of another type than was written is corrupt.

import { StoreError } from '../../store/store-error.js';
import { fromColumn } from '../shared/column-text.js';
import { parseValue, valuesOf } from '../shared/values.js';
import type { SqlRow } from './driver.js';
import type { StoredEvent, Values } from '../../store/contract.js';

/** The text in a column. */
export function textIn(row: SqlRow, column: string): string {
  return textOf(row[column], column);
}

/** The text that a column holds. */
export function textOf(value: unknown, column: string): string {
  if (typeof value !== 'string') {
    throw new StoreError('corrupt', `the column "${column}" of a row has no text`);
  }
  return fromColumn(value);
}

/** The number in a column. */
export function numberIn(row: SqlRow, column: string): number {
  return numberOf(row[column], column);
}

/** The number that a column holds. */
export function numberOf(value: unknown, column: string): number {
  if (typeof value !== 'number') {
    throw new StoreError('corrupt', `the column "${column}" of a row has no number`);
  }
  return value;
}

/**
 * The values in rows with `name`, `value`, `born` and `nth`, in their order. `whose` says what is corrupt, if it is.
 */
export function valuesIn(rows: readonly SqlRow[], whose: string): Values {
  const entries = inOrder(rows.map(entryIn));
  return Object.freeze(valuesOf(entries.map(({ name, value }) => [name, parseValue(name, value, whose)])));
}

/** A value under its name, and the change that brought the name (`born`) with its place in that change (`nth`). */
export interface Entry {
  readonly name: string;
  readonly value: string;
  readonly born: number;
  readonly nth: number;
}

/** Entries in the order in which their names came. */
export function inOrder(entries: readonly Entry[]): Entry[] {
  return [...entries].sort((a, b) => a.born - b.born || a.nth - b.nth);
}

/** The event in a row with `rev`, `id` and `data`. That of a creation tells no id. */
export function eventIn(row: SqlRow): StoredEvent {
  const [rev, data] = [numberIn(row, 'rev'), textIn(row, 'data')];
  return rev === 0 ? { rev, data } : { rev, data, id: textIn(row, 'id') };
}

/** The entry in a row with `name`, `value`, `born` and `nth`. */
export function entryIn(row: SqlRow): Entry {
  return {
    name: textIn(row, 'name'),
    value: textIn(row, 'value'),
    born: numberIn(row, 'born'),
    nth: numberIn(row, 'nth'),
  };
}
