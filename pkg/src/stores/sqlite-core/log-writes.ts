// The writes of changes to app and user values, on their way into the log: a few statements in place of one for each
// name.

import * as sql from './log-statements.js';
import { toColumn } from '../shared/column-text.js';
import { writerOf } from '../shared/log-entries.js';
import type { SqlDriver, SqlValue } from './driver.js';
import type { Written } from './delta-rows.js';
import type { Change } from '../../store/contract.js';

/** A row with more characters is written in parts, as each column of it may be as long as a row of some databases. */
export const LONG_ROW = 300_000;

/** The writer and the time of an entry, as their columns hold it: `time`, `user`, `session`, `event`. */
export type LogHead = readonly [time: number, user: string | null, session: string | null, event: string | null];

/** The head of the entries of a change. */
export function headOf(change: Change): LogHead {
  const by = writerOf(change);
  if (by === undefined) {
    return [change.time, null, null, null];
  }
  const { userId, sessionId, eventId } = by;
  return [change.time, toColumn(userId), toColumn(sessionId), eventId === undefined ? null : toColumn(eventId)];
}

/** Collects the entries of a change. */
export class LogWrites {
  readonly #driver: SqlDriver;
  readonly #head: LogHead;
  /** The parameters of all rows, and how many rows they are. */
  readonly #values: SqlValue[] = [];
  #count = 0;

  constructor(driver: SqlDriver, head: LogHead) {
    this.#driver = driver;
    this.#head = head;
  }

  /** Adds the writes to a scope that bring it to a position. */
  add(owner: number, pos: number, writes: Iterable<Written>): void {
    let nth = 0;
    const row = (name: string | null, before: string | null, value: string | null, head: LogHead): void => {
      this.#values.push(owner, pos, nth, name, before, value, ...head);
      this.#count += 1;
      nth += 1;
    };
    const [time, user, session, event] = this.#head;
    for (const { name, before, value } of writes) {
      if (lengthOf([name, before, value, user, session, event]) <= LONG_ROW) {
        row(name, before, value, this.#head);
        continue;
      }
      row(null, null, null, this.#head);
      [before === null ? undefined : ([before, null] as const), value === null ? undefined : ([null, value] as const)]
        .filter((part) => part !== undefined)
        .forEach(([old, now]) => row(name, old, now, [time, null, null, null]));
    }
    if (nth === 0) {
      row(null, null, null, this.#head);
    }
  }

  /** Writes all of it. */
  write(): void {
    const columns = this.#values.length / this.#count;
    for (let start = 0; start < this.#count; start += sql.MOST_ROWS) {
      const count = Math.min(sql.MOST_ROWS, this.#count - start);
      const values = this.#values.slice(start * columns, (start + count) * columns);
      this.#driver.run(sql.addRows(count), values);
    }
  }
}

function lengthOf(texts: readonly (string | null)[]): number {
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
}
