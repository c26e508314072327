// How much there may be in a pickle: lists that share their parts can be small as bytes, and endless as values.

import { StatepadError } from '../../model/errors.js';

/** How many opcodes a pickle may have, and how many bytes an integer: that of an event has thousands, and a few. */
export const MAX_OPCODES = 2_000_000;
export const MAX_INTEGER_BYTES = 1_000;

/** So many values and characters any pickle may come to, and so many more for each of its bytes. */
const VALUES = { least: 2_000, each: 20 };
const CHARACTERS = { least: 65_536, each: 100 };

/** What a pickle may still come to. */
export class Budget {
  #values: number;
  #characters: number;

  constructor(bytes: number) {
    this.#values = VALUES.least + VALUES.each * bytes;
    this.#characters = CHARACTERS.least + CHARACTERS.each * bytes;
  }

  /** Takes a value of so many characters. Throws `LIMIT_EXCEEDED`. */
  take(characters = 0): void {
    this.#values -= 1;
    this.#characters -= characters;
    if (this.#values < 0 || this.#characters < 0) {
      tooMuch('comes to far more values than it has bytes');
    }
  }
}

/** Refuses a pickle that has too much of something. */
export function tooMuch(what: string): never {
  throw new StatepadError('LIMIT_EXCEEDED', `the pickle ${what}`);
}
