// What the makers of stores are given, looked at before anything is done with it.

import { checkFunction, checkObject, invalid } from '../../arguments.js';

/** Throws `INVALID_ARGUMENT` when a text that names something is none, or empty. */
export function checkText(path: string, value: unknown, example: string): void {
  if (typeof value !== 'string' || value === '') {
    invalid(path, `must be a text: ${example}`);
  }
}

/** Throws `INVALID_ARGUMENT` when a member of options is there and is none of these values. */
export function checkChoice(path: string, value: unknown, choices: readonly unknown[]): void {
  if (value !== undefined && !choices.includes(value)) {
    invalid(path, `must be ${choices.map((each) => JSON.stringify(each)).join(' or ')}`);
  }
}

/** Throws `INVALID_ARGUMENT` when something is no object, or lacks one of these functions. */
export function checkFunctions(path: string, value: unknown, names: readonly string[]): void {
  checkObject(value, path);
  names.forEach((name) => checkFunction((value as Record<string, unknown>)[name], `${path}.${name}`));
}
