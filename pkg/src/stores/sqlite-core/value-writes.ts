// The values that a change writes, those of all its scopes together: a few statements in place of one for each value.

import * as sql from './statements.js';
import type { DeltaRows } from './delta-rows.js';
import type { SqlDriver, SqlValue } from './driver.js';

/** A value with more characters is written by itself: the error of one that is too big says the size of that one. */
const MOST_CHARACTERS = 10_000;

/** Collects the names that a change deletes, and the values that it sets, and writes them. */
export class ValueWrites {
  readonly #unset: (readonly [owner: number, name: string])[] = [];
  /** The parameters of values that are written together; each list has those of {@link sql.MOST_VALUES} at most. */
  readonly #set: { count: number; readonly values: SqlValue[] }[] = [];
  #isOpen = false;

  /** Adds the rows of an owner. `born` is the revision or the position that they bring the owner to. */
  add(owner: number, born: number, { set, unset }: Pick<DeltaRows, 'set' | 'unset'>): void {
    for (const name of unset) {
      this.#unset.push([owner, name]);
    }
    set.forEach(({ name, json, size }, nth) => {
      const isLong = json.length > MOST_CHARACTERS;
      const group = this.#isOpen && !isLong ? this.#set.at(-1) : undefined;
      if (group === undefined) {
        this.#set.push({ count: 1, values: [owner, name, born, nth, size, json] });
        this.#isOpen = !isLong;
      } else {
        group.values.push(owner, name, born, nth, size, json);
        group.count += 1;
        this.#isOpen = group.count < sql.MOST_VALUES;
      }
    });
  }

  /** Writes all of it. Deletions come first: a name that is also set comes at the end of its scope then. */
  write(driver: SqlDriver): void {
    for (const each of this.#unset) {
      driver.run(sql.UNSET_VALUE, each);
    }
    for (const { count, values } of this.#set) {
      driver.run(sql.setValues(count), values);
    }
  }
}
