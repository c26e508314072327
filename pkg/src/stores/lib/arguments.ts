// What the makers of stores are given, looked at before anything is done with it.

import { StatepadError } from '../../errors.js';

/** Throws `INVALID_ARGUMENT` when a text that names something is none, or empty. */
export function checkText(path: string, value: unknown, example: string): void {
  if (typeof value !== 'string' || value === '') {
    refuse(path, `must be a text: ${example}`);
  }
}

/** Throws `INVALID_ARGUMENT` when options are no record, or have a member that is not known: it would do nothing. */
export function checkOptions(options: unknown, known: readonly string[]): void {
  checkObject('options', options);
  for (const name of Object.keys(options as object)) {
    if (!known.includes(name)) {
      refuse(`options.${name}`, `is not known: the options are ${known.join(', ')}`);
    }
  }
}

/** Throws `INVALID_ARGUMENT` when a member of options is there and is none of these values. */
export function checkChoice(path: string, value: unknown, choices: readonly unknown[]): void {
  if (value !== undefined && !choices.includes(value)) {
    refuse(path, `must be ${choices.map((each) => JSON.stringify(each)).join(' or ')}`);
  }
}

/** Throws `INVALID_ARGUMENT` when something is no object, or lacks one of these functions. */
export function checkFunctions(path: string, value: unknown, names: readonly string[]): void {
  checkObject(path, value);
  for (const name of names) {
    if (typeof (value as Record<string, unknown>)[name] !== 'function') {
      refuse(`${path}.${name}`, 'must be a function');
    }
  }
}

function checkObject(path: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    refuse(path, 'must be an object');
  }
}

function refuse(path: string, what: string): never {
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}
