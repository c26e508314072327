// Values after a delta.

import type { Delta, Values } from './store.js';
import type { Json } from './types.js';

/** Values after deltas, one after the other. What a delta both deletes and writes goes to the end. */
export function applied(values: Values, ...deltas: readonly (Delta | undefined)[]): Values {
  const next = Object.assign(Object.create(null) as Record<string, Json>, values);
  for (const { set = {}, unset = [] } of deltas.map((delta) => delta ?? {})) {
    unset.forEach((name) => delete next[name]);
    Object.assign(next, set);
  }
  return next;
}
