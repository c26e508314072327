// The ends of sessions in answers. Cases know no clock: they compare an end with that of the answer before.

import type { EndsAt, Ending } from './case.js';

/** The tolerance of a comparison, in milliseconds: a store's clock may be finer than its answers. */
const TOLERANCE_MS = 5;
/** The difference up to which two answers tell the same end, in milliseconds. */
const SAME_MS = 1;

/** An end, and when the call began that set it, by the runner's clock. */
interface SetEnd {
  readonly end: number;
  readonly begun: number;
}

/**
 * The ends in the answers of one run. A store takes the time for an end at some moment of the call that sets it. So
 * two ends are apart by no less than from the end of the one call to the beginning of the other, and by no more than
 * from the beginning of the one to the end of the other, however long each call takes and whatever is read between
 * them; the store's clock may be ahead or behind, as the difference is the same by every clock.
 */
export class Ends {
  /** The last end that was answered. */
  #last = NaN;
  readonly #set: SetEnd[] = [];
  readonly #begun = this.now();

  /** The time by the runner's clock. To be asked for before a call that may set an end. */
  now(): number {
    return performance.now();
  }

  /** Takes note of the answer of a call that may have set an end, and that began then. */
  wasSet(actual: unknown, begun: number): void {
    const end = endOf(actual);
    if (end !== undefined && this.#setAt(end) === undefined) {
      this.#set.push({ end, begun });
    }
  }

  /** The expected answer with a number for its end: the actual one, if that is as expected. */
  expected<Answer extends Ending>(actual: unknown, answer: Answer): Answer {
    const end = endOf(actual);
    const { expires } = answer;
    const isMet = end !== undefined && expires !== undefined && this.#isMet(end, expires);
    this.#last = end ?? this.#last;
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
      return isSame(end, this.#last);
    }
    // It was set in the call that has just been answered.
    const passed = this.now() - (this.#setAt(this.#last)?.begun ?? this.#begun);
    const difference = end - this.#last - expected.after;
    return difference >= -TOLERANCE_MS && difference <= passed + TOLERANCE_MS;
  }

  /** The first call whose answer told an end. A read or a duplicate may tell it later. */
  #setAt(end: number): SetEnd | undefined {
    return this.#set.find((each) => isSame(each.end, end));
  }
}

function isSame(end: number, other: number): boolean {
  return Math.abs(end - other) <= SAME_MS;
}

function endOf(answer: unknown): number | undefined {
  const end = (answer as Ending | null | undefined)?.expires;
  return typeof end === 'number' ? end : undefined;
}
