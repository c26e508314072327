// JSON values: making, freezing, comparing and copying them.

import type { Json } from './types.js';

/** Freezes a freshly parsed value, deeply. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const member of Array.isArray(value) ? (value as unknown[]) : Object.values(value)) {
      deepFreeze(member);
    }
    Object.freeze(value);
  }
  return value;
}

/** True when two JSON values are equal. The order of members does not matter. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) {
    return true;
  }
  if (
    typeof a !== 'object' ||
    typeof b !== 'object' ||
    a === null ||
    b === null ||
    Array.isArray(a) !== Array.isArray(b)
  ) {
    return false;
  }
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(
      (name) =>
        Object.hasOwn(b, name) && sameJson((a as Record<string, Json>)[name], (b as Record<string, Json>)[name]),
    )
  );
}

/** A mutable copy of a JSON value. */
export function cloneMutable(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(cloneMutable);
  }
  const copied: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    put(copied, name, cloneMutable(member));
  }
  return copied;
}

/** Sets an own member, whatever its name. */
export function put<T>(record: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    record[key] = value;
  }
}

/** True when a text has no lone surrogates, which UTF-8 cannot hold. */
export const isWellFormed: (text: string) => boolean =
  'isWellFormed' in String.prototype ? (text) => text.isWellFormed() : (text) => !/\p{Surrogate}/u.test(text);
