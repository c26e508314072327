// Asking the source for what is not known of a moment, once the moment rests.

import { isStatepadError } from '../../index.js';
import type { Moments } from './moments.js';

/** The time that a moment rests before the source is asked, in ms: a slider passes many moments. */
const REST = 250;

/** The errors by which a source says that it does not tell the past: those of failures are others. */
const REFUSALS: ReadonlySet<string> = new Set([
  'FORBIDDEN',
  'INVALID_ARGUMENT',
  'STORE_UNSUITABLE',
  'SESSION_NOT_FOUND',
]);

/** The listeners to the outcome. */
export interface Settled {
  /** Something is known now that was not, or it is clear that it will not be. */
  onSettled(): void;
  onProblem(problem: unknown): void;
}

/** Settles the moments of one session, the last requested ones first. */
export class Settling {
  readonly #moments: Moments;
  readonly #told: Settled;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | undefined;
  #isRefused = false;

  constructor(moments: Moments, told: Settled) {
    this.#moments = moments;
    this.#told = told;
  }

  /** True while something is asked, or about to be. */
  get isUnderway(): boolean {
    return this.#timer !== undefined || this.#abort !== undefined;
  }

  /** Asks for these moments once no others have been requested for a while. */
  request(revisions: readonly number[]): void {
    this.cancel();
    const open = revisions.filter((revision) => !this.#moments.isSettled(revision));
    if (open.length > 0 && !this.#isRefused) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        void this.#settle(open);
      }, REST);
    }
  }

  /** Ends what is underway. */
  cancel(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#abort?.abort();
    this.#abort = undefined;
  }

  async #settle(revisions: readonly number[]): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    let problem: unknown;
    try {
      await Promise.all(revisions.map(async (revision) => await this.#moments.settle(revision, abort.signal)));
    } catch (error) {
      problem = error;
    }
    if (this.#abort !== abort) {
      return;
    }
    this.#abort = undefined;
    if (isStatepadError(problem) && REFUSALS.has(problem.code)) {
      this.#isRefused = true;
    } else if (problem !== undefined) {
      this.#told.onProblem(problem);
    }
    this.#told.onSettled();
  }
}
