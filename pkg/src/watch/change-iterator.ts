// The iterator that `SessionService.watch` returns. It reads on demand, and holds no more than one page.

import type { ChangeSource } from './change-source.js';
import type { WatchedChange, WholeSessionChange } from '../model/watch.js';
import type { Signal } from '../async/abort.js';

const DONE: IteratorReturnResult<undefined> = Object.freeze({ done: true, value: undefined });

/** The changes of a source, one after the other. It ends with `end`, when `signal` is aborted, and with an error. */
export class ChangeIterator<Change extends WatchedChange | WholeSessionChange> {
  readonly #source: ChangeSource<Change>;
  readonly #buffer: number;
  readonly #signal: Signal | undefined;
  /** The changes that were read and not delivered yet. */
  #page: readonly Change[] = [];
  #index = 0;
  #isEnded = false;
  /** The last call of `next`. */
  #last: Promise<unknown> = Promise.resolve();
  /** The reason of the abort, until it is thrown. */
  #aborted: { readonly reason: unknown } | undefined;
  /** Ends the current wait. */
  #interrupt: (() => void) | undefined;

  constructor(source: ChangeSource<Change>, buffer: number, signal: Signal | undefined) {
    this.#source = source;
    this.#buffer = buffer;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort);
    if (signal?.aborted) {
      this.#abort();
    }
  }

  /** The next change. Calls are answered in their order. */
  async next(): Promise<IteratorResult<Change, undefined>> {
    const answer = this.#last.then(async () => await this.#next());
    this.#last = answer.catch(() => undefined);
    return await answer;
  }

  /** Ends it: calls in progress are answered with the end. */
  end(): void {
    if (!this.#isEnded) {
      this.#isEnded = true;
      this.#page = [];
      this.#signal?.removeEventListener('abort', this.#abort);
      this.#source.close();
      this.#interrupt?.();
    }
  }

  readonly #abort = (): void => {
    this.#aborted = { reason: this.#signal?.reason };
    this.end();
  };

  async #next(): Promise<IteratorResult<Change, undefined>> {
    while (!this.#isEnded && !this.#source.isClosed) {
      const change = this.#page[this.#index];
      if (change !== undefined) {
        this.#index += 1;
        if (change.type === 'deleted') {
          this.end();
        }
        return { done: false, value: change };
      }
      await this.#read();
    }
    this.end();
    const aborted = this.#aborted;
    this.#aborted = undefined;
    if (aborted !== undefined) {
      throw aborted.reason;
    }
    return DONE;
  }

  /** Reads the next page; when there is none yet, waits until there may be one. */
  async #read(): Promise<void> {
    try {
      this.#index = 0;
      this.#page = (await this.#unlessEnded(this.#source.read(this.#buffer))) ?? [];
      if (this.#page.length === 0 && !this.#isEnded) {
        await this.#unlessEnded(this.#source.wait());
      }
    } catch (error) {
      const isOver = this.#isEnded || this.#source.isClosed;
      this.end();
      if (!isOver) {
        throw error;
      }
    }
  }

  /** Waits for a promise, but no longer than until it is ended. */
  async #unlessEnded<T>(promise: Promise<T>): Promise<T | undefined> {
    try {
      return await new Promise<T | undefined>((resolve, reject) => {
        this.#interrupt = () => resolve(undefined);
        promise.then(resolve, reject);
      });
    } finally {
      this.#interrupt = undefined;
    }
  }
}
