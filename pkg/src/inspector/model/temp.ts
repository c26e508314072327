// The `temp:` keys of an invocation that runs in this page: only this page knows them.

import { DELETED } from '../../index.js';
import type { EventInit, Json, Session } from '../../index.js';

/** Values of `temp:` keys. */
export type Temp = Readonly<Record<string, Json>>;

/** True when an event writes a `temp:` key. */
export function hasTemp({ actions }: EventInit): boolean {
  return Object.keys(actions?.stateDelta ?? {}).some((key) => key.startsWith('temp:'));
}

/** The `temp:` keys after an event. */
export function tempAfter(temp: Temp, { actions }: EventInit): Temp {
  const writes = Object.entries(actions?.stateDelta ?? {}).filter(([key]) => key.startsWith('temp:'));
  const all = Object.entries({ ...temp, ...Object.fromEntries(writes) });
  return Object.fromEntries(all.filter(([, value]) => value !== DELETED)) as Record<string, Json>;
}

/** The `temp:` keys that a handle shows. */
export function tempOf({ state }: Session): Temp {
  return Object.fromEntries(Object.entries(state).filter(([key]) => key.startsWith('temp:')));
}
