// A delta of one scope on its way into rows: the texts that it writes, and what they replace.

import * as sql from './statements.js';
import { numberOf } from './rows.js';
import { toColumn } from '../shared/column-text.js';
import { growthBy, type Size } from '../shared/growth.js';
import { utf8Length } from '../../model/utf8.js';
import type { SqlDriver } from './driver.js';
import type { Delta } from '../../store/contract.js';

/** What is under a name, as the columns hold it. */
interface Stored {
  readonly size: number;
  /** Absent where it was not asked for. */
  readonly value?: string;
}

/** A value that a delta sets. */
export interface SetRow {
  /** The name, as the column holds it. */
  readonly name: string;
  readonly json: string;
  /** The number of bytes of `json`. */
  readonly size: number;
}

/** A write to a name, for the log: the values before and after it, as JSON. */
export interface Written {
  /** The name, as the column holds it. */
  readonly name: string;
  readonly before: string | null;
  readonly value: string | null;
}

const NONE: readonly string[] = [];

/** A delta as rows. What is there is read when this is made: that is to be before the delta is written. */
export class DeltaRows {
  /** The names that are deleted, as the column holds them: those that are there, also when they are set again. */
  readonly unset: readonly string[];
  readonly set: readonly SetRow[];
  /** The difference to the size of the scope. */
  readonly growth: Size;
  readonly #stored = new Map<string, Stored>();

  /** `owner` is 0 for a scope that has no row yet. `isLogged`: {@link DeltaRows.written} will be asked for. */
  constructor(driver: SqlDriver, owner: number, delta: Delta, isLogged: boolean) {
    const { set = {}, unset = [] } = delta;
    this.set = Object.keys(set).map((name) => {
      const json = sql.jsonColumn(set[name]);
      return { name: toColumn(name), json, size: utf8Length(json) };
    });
    // Names are looked at in the order of the rows, and then those that are only deleted.
    let next = 0;
    this.growth = growthBy(
      delta,
      (name) => {
        const column = this.set[next]?.name ?? toColumn(name);
        const stored = owner === 0 ? undefined : read(driver, owner, column, isLogged);
        if (stored !== undefined) {
          this.#stored.set(column, stored);
        }
        return stored?.size;
      },
      () => this.set[next++]?.size ?? 0,
    );
    this.unset =
      unset.length === 0 ? NONE : [...new Set(unset.map(toColumn))].filter((name) => this.#stored.has(name));
  }

  /** The writes in their order: deletions of what was there, then all that is set. */
  *written(): Iterable<Written> {
    const before = (name: string): string | null => this.#stored.get(name)?.value ?? null;
    const set = new Set(this.set.map(({ name }) => name));
    for (const name of this.unset) {
      if (!set.has(name)) {
        yield { name, before: before(name), value: null };
      }
    }
    for (const { name, json } of this.set) {
      yield { name, before: before(name), value: json };
    }
  }
}

function read(driver: SqlDriver, owner: number, name: string, isLogged: boolean): Stored | undefined {
  const row = driver.first(isLogged ? sql.READ_BEFORE : sql.READ_SIZE, [owner, name]);
  if (row === undefined) {
    return undefined;
  }
  const size = numberOf(row[0], 'size');
  return typeof row[1] === 'string' ? { size, value: row[1] } : { size };
}
