// The statements that read and write the log of app and user values. The comment of each names its parameters, in
// their order.

import { toColumn } from '../shared/column-text.js';
import type { SqlValue } from './driver.js';
import type { LogQuery } from '../../store/contract.js';

/** The most rows that one statement writes. */
export const MOST_ROWS = 8;

const COLUMNS = 'owner, pos, nth, name, before, value, time, user, session, event';
const ROW = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';

const ADD_ROWS = Array.from(
  { length: MOST_ROWS },
  (_, more) => `INSERT INTO statepad_log (${COLUMNS}) VALUES ${ROW}${`, ${ROW}`.repeat(more)}`,
);

/** The statement that writes so many rows, {@link MOST_ROWS} at most: all columns of each, in the table's order. */
export function addRows(count: number): string {
  return ADD_ROWS[count - 1] as string;
}

/** `n`. */
export const READ_BASE = 'SELECT pos, coalesce(log_base, pos) AS base FROM statepad_scopes WHERE n = ?';
/** `owner`, behind `pos`, up to `pos`. */
export const COUNT_ENTRIES =
  'SELECT count(DISTINCT pos) AS entries FROM statepad_log WHERE owner = ? AND pos > ? AND pos <= ?';
/** `owner`, up to `pos`. */
export const TRIM_LOG = 'DELETE FROM statepad_log WHERE owner = ? AND pos <= ?';
/** `log_base`, `n`. */
export const SET_BASE = 'UPDATE statepad_scopes SET log_base = ? WHERE n = ?';

/** The components of {@link entriesText}, as SQL: parameters, for the most part. */
export interface EntriesPlace {
  /** The number of the scope. */
  readonly owner: string;
  /** The position that the entries are behind. */
  readonly after: string;
  /** The last position. */
  readonly to: string;
  readonly name: string | undefined;
  /** The most entries to read. */
  readonly limit: string | undefined;
}

/**
 * The statement that reads entries of a log. With a name, rows without one come as well: they may say who has written.
 */
export function entriesText({ owner, after, to, name, limit }: EntriesPlace): string {
  const isInRange = `owner = ${owner} AND pos > ${after} AND pos <= ${to}`;
  // An entry may have many rows.
  const isWithin = `AND pos <= (SELECT max(pos) FROM (SELECT DISTINCT pos FROM statepad_log
      WHERE ${isInRange}${name === undefined ? '' : ` AND name = ${name}`} ORDER BY pos LIMIT ${limit}))`;
  return `SELECT pos, name, before, value, time, user, session, event FROM statepad_log
    WHERE ${isInRange}${name === undefined ? '' : ` AND (name = ${name} OR name IS NULL)`}
    ${limit === undefined ? '' : isWithin} ORDER BY pos, nth`;
}

/** The same with its bound values; `owner` is the scope's number, `base` that of its log. */
export function readEntries(
  owner: number,
  base: number,
  { after = 0, to = Infinity, name, limit = Infinity }: LogQuery,
): readonly [sql: string, values: readonly SqlValue[]] {
  const hasLimit = limit !== Infinity;
  const range = [
    owner,
    Math.max(after, base),
    Math.min(to, Number.MAX_SAFE_INTEGER),
    ...(name === undefined ? [] : [toColumn(name)]),
  ];
  const text = entriesText({
    owner: '?',
    after: '?',
    to: '?',
    name: name === undefined ? undefined : '?',
    limit: hasLimit ? '?' : undefined,
  });
  return [text, hasLimit ? [...range, ...range, Math.ceil(limit)] : range];
}
