// One reader of a source, with its queue of changes.

import type { AnyChange } from '../../http/watch-wire.js';
import type { Signal } from '../../async/abort.js';

/** The longest queue of a reader: later changes are delivered again when it has room. */
export const MOST_WAITING = 1000;

/** The source of a reader's changes. */
export interface Feed {
  /** The reader has begun. */
  start(reader: Reader): void;
  /** The reader is done. */
  stop(reader: Reader): void;
  /** The reader, which was full, has room again. */
  drained(reader: Reader): void;
}

type Result = IteratorResult<AnyChange, undefined>;

const DONE: Result = Object.freeze({ done: true, value: undefined });

/** The changes of a target, in order. It begins at the first call of `next`. */
export class Reader implements AsyncIterableIterator<AnyChange, undefined> {
  readonly #feed: Feed;
  readonly #signal: Signal | undefined;
  #waiting: AnyChange[] = [];
  #calls: { readonly resolve: (result: Result) => void; readonly reject: (error: Error) => void }[] = [];
  /** The end, once it is known: with an error, or without. */
  #end: { readonly error?: unknown } | undefined;
  #hasBegun = false;
  #isFull = false;

  constructor(feed: Feed, signal: Signal | undefined) {
    this.#feed = feed;
    this.#signal = signal;
  }

  /** True when the queue is full: another change would be lost. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** True when no change can reach it any more. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Queues a change. Returns true if there was room. */
  push(change: AnyChange): boolean {
    const isLast = change.type === 'deleted';
    if (this.isOver || (this.#isFull && !isLast)) {
      return false;
    }
    const waiting = this.#calls.shift();
    if (waiting !== undefined) {
      waiting.resolve({ done: false, value: change });
    } else {
      this.#waiting.push(change);
      this.#isFull = this.#waiting.length >= MOST_WAITING;
    }
    if (isLast) {
      this.finish();
    }
    return true;
  }

  /** Drops the queued changes: a later one replaces all of them. */
  clear(): void {
    this.#waiting = [];
    this.#isFull = false;
  }

  /** Ends it after the queued changes; then with the error, if there is one. */
  finish(end: { readonly error?: unknown } = {}): void {
    if (!this.isOver) {
      this.#end = end;
      this.#signal?.removeEventListener('abort', this.#abort);
      if (this.#hasBegun) {
        this.#feed.stop(this);
      }
      this.#answerWithEnd();
    }
  }

  async next(): Promise<Result> {
    if (!this.#hasBegun && !this.isOver) {
      this.#hasBegun = true;
      this.#signal?.addEventListener('abort', this.#abort);
      if (this.#signal?.aborted) {
        this.#abort();
      } else {
        this.#feed.start(this);
      }
    }
    const change = this.#waiting.shift();
    if (change !== undefined) {
      if (this.#isFull && this.#waiting.length === 0 && !this.isOver) {
        this.#isFull = false;
        this.#feed.drained(this);
      }
      return { done: false, value: change };
    }
    const answer = new Promise<Result>((resolve, reject) => this.#calls.push({ resolve, reject }));
    if (this.isOver) {
      this.#answerWithEnd();
    }
    return await answer;
  }

  async return(): Promise<Result> {
    this.#waiting = [];
    this.finish();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  readonly #abort = (): void => {
    this.#waiting = [];
    this.finish({ error: this.#signal?.reason });
  };

  /** The first call gets the error, all later ones the end. */
  #answerWithEnd(): void {
    const waiting = this.#calls;
    this.#calls = [];
    for (const { resolve, reject } of waiting) {
      const end = this.#end;
      this.#end = {};
      if (end !== undefined && 'error' in end) {
        reject(end.error as Error);
      } else {
        resolve(DONE);
      }
    }
  }
}
