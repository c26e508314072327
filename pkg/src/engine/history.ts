// The history of one session: the core stores the revisions of each key, the values stay here.

import { keyOf, knownWordOf, withRoom, wordOf, wordsOf, writeWords, type KeyedDelta } from './keys.js';
import { MAX_COUNT } from './limits.js';
import { countOf } from './answer-count.js';
import { answerOf } from './transfer-buffers.js';
import { Absent, HistoryLog } from './wasm.js';
import { isStatepadError } from '../model/errors.js';
import { put } from '../model/json.js';
import type { HistoryStep, Json } from '../model/types.js';

const NONE: number = Absent.Number;

type State = Readonly<Record<string, Json>>;

/** A write of a key: the revision, and the values before and after it. */
export type KeyStep = Pick<HistoryStep, 'revision' | 'from' | 'to'>;

/** The core's copy of the log of one session. */
export class HistoryEngine {
  readonly #log = new HistoryLog();
  /** The written values, by number. */
  readonly #values: Json[] = [];
  #next = 0;

  /** The first revision that the core does not have; 0 is the creation. */
  get next(): number {
    return this.#next;
  }

  /** Adds the writes of the next revision, if it has any. Returns true if they could be read. Throws `CORE_FAILED`. */
  push(written: KeyedDelta | undefined): boolean {
    if (written !== undefined && !withRoom(() => this.#write(written))) {
      return false;
    }
    this.#next += 1;
    return true;
  }

  #write(written: KeyedDelta): boolean {
    let keys: readonly string[];
    let words: readonly number[];
    try {
      ({ keys, words } = wordsOf(written));
    } catch (error) {
      if (isStatepadError(error) && error.code !== 'CORE_FAILED') {
        return false;
      }
      throw error;
    }
    const first = this.#values.length;
    const count = writeWords([...words, ...words.map((_, index) => first + index)]) / 2;
    if (countOf(this.#log.push(this.#next, count)) === 0) {
      return false;
    }
    keys.forEach((key) => this.#values.push(written.delta[key] as Json));
    return true;
  }

  /**
   * The values at a revision; keys that are first written after `until` have the values of `stateThen`, the state
   * there.
   */
  stateAt(revision: number, until: number, stateThen: State): Record<string, Json> {
    const keys = Object.keys(stateThen);
    const first = this.#values.length;
    const count = withRoom(() => {
      const words = keys.map(wordOf);
      writeWords([...words, ...words.map((_, index) => first + index)]);
      return countOf(this.#log.state_at(revision, until, keys.length));
    });
    const answer = answerOf(count);
    const state: Record<string, Json> = {};
    for (let at = 0; at < count; at += 2) {
      const key = keyOf(answer[at] as number);
      const number = answer[at + 1] as number;
      put(state, key, (number < first ? this.#values[number] : stateThen[keys[number - first] as string]) as Json);
    }
    return state;
  }

  /** The writes of a key up to a revision, oldest first: the last `last` of them, or all. */
  steps(key: string, until: number, last = MAX_COUNT): KeyStep[] {
    const word = knownWordOf(key);
    if (word === undefined) {
      return [];
    }
    const count = countOf(this.#log.steps(word, until, Math.min(last, MAX_COUNT)));
    const answer = answerOf(count);
    return Array.from({ length: count / 3 }, (_, index) => {
      const [revision, from, to] = answer.subarray(3 * index, 3 * index + 3) as unknown as [number, number, number];
      return { revision, ...this.#member('from', from), ...this.#member('to', to) };
    });
  }

  /**
   * The delta that brings the session's own keys back from the revision `until` to an earlier one: the keys written
   * since get their old values, in the order of the earlier state, and then the keys that were missing there are
   * deleted.
   */
  restoring(revision: number, until: number): KeyedDelta & { delta: Record<string, Json> } {
    const count = withRoom(() => countOf(this.#log.restoring(revision, until)));
    const answer = answerOf(count);
    const delta: Record<string, Json> = {};
    const deleted: string[] = [];
    for (let at = 0; at < count; at += 2) {
      const key = keyOf(answer[at] as number);
      const number = answer[at + 1] as number;
      put(delta, key, number === NONE ? null : (this.#values[number] as Json));
      if (number === NONE) {
        deleted.push(key);
      }
    }
    return { delta, deleted };
  }

  /**
   * The `app:` and `user:` keys that revisions in ascending order wrote, in the order in which the session first wrote
   * them.
   */
  sharedOf(revisions: readonly number[]): string[] {
    const count = withRoom(() => countOf(this.#log.shared_of(writeWords(revisions))));
    return Array.from(answerOf(count).subarray(0, count), keyOf);
  }

  /** Frees the core's memory, sooner than the garbage collector would. */
  free(): void {
    this.#log.free();
  }

  #member(name: 'from' | 'to', number: number): Partial<Record<'from' | 'to', Json>> {
    return number === NONE ? {} : { [name]: this.#values[number] as Json };
  }
}
