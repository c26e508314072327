// Values after a delta.

import { mergeRecords } from '../../model/scope.js';
import { put } from '../../model/json.js';
import type { Delta, Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** Values after deltas, one after the other. What a delta both deletes and writes goes to the end. */
export function applied(values: Values, ...deltas: readonly (Delta | undefined)[]): Values {
  const next = mergeRecords([values]);
  for (const { set = {}, unset = [] } of deltas.map((delta) => delta ?? {})) {
    unset.forEach((name) => delete next[name]);
    Object.keys(set).forEach((name) => put(next, name, set[name] as Json));
  }
  return next;
}
