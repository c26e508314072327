// One reader of a source: what it was told and has not asked for yet.

import type { AnyChange } from './wire.js';
import type { Signal } from '../async/abort.js';

/** How many changes wait for a reader at most: what comes then is told again when it has room. */
export const MOST_WAITING = 1000;

/** What tells a reader its changes. */
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

/** The changes of a target, one after the other. It begins when it is first asked. */
export class Reader implements AsyncIterableIterator<AnyChange, undefined> {
  readonly #feed: Feed;
  readonly #signal: Signal | undefined;
  #waiting: AnyChange[] = [];
  #asked: { readonly resolve: (result: Result) => void; readonly reject: (error: Error) => void }[] = [];
  /** How it ends, once that is known: with an error, or without. */
  #end: { readonly error?: unknown } | undefined;
  #hasBegun = false;
  #isFull = false;

  constructor(feed: Feed, signal: Signal | undefined) {
    this.#feed = feed;
    this.#signal = signal;
  }

  /** True when it was told as much as it can hold: what comes next is lost on it. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** True when nothing reaches it any more. */
  get isOver(): boolean {
    return this.#end !== undefined;
  }

  /** Tells it a change. Answers whether it has taken it. */
  push(change: AnyChange): boolean {
    const isLast = change.type === 'deleted';
    if (this.isOver || (this.#isFull && !isLast)) {
      return false;
    }
    const asked = this.#asked.shift();
    if (asked !== undefined) {
      asked.resolve({ done: false, value: change });
    } else {
      this.#waiting.push(change);
      this.#isFull = this.#waiting.length >= MOST_WAITING;
    }
    if (isLast) {
      this.finish();
    }
    return true;
  }

  /** Forgets what waits: something that is told next stands for all of it. */
  clear(): void {
    this.#waiting = [];
    this.#isFull = false;
  }

  /** Nothing more comes, but for what waits; then the error, if there is one. */
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
    const answer = new Promise<Result>((resolve, reject) => this.#asked.push({ resolve, reject }));
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

  /** The first who asks is told the error, all others the end. */
  #answerWithEnd(): void {
    const asked = this.#asked;
    this.#asked = [];
    for (const { resolve, reject } of asked) {
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
