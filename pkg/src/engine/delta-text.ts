// Deltas and names on their way into the module: JSON text in the transfer buffer.

import { write } from './wasm.js';
import type { Json } from '../model/types.js';

/** A delta under full keys: the values to set (`null` where a key is deleted), and the keys to delete. */
export interface KeyedDelta {
  readonly delta: Readonly<Record<string, Json>>;
  readonly deleted: readonly string[];
}

/**
 * Writes a delta, and behind it the `id` of its event. Returns the length of each text in bytes. Throws `CORE_FAILED`.
 */
export function writeDelta({ delta, deleted }: KeyedDelta, id?: string): readonly [number, number, number] {
  return write(JSON.stringify(delta), namesText(deleted), id);
}

/** Names as JSON text: the members of an object. No text at all when there are none. */
export function namesText(names: readonly string[]): string {
  return names.length === 0 ? '' : `{${names.map((name) => `${JSON.stringify(name)}:0`).join()}}`;
}
