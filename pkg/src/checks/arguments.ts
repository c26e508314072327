// Checks of arguments, once, at the public entry points. The code behind them relies on these checks.

import { StatepadError } from '../model/errors.js';
import { isWellFormed } from '../model/json.js';
import { describe, isObject } from '../model/value-types.js';
import { accept, areAccepted, likelyName, type Names } from './names.js';

/** Checks that an argument is an object. */
export function checkObject(input: unknown, path: string): void {
  if (input === undefined) {
    invalid(path, 'is missing');
  }
  if (!isObject(input)) {
    invalid(path, `must be an object, not ${describe(input)}`);
  }
}

/**
 * Refuses member names that are near misses of known ones: `stateDetla` would be stored as a member, and write
 * nothing. `elsewhere` says where a name belongs that is known in another object.
 */
export function checkNames(
  names: readonly string[],
  kind: Names,
  elsewhere?: (name: string) => string | undefined,
): void {
  if (areAccepted(names, kind)) {
    return;
  }
  for (const name of names) {
    if (!kind.foreign.has(name)) {
      const near = likelyName(name, kind.known);
      const likely = near === undefined ? elsewhere?.(name) : kind.path + near;
      if (likely !== undefined) {
        unknown(kind.path + name, kind.what, likely);
      }
    }
  }
  accept(names, kind);
}

/**
 * Checks options, if present: all of them must be known. Their `signal` is checked, too. `path` names them in errors.
 */
export function checkOptions(input: unknown, known: readonly string[], path = 'options'): void {
  if (input === undefined) {
    return;
  }
  checkObject(input, path);
  for (const name of Object.keys(input as object)) {
    if (!known.includes(name)) {
      const prefix = path === 'options' ? '' : `${path}.`;
      const likely = likelyName(name, known);
      unknown(prefix + name, `the options, which are ${known.join(', ')}`, likely && prefix + likely);
    }
  }
  checkSignal((input as { readonly signal?: unknown }).signal);
}

/** Throws `INVALID_ARGUMENT` for a member of an unknown name, with the likely one, if any. */
export function unknown(path: string, what: string, likely: string | undefined): never {
  const hint = likely === undefined ? '' : `: did you mean ${likely}?`;
  throw new StatepadError('INVALID_ARGUMENT', `${path} is not known in ${what}${hint}`, { path });
}

/** Checks a signal, if present. Only members that every host's `AbortSignal` has are read. */
export function checkSignal(input: unknown): void {
  if (input === undefined) {
    return;
  }
  const { aborted, throwIfAborted, addEventListener } = (isObject(input) ? input : {}) as Partial<
    Record<string, unknown>
  >;
  if (typeof aborted !== 'boolean' || typeof throwIfAborted !== 'function' || typeof addEventListener !== 'function') {
    invalid('signal', `must be an AbortSignal, not ${describe(input)}`);
  }
}

/** Checks a callback. */
export function checkFunction(input: unknown, path: string): void {
  if (typeof input !== 'function') {
    invalid(path, input === undefined ? 'is missing' : `must be a function, not ${describe(input)}`);
  }
}

/** Checks that an object has the required methods, and the type of its optional ones. `path` names it in errors. */
export function checkMethods(
  input: unknown,
  path: string,
  methods: readonly string[],
  optional: readonly string[] = [],
): void {
  checkObject(input, path);
  const members = input as Readonly<Record<string, unknown>>;
  methods.forEach((name) => checkFunction(members[name], `${path}.${name}`));
  optional
    .filter((name) => members[name] !== undefined)
    .forEach((name) => checkFunction(members[name], `${path}.${name}`));
}

/** Checks a count: a whole number, not negative. */
export function checkCount(count: number | undefined, path: string): void {
  if (count !== undefined && !(Number.isSafeInteger(count) && count >= 0)) {
    invalid(path, `must be a whole number that is not negative, not ${describe(count)}`);
  }
}

/** Checks a name or an id: a string that every host can hold. */
export function admitString(value: unknown, path: string): string {
  if (typeof value === 'string' && isWellFormed(value)) {
    return value;
  }
  const not = typeof value === 'string' ? 'without lone surrogates' : `and not ${describe(value)}`;
  const what = value === undefined ? 'is missing' : `must be a string ${not}`;
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}

/** Checks a name that may be absent. */
export function checkOptionalString(input: unknown, path: string): void {
  if (input !== undefined) {
    admitString(input, path);
  }
}

/** Throws `INVALID_ARGUMENT` for the argument at a path. */
export function invalid(path: string, what: string): never {
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}
