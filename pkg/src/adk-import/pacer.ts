// Lets the event loop go on while much is read at once: rows of SQLite come without a pause.

import { sleep } from '../async/sleep.js';
import type { Signal } from '../async/abort.js';

/** For how long nothing else may run, in milliseconds. */
const MOST_MS = 20;

/** Gives timers and signals their turn now and then. */
export class Breath {
  readonly #signal: Signal | undefined;
  #last = performance.now();

  constructor(signal: Signal | undefined) {
    this.#signal = signal;
  }

  /** True when it is time to let others run. */
  get isDue(): boolean {
    return performance.now() - this.#last >= MOST_MS;
  }

  /** Lets others run, if it is time. Throws the reason of the signal. */
  async take(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.isDue) {
      await sleep(0, this.#signal);
      this.#last = performance.now();
    }
  }
}
