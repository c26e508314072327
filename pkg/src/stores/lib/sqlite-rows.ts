// Reading columns: what is not what was written there is corrupt.

import { StoreError } from '../../store-error.js';
import { fromColumn } from './sql-text.js';
import type { SqlRow } from './sqlite-driver.js';

/** The text in a column. */
export function textIn(row: SqlRow, column: string): string {
  const value = row[column];
  if (typeof value !== 'string') {
    throw new StoreError('corrupt', `the column "${column}" of a row has no text`);
  }
  return fromColumn(value);
}

/** The number in a column. */
export function numberIn(row: SqlRow, column: string): number {
  const value = row[column];
  if (typeof value !== 'number') {
    throw new StoreError('corrupt', `the column "${column}" of a row has no number`);
  }
  return value;
}
