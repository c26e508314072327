// The ends of sessions in answers. Cases know no clock: they compare an end with that of the answer before.

import type { EndsAt, Ending } from './case.js';

/** The tolerance of a comparison, in milliseconds: a store's clock may be finer than its answers. */
const TOLERANCE_MS = 5;

/** The ends in the answers of one run. */
export class Ends {
  /** The last end that was answered, and the time by the runner's clock before it was asked for. */
  #end = NaN;
  #time = performance.now();
  #asked = performance.now();

  /** To be called before a call whose answer may have an end. */
  ask(): void {
    this.#asked = performance.now();
  }

  /** The expected answer with a number for its end: the actual one, if that is as expected. */
  expected<Answer extends Ending>(actual: unknown, answer: Answer): Answer {
    const end = (actual as Ending | null | undefined)?.expires;
    const { expires } = answer;
    const isMet = typeof end === 'number' && expires !== undefined && this.#isMet(end, expires);
    if (typeof end === 'number') {
      // An end that is the same was set when the one before it was.
      this.#time = end === this.#end ? this.#time : this.#asked;
      this.#end = end;
    }
    return isMet ? { ...answer, expires: end } : answer;
  }

  #isMet(end: number, expected: EndsAt): boolean {
    if (typeof expected === 'number') {
      return end === expected;
    }
    if (expected === 'some') {
      return Number.isFinite(end);
    }
    if (expected === 'same') {
      return Math.abs(end - this.#end) <= 1;
    }
    const passed = performance.now() - this.#time;
    const difference = end - this.#end - expected.after;
    return difference >= -TOLERANCE_MS && difference <= passed + TOLERANCE_MS;
  }
}
