// The progress of long work, on standard error: on a terminal a line that is written anew, elsewhere nothing.

import process from 'node:process';

/** The least time between two states, in milliseconds. */
const PACE_MS = 100;
/** The time before which nothing is said: most work is done by then. */
const QUIET_MS = 500;

/** Says how far something is. */
export class Progress {
  readonly #describe: (count: number) => string;
  readonly #isShown: boolean;
  readonly #start = performance.now();
  #last = 0;
  #isDirty = false;

  /** `describe` makes the text of a count: `1,000 sessions`. */
  constructor(describe: (count: number) => string, { isQuiet = false }: { readonly isQuiet?: boolean } = {}) {
    this.#describe = describe;
    this.#isShown = process.stderr.isTTY && !isQuiet;
  }

  /** Shows a count, if it is time to. */
  update(count: number): void {
    const now = performance.now();
    if (this.#isShown && now - this.#start > QUIET_MS && now - this.#last > PACE_MS) {
      this.#last = now;
      this.#isDirty = true;
      process.stderr.write(`\r\x1b[K${this.#describe(count)}`);
    }
  }

  /** Removes the line. */
  clear(): void {
    if (this.#isDirty) {
      this.#isDirty = false;
      process.stderr.write('\r\x1b[K');
    }
  }
}
