// A session that one reader in this tab watches, through any tab.

import { errorOf, type Failure } from './messages.js';
import type { SessionKey } from '../../../model/types.js';
import type { WholePlace, WholeSessionChange, WholeWatchOptions } from '../../../model/watch.js';

/** The changes of a session, until the reader takes them. */
export class TabWatch {
  readonly key: SessionKey;
  readonly options: WholeWatchOptions;
  /** The name of the request to the leader; each request has a new one. */
  name: string | undefined;
  /** The place of the reader after all changes. */
  place: WholePlace | undefined;
  /** True after the first change: the session could be read at least once. */
  hasBegun = false;
  readonly #waiting: WholeSessionChange[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake: () => void = () => undefined;

  constructor(key: SessionKey, options: WholeWatchOptions) {
    this.key = key;
    this.options = options;
    this.place = options.since;
  }

  /** Adds a change. */
  push(change: WholeSessionChange): void {
    this.#waiting.push(change);
    this.hasBegun = true;
    if (change.type === 'deleted') {
      this.#end ??= {};
    } else {
      this.place = change.place;
    }
    this.#wake();
  }

  /** Ends it: the reader takes the remaining changes, and then the error, if there is one. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#end ??= end;
    this.#wake();
  }

  /** Ends it because the leader's own watch has ended. Returns true to ask again later. */
  fail(failure: Failure | undefined): boolean {
    if (failure !== undefined && this.hasBegun && failure.code === 'SESSION_NOT_FOUND') {
      this.push({ type: 'deleted' });
    } else if (failure !== undefined && this.hasBegun && failure.code === 'STORE_UNAVAILABLE') {
      return true;
    } else {
      this.end(failure && { error: errorOf(failure) });
    }
    return false;
  }

  /** Resolves to the next change. */
  async next(): Promise<IteratorResult<WholeSessionChange, undefined>> {
    for (;;) {
      const change = this.#waiting.shift();
      if (change !== undefined) {
        return { done: false, value: change };
      }
      if (this.#end !== undefined) {
        const { error } = this.#end;
        // Thrown once.
        this.#end = {};
        if (error !== undefined) {
          // The reason of a signal may be anything.
          // eslint-disable-next-line @typescript-eslint/only-throw-error
          throw error;
        }
        return { done: true, value: undefined };
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
