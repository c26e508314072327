// Objects of JSON, and selections of their members.

import { isObject } from '../model/value-types.js';

/** An object of JSON. */
export type Members = Readonly<Record<string, unknown>>;

/** The members of an object, or none. */
export function membersOf(value: unknown): Members {
  return isObject(value) ? (value as Members) : {};
}

/** Some members of an object, those that are there and not `null`. */
export function pick(from: Members, names: readonly string[]): Members {
  return Object.assign({}, ...names.map((name) => present(name, from[name]))) as Members;
}

/** A member, unless its value is `undefined` or `null`. */
export function present(name: string, value: unknown): Members {
  return value === undefined || value === null ? {} : { [name]: value };
}

/** A member, if its value is an object. */
export function record(name: string, value: unknown): Members {
  return isObject(value) ? { [name]: value } : {};
}

/** A member, if its value is an object that has any member. */
export function filled(name: string, value: unknown): Members {
  return isFilled(value) ? { [name]: value } : {};
}

/** True for an object that has any member. */
export function isFilled(value: unknown): value is object {
  return isObject(value) && Object.keys(value).length > 0;
}

/** A text, or another one in the place of one that is empty or none. */
export function textOr(value: unknown, other: string): string {
  return typeof value === 'string' && value !== '' ? value : other;
}
