// Messages as ordinary JSON: the wire code reads maps as instances of Map.

import { put } from '../../model/json.js';

/** A value of a message with objects in the places of maps. */
export function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(plainOf);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  const plain: Record<string, unknown> = {};
  for (const [name, member] of value instanceof Map ? (value as Map<string, unknown>) : Object.entries(value)) {
    put(plain, name, plainOf(member));
  }
  return plain;
}
