// The history of one session, as the core keeps it.

import { MAX_COUNT } from './limits.js';
import { write, writeDelta, type KeyedDelta } from './transfer.js';
import { Past } from './wasm.js';
import type { HistoryStep, Json } from '../model/types.js';

type State = Readonly<Record<string, Json>>;

/** A write of a key: the revision, and the values before and after it. */
export type KeyStep = Pick<HistoryStep, 'revision' | 'from' | 'to'>;

/** What the core has been told of the log of one session. */
export class HistoryEngine {
  readonly #past = new Past();
  #next = 0;

  /** The first revision that the core has not been told of; 0 is the creation. */
  get next(): number {
    return this.#next;
  }

  /** Tells what the next revision wrote, if anything. Answers whether that could be read. Throws `CORE_FAILED`. */
  push(written: KeyedDelta | undefined): boolean {
    if (written !== undefined) {
      const [length, deleted] = writeDelta(written);
      if (!this.#past.push(this.#next, length, deleted)) {
        return false;
      }
    }
    this.#next += 1;
    return true;
  }

  /**
   * The values at a revision; keys that are first written after `until` have the values of `stateThen`, the state
   * there.
   */
  stateAt(revision: number, until: number, stateThen: State): Record<string, Json> {
    const [length] = write(JSON.stringify(stateThen));
    return JSON.parse(this.#past.state_at(revision, until, length)) as Record<string, Json>;
  }

  /** The writes of a key up to a revision, oldest first: the last so many of them, or all. */
  steps(key: string, until: number, last = MAX_COUNT): KeyStep[] {
    return JSON.parse(this.#past.steps(key, until, Math.min(last, MAX_COUNT))) as KeyStep[];
  }

  /** Frees the core's memory, sooner than the garbage collector would. */
  free(): void {
    this.#past.free();
  }
}
