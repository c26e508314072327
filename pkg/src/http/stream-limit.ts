// The limit on a client's simultaneous streams.

import type { Rights } from './principal.js';
import { StatepadError } from '../model/errors.js';

/** Counts the streams of this process. */
export class StreamLimit {
  readonly #most: number;
  readonly #open = new Map<string, number>();

  /** `most` is the number of streams that each client may have at a time. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Counts one more of a principal. Returns a function to call at its end. Throws `TOO_MANY_REQUESTS`. */
  enter({ id: client }: Rights): () => void {
    const open = this.#open.get(client) ?? 0;
    if (open >= this.#most) {
      throw new StatepadError('TOO_MANY_REQUESTS', `the client already has ${open} streams, which is its limit`);
    }
    this.#open.set(client, open + 1);
    return () => this.#leave(client);
  }

  #leave(client: string): void {
    const open = this.#open.get(client) ?? 0;
    if (open > 1) {
      this.#open.set(client, open - 1);
    } else {
      this.#open.delete(client);
    }
  }
}
