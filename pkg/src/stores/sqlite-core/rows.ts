// Reading columns. A column of another type than was written is corrupt.

import { StoreError } from '../../store/store-error.js';
import { fromColumn } from '../shared/column-text.js';
import { parseValue, valuesOf } from '../shared/values.js';
import type { SqlRow } from './driver.js';
import type { CallRecord } from '../shared/decide.js';
import type { ScopedValues, StoredEvent, Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

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

/** The event in a row with the columns of `statements.EVENT_COLUMNS`. */
export function eventIn(row: SqlRow): StoredEvent {
  return eventOf(row['rev'], row['id'], row['data'], row['results'], row['app_pos'], row['user_pos']);
}

/** The event that these columns hold. A creation's event tells no id. */
export function eventOf(
  rev: unknown,
  id: unknown,
  data: unknown,
  results: unknown,
  app: unknown,
  user: unknown,
): StoredEvent {
  const event: { -readonly [Member in keyof StoredEvent]: StoredEvent[Member] } = {
    rev: numberOf(rev, 'rev'),
    data: textOf(data, 'data'),
  };
  if (event.rev > 0) {
    event.id = textOf(id, 'id');
  }
  const cameTo = resultsOf(results);
  if (cameTo !== undefined) {
    event.results = cameTo;
  }
  if (app !== null) {
    event.pos = { app: numberOf(app, 'app_pos'), user: numberOf(user, 'user_pos') };
  }
  return event;
}

/** The results of a change's operators, as the column `results` has them; `undefined` where there were none. */
export function resultsOf(column: unknown): ScopedValues | undefined {
  if (column === null || column === undefined) {
    return undefined;
  }
  const scopes = Object.entries(
    parseValue('results', textOf(column, 'results'), 'an event') as Record<string, Values>,
  );
  return Object.fromEntries(scopes.map(([scope, values]) => [scope, valuesOf(Object.entries<Json>(values))]));
}

/** The record of a change in a row with `digest`. */
export function recordIn(row: SqlRow = {}): CallRecord {
  return typeof row['digest'] === 'string' ? { digest: textIn(row, 'digest') } : {};
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
