// The progress of long work, on standard error: on a terminal a line that is written anew, elsewhere
// one now and then.

import process from 'node:process';

/** The least time between two states, in milliseconds. */
const PACE_MS = 100;
/** The same where each is a line of its own. */
const LINE_PACE_MS = 10_000;
/** The time before which nothing is said: most work is done by then. */
const QUIET_MS = 500;

/** Says how far something is. */
export class Progress {
  readonly #describe: (count: number) => string;
  readonly #isQuiet: boolean;
  readonly #start = performance.now();
  #last = 0;
  #isDirty = false;

  /** `describe` makes the text of a count: `1,000 sessions`. */
  constructor(describe: (count: number) => string, { isQuiet = false }: { readonly isQuiet?: boolean } = {}) {
    this.#describe = describe;
    this.#isQuiet = isQuiet;
  }

  /** Shows a count, if it is time to. */
  update(count: number): void {
    const now = performance.now();
    const isTerminal = process.stderr.isTTY;
    const [quiet, pace] = isTerminal ? [QUIET_MS, PACE_MS] : [LINE_PACE_MS, LINE_PACE_MS];
    if (this.#isQuiet || now - this.#start <= quiet || now - this.#last <= pace) {
      return;
    }
    this.#last = now;
    const text = this.#describe(count);
    this.#isDirty = isTerminal;
    process.stderr.write(isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
  }

  /** Removes the line. */
  clear(): void {
    if (this.#isDirty) {
      this.#isDirty = false;
      process.stderr.write('\r\x1b[K');
    }
  }
}
