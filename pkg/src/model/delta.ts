// Deltas: the changes of one scope, and their effect on its values.

import { put } from './json.js';
import { mergeRecords } from './scope.js';
import type { Json } from './types.js';

/** The changes of one scope: names to set and names to delete. */
export interface Delta {
  readonly set?: Readonly<Record<string, Json>>;
  readonly unset?: readonly string[];
}

/** A delta, split by scope. */
export interface ScopedDelta {
  readonly app?: Delta;
  readonly user?: Delta;
  readonly session?: Delta;
}

/** Values under names, in an order: a `Map` is one. */
export interface MutableValues {
  set(name: string, value: Json): unknown;
  delete(name: string): unknown;
}

/**
 * Applies a delta. Deletions come first: a name that is both deleted and set goes to the end, and one that is only set
 * keeps its place.
 */
export function applyDelta(values: MutableValues, { set = {}, unset = [] }: Delta): void {
  for (const name of unset) {
    values.delete(name);
  }
  for (const name of Object.keys(set)) {
    values.set(name, set[name] as Json);
  }
}

/** A copy of values after several deltas, in order. */
export function withDeltas(
  values: Readonly<Record<string, Json>>,
  ...deltas: readonly (Delta | undefined)[]
): Readonly<Record<string, Json>> {
  const record = mergeRecords([values]);
  const copy: MutableValues = {
    set: (name, value) => put(record, name, value),
    delete: (name) => delete record[name],
  };
  for (const delta of deltas) {
    applyDelta(copy, delta ?? {});
  }
  return record;
}
