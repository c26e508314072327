// The size of JSON texts.

import { utf8Length } from './utf8.js';
import type { Json } from './types.js';

/** The number of UTF-8 bytes of a value, as `JSON.stringify` writes it. */
export function jsonSize(value: Json): number {
  return utf8Length(JSON.stringify(value));
}

/** The most bytes of a string of so many UTF-16 units in JSON, with its quotes and a comma. */
export function stringBound(length: number): number {
  return 6 * length + 3;
}

/** The most bytes of a number in JSON, of `false`, `null` and an empty object, each with a comma. */
export const NUMBER_BOUND = 26;
export const WORD_BOUND = 6;

/** The most bytes of a delta in JSON, in which its keys may stand twice: as those that it deletes, or as operators. */
export function deltaBound(delta: Readonly<Record<string, Json>>, operators: object = {}): number {
  const keys = Object.keys(delta).reduce((sum, key) => sum + stringBound(key.length), 0);
  return jsonBound(delta) + jsonBound(operators as Json) + keys;
}

/** The most bytes of a value in JSON. It is much cheaper than the exact size, and may be six times as large. */
export function jsonBound(value: Json): number {
  switch (typeof value) {
    case 'string':
      return stringBound(value.length);
    case 'number':
      return NUMBER_BOUND;
    case 'object':
      break;
    default:
      return WORD_BOUND;
  }
  let bound = WORD_BOUND;
  if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) {
      bound += jsonBound(item);
    }
  } else if (value !== null) {
    for (const name of Object.keys(value)) {
      bound += stringBound(name.length) + jsonBound((value as Readonly<Record<string, Json>>)[name] as Json);
    }
  }
  return bound;
}
