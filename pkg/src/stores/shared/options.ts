// What the makers of stores are given, looked at before anything is done with it.

import { invalid } from '../../checks/arguments.js';

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
