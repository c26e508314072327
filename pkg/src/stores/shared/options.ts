// Checks of what the makers of stores are given, before anything is done with it: a wrong argument is not a failing
// database. The `options.ts` of each store puts them together.

import { invalid } from '../../checks/arguments.js';
import { StatepadError } from '../../model/errors.js';

/** Throws `INVALID_ARGUMENT` when a text that names something is none, or empty. */
export function checkText(path: string, value: unknown, example: string): void {
  if (typeof value !== 'string' || value === '') {
    invalid(path, `must be a text: ${example}`);
  }
}

/** Throws `INVALID_ARGUMENT` when a member of options is there and is none of these values. */
export function checkChoice(path: string, value: unknown, choices: readonly unknown[]): void {
  if (value !== undefined && !choices.includes(value)) {
    invalid(
      path,
      `must be ${choices.map((choice) => (typeof choice === 'string' ? `'${choice}'` : String(choice))).join(' or ')}`,
    );
  }
}

/** Throws `INVALID_ARGUMENT` unless `value` has these methods. `needs` says what the store needs. */
export function checkClient(value: unknown, methods: readonly string[], needs: string): void {
  const missing = isObject(value) ? methods.find((name) => typeof value[name] !== 'function') : '';
  if (missing !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', `${needs}, not ${described(value, missing)}`);
  }
}

/** Throws `INVALID_ARGUMENT` unless a store's options are an object. */
export function checkOptionsObject(value: unknown): void {
  if (!isObject(value) || typeof value === 'function') {
    invalid('options', `must be an object, not ${described(value, '')}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function described(value: unknown, missing: string): string {
  if (value === null || value === undefined) {
    return String(value);
  }
  if (typeof value === 'function') {
    return 'a function: call it, or make an instance of it with new';
  }
  if (typeof value !== 'object') {
    return `a ${typeof value}`;
  }
  return isObject(value) && typeof value['then'] === 'function'
    ? 'a promise: await it first'
    : `an object without ${missing}`;
}
