// The changes of others to a scope since a position, as the SQLite stores read them: the names that the changes since
// then concern, and the values that are under these names now.

import { changesIn, deltaOf, namesSince, type ScopeChange } from './entries.js';
import { entryIn, numberIn, textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import { changedOf } from '../shared/parts.js';
import { TOLD } from './schema.js';
import type { SqlDriver } from './driver.js';
import type { ScopeRow } from './read.js';
import type { Committed, Delta, Known } from '../../store/contract.js';

/** Reads the changes to scopes, within one transaction: rows that were read, or made, in it are not read again. */
export class ScopeHistory {
  readonly #driver: SqlDriver;
  /** The changes of scopes by their positions, up to where each scope is. */
  readonly #changes = new Map<number, Map<number, ScopeChange>>();

  constructor(driver: SqlDriver) {
    this.#driver = driver;
  }

  /** Returns the changes to an app and a user since the known positions, as far as they can be told. */
  changed(app: ScopeRow, user: ScopeRow, known: Pick<Known, 'pos' | 'marks'>): Pick<Committed, 'changed'> {
    return changedOf(
      this.#since(app, known.pos?.app, known.marks?.app, 'the app'),
      this.#since(user, known.pos?.user, known.marks?.user, 'the user'),
    );
  }

  /** Takes note of a change that brings a scope to a position: `entry` goes into its row. */
  add(n: number, pos: number, entry: string): void {
    const changes = this.#changes.get(n);
    if (changes !== undefined) {
      changesIn(pos, entry).forEach(([at, change]) => changes.set(at, change));
    }
  }

  /** The changes to a scope since a position; `undefined` when that had another mark, or is too long ago. */
  #since({ n, pos }: ScopeRow, since: number | undefined, mark: string | undefined, whose: string): Delta | undefined {
    if (since === undefined || mark === undefined || since >= pos || pos - since > TOLD) {
      return undefined;
    }
    const names = namesSince(this.#from(n, since), since, toColumn(mark), pos);
    return (
      names &&
      deltaOf(
        names,
        names.flatMap((name) => this.#driver.all(sql.READ_VALUE, [n, name]).map(entryIn)),
        since,
        whose,
      )
    );
  }

  /** The changes of a scope, from the one that came to the position `since` on at least, if it is known. */
  #from(n: number, since: number): ReadonlyMap<number, ScopeChange> {
    const read = (text: string, values: readonly number[]) =>
      this.#driver.all(text, values).flatMap((row) => changesIn(numberIn(row, 'pos'), textIn(row, 'entries')));
    let changes = this.#changes.get(n) ?? new Map(read(sql.READ_RECENT, [n]));
    if (!changes.has(since)) {
      changes = new Map([...read(sql.READ_CHANGES, [n, since]), ...changes]);
    }
    this.#changes.set(n, changes);
    return changes;
  }
}
