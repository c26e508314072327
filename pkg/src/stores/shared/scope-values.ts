// The values of one scope in memory, and what a delta and a guard mean for them.

import { applyDelta } from '../../model/delta.js';
import { growthBy, valueBytes, type Size } from './growth.js';
import { emptyValues } from './values.js';
import type { Delta, Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** The values of one scope. A reader gets a frozen record, the same one until something moves. */
export class ScopeValues {
  readonly #values = new Map<string, Json>();
  #record: Values | undefined;
  /** The size in bytes, counted when it is first asked for and kept up to date from then on. */
  #bytes: number | undefined;

  /** Makes a delta. A name that is there keeps its place; one that is deleted, or new, comes at the end. */
  apply(delta: Delta): void {
    if (this.#bytes !== undefined) {
      this.#bytes += growthBy(delta, (name) => this.bytesOf(name)).bytes;
    }
    applyDelta(this.#values, delta);
    this.#record = undefined;
  }

  /** True if there is no value. */
  get isEmpty(): boolean {
    return this.#values.size === 0;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  get(name: string): Json | undefined {
    return this.#values.get(name);
  }

  /** The number of names, and the bytes of names and values together. */
  get size(): Size {
    this.#bytes ??= growthBy({ set: this.record() }, () => undefined).bytes;
    return { keys: this.#values.size, bytes: this.#bytes };
  }

  /** The bytes of the text of a value; `undefined` when the name is not there. */
  bytesOf(name: string): number | undefined {
    const value = this.#values.get(name);
    return value === undefined ? undefined : valueBytes(value);
  }

  /** All values. */
  record(): Values {
    if (this.#record === undefined) {
      const record = emptyValues();
      this.#values.forEach((value, name) => (record[name] = value));
      this.#record = Object.freeze(record);
    }
    return this.#record;
  }

  /** True if names have the values, or the absence, that a guard expects. */
  holds({ set = {}, unset = [] }: Delta): boolean {
    return (
      unset.every((name) => !this.#values.has(name)) &&
      Object.keys(set).every(
        (name) => this.#values.has(name) && JSON.stringify(this.#values.get(name)) === JSON.stringify(set[name]),
      )
    );
  }

  /** Deletes all values. */
  clear(): void {
    this.#values.clear();
    this.#record = undefined;
    this.#bytes = undefined;
  }
}
