// The limits of a pickle: lists that share their parts can be small as bytes, and endless as values.

import { StatepadError } from '../../model/errors.js';

/**
 * The largest number of opcodes, and the largest integer in bytes: the pickle of an event has thousands, and a few.
 */
export const MAX_OPCODES = 2_000_000;
export const MAX_INTEGER_BYTES = 1_000;

/**
 * The number of values and characters that any pickle may expand to, and the number in addition for each of its bytes.
 */
const VALUES = { least: 2_000, each: 20 };
const CHARACTERS = { least: 65_536, each: 100 };

/** The remaining allowance of a pickle. */
export class Budget {
  #values: number;
  #characters: number;

  constructor(bytes: number) {
    this.#values = VALUES.least + VALUES.each * bytes;
    this.#characters = CHARACTERS.least + CHARACTERS.each * bytes;
  }

  /** Subtracts a value of so many characters. Throws `LIMIT_EXCEEDED`. */
  take(characters = 0): void {
    this.#values -= 1;
    this.#characters -= characters;
    if (this.#values < 0 || this.#characters < 0) {
      tooMuch('comes to far more values than it has bytes');
    }
  }
}

/** Refuses a pickle that exceeds a limit. */
export function tooMuch(what: string): never {
  throw new StatepadError('LIMIT_EXCEEDED', `the pickle ${what}`);
}
