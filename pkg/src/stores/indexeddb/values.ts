// The values of one scope in an IndexedDB database: a row for each name.

import { defined } from '../../model/defined.js';
import { utf8Length } from '../../model/utf8.js';
import { beginningWith, get, getAll, put, remove } from './requests.js';
import type { Home, ValueRow } from './rows.js';
import { growthBy, type Size } from '../shared/growth.js';
import { parseValue, valuesOf } from '../shared/values.js';
import type { Delta, Operator, Values } from '../../store/contract.js';

/** A value, and its place among the others. */
interface BufferedValue {
  readonly order: number;
  readonly text: string;
  readonly pos?: number | undefined;
  readonly made?: number | undefined;
}

/** The size of a scope without values. */
export const NO_SIZE: Size = { keys: 0, bytes: 0 };

/** The part of a change that concerns the values of one scope. */
export interface ValuesConcern {
  readonly delta?: Delta | undefined;
  /** The values that its guard expects. */
  readonly expected?: Delta | undefined;
  readonly operators?: Readonly<Record<string, Operator>> | undefined;
}

/** Reads all values of a scope. Throws `corrupt`. `whose` is a title, for messages. */
export async function readValues(transaction: IDBTransaction, home: Home, whose: string): Promise<Values> {
  return valuesIn(await getAll(transaction, 'values', beginningWith([home])), whose);
}

/** The values of rows, in the order in which the names were first written. Throws `corrupt`. */
export function valuesIn(rows: readonly Pick<ValueRow, 'name' | 'order' | 'text'>[], whose: string): Values {
  const sorted = [...rows].sort((a, b) => a.order - b.order);
  return valuesOf(sorted.map(({ name, text }) => [name, parseValue(name, text, whose)]));
}

/** The values of one scope that are changed or compared in a transaction, until they are written. */
export class ValueBuffer {
  readonly #values = new Map<string, BufferedValue>();
  readonly #namesRead = new Set<string>();
  readonly #moved = new Set<string>();
  /** The order of the next new name. */
  next = 0;
  size = NO_SIZE;

  /** Reads the values that matter for a change's writes and for its guard. */
  read(
    transaction: IDBTransaction,
    home: Home,
    { delta = {}, expected = {}, operators = {} }: ValuesConcern,
  ): Promise<unknown> {
    const parts = [
      Object.keys(operators),
      Object.keys(delta.set ?? {}),
      delta.unset ?? [],
      Object.keys(expected.set ?? {}),
      expected.unset ?? [],
    ];
    const unread = parts.flat().filter((name) => !this.#namesRead.has(name));
    return Promise.all(
      unread.map(async (name) => {
        this.#namesRead.add(name);
        const row = await get(transaction, 'values', [home, name]);
        if (row !== undefined) {
          this.#values.set(name, row);
        }
      }),
    );
  }

  /**
   * Makes a delta, and answers the names that were deleted. A name that is there keeps its place; one that is deleted,
   * or new, comes at the end. Of an app and a user `pos` is the position to which the delta brings them.
   */
  apply({ set = {}, unset = [] }: Delta, pos?: number): string[] {
    const { keys, bytes } = growthBy({ set, unset }, (name) => this.bytesOf(name));
    this.size = { keys: this.size.keys + keys, bytes: this.size.bytes + bytes };
    const unsetNames = unset.filter((name) => this.#values.delete(name));
    unsetNames.forEach((name) => this.#moved.add(name));
    for (const name of Object.keys(set)) {
      const { order, made } = this.#values.get(name) ?? { order: this.next++, made: pos };
      this.#values.set(name, { order, text: JSON.stringify(set[name]), pos, made });
      this.#moved.add(name);
    }
    return unsetNames;
  }

  /** The UTF-8 bytes of a value that was read; `undefined` when the name is not there. */
  bytesOf(name: string): number | undefined {
    const text = this.textOf(name);
    return text === undefined ? undefined : utf8Length(text);
  }

  /** The JSON text of a value that was read; `undefined` when the name is not there. */
  textOf(name: string): string | undefined {
    return this.#values.get(name)?.text;
  }

  /** The values written since it was read, in place of those in the database's rows. */
  over(rows: readonly ValueRow[]): Omit<ValueRow, 'home'>[] {
    const others: Omit<ValueRow, 'home'>[] = rows.filter(({ name }) => !this.#moved.has(name));
    const moved = [...this.#moved].flatMap((name) => {
      const value = this.#values.get(name);
      return value === undefined ? [] : [{ name, ...value } as Omit<ValueRow, 'home'>];
    });
    return [...others, ...moved];
  }

  /** True when names have the values, or the absence, that a guard expects. */
  holds({ set = {}, unset = [] }: Delta): boolean {
    return (
      unset.every((name) => !this.#values.has(name)) &&
      Object.keys(set).every((name) => this.#values.get(name)?.text === JSON.stringify(set[name]))
    );
  }

  /** Writes what has moved. */
  write(transaction: IDBTransaction, home: Home): void {
    for (const name of this.#moved) {
      const value = this.#values.get(name);
      if (value === undefined) {
        remove(transaction, 'values', [home, name]);
      } else {
        const { order, text, pos, made } = value;
        put(transaction, 'values', defined({ home, name, order, text, pos, made }));
      }
    }
  }
}
