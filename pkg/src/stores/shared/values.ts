// The values of one scope, and what a delta says about them.

import { lostNumber } from '../../model/json-numbers.js';
import { lostValue, unreadableValue } from '../../store/refusals.js';
import type { Delta } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** An empty record that takes any name, `__proto__` too. */
export function emptyValues(): Record<string, Json> {
  return Object.create(null) as Record<string, Json>;
}

/** Values under their names; of equal names the last one counts. */
export function valuesOf(entries: Iterable<readonly [name: string, value: Json]>): Record<string, Json> {
  const values = emptyValues();
  for (const [name, value] of entries) {
    values[name] = value;
  }
  return values;
}

/** The value that a text says. Throws `corrupt`. `whose` is a title, for messages. */
export function parseValue(name: string, text: string, whose: string): Json {
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (cause) {
    throw unreadableValue(name, whose, cause);
  }
  const number = lostNumber(text);
  if (number !== undefined) {
    throw lostValue(name, whose, number);
  }
  return value;
}

/** True if a delta changes nothing. */
export function isEmpty(delta: Delta | undefined): boolean {
  return delta === undefined || ((delta.unset?.length ?? 0) === 0 && Object.keys(delta.set ?? {}).length === 0);
}

/** The names that a delta deletes or sets, deletions first. */
export function namesIn({ set = {}, unset = [] }: Delta): string[] {
  return [...unset, ...Object.keys(set)];
}
