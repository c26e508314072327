// Keeps the event loop responsive during long reads: rows of SQLite come without a pause.

import { sleep } from '../async/sleep.js';
import type { Signal } from '../async/abort.js';

/** The longest time without a pause, in milliseconds. */
const MOST_MS = 20;

/** Pauses now and then, for timers and signals. */
export class Pacer {
  readonly #signal: Signal | undefined;
  #last = performance.now();

  constructor(signal: Signal | undefined) {
    this.#signal = signal;
  }

  /** True when a pause is due. */
  get isDue(): boolean {
    return performance.now() - this.#last >= MOST_MS;
  }

  /** Pauses if it is due. Throws the reason of the signal. */
  async pause(): Promise<void> {
    this.#signal?.throwIfAborted();
    if (this.isDue) {
      await sleep(0, this.#signal);
      this.#last = performance.now();
    }
  }
}
