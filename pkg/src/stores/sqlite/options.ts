// What the stores over SQLite are made of, looked at when they are made: a wrong argument is not a failing database.

import { StatepadError } from '../../model/errors.js';

/** Throws `INVALID_ARGUMENT` unless `value` has these methods. `needs` says what the store needs. */
export function checkClient(value: unknown, methods: readonly string[], needs: string): void {
  const missing = isObject(value) ? methods.find((name) => typeof value[name] !== 'function') : '';
  if (missing !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', `${needs}, not ${described(value, missing)}`);
  }
}

/** Throws `INVALID_ARGUMENT` unless an option is one of those that there are, or absent. */
export function checkOption(path: string, value: unknown, choices: readonly unknown[]): void {
  if (value !== undefined && !choices.includes(value)) {
    const expected = choices.map((choice) => (typeof choice === 'string' ? `'${choice}'` : String(choice))).join(' or ');
    throw new StatepadError('INVALID_ARGUMENT', `${path} must be ${expected}`, { path });
  }
}

/** Throws `INVALID_ARGUMENT` unless a store's options are an object. */
export function checkOptions(value: unknown): void {
  if (!isObject(value) || typeof value === 'function') {
    throw new StatepadError('INVALID_ARGUMENT', `options must be an object, not ${described(value, '')}`, { path: 'options' });
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
  return isObject(value) && typeof value['then'] === 'function' ? 'a promise: await it first' : `an object without ${missing}`;
}
