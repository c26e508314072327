// The limit on a client's simultaneous streams.

import type { Rights } from './principal.js';
import { checkFunction, checkOptions, invalid } from '../checks/arguments.js';
import { StatepadError } from '../model/errors.js';

/** The limit on a client's simultaneous streams, in one process. */
export interface StreamLimitOptions {
  /** The number of streams. */
  readonly streams: number;
  /** Returns the client of a request; by default it is the `id` of the principal. */
  readonly client?: ((request: Request) => string) | undefined;
}

/** Counts streams. */
export class StreamLimit {
  readonly #most: number;
  readonly #client: ((request: Request) => string) | undefined;
  readonly #open = new Map<string, number>();

  /** Without options there is no limit. */
  constructor(options?: StreamLimitOptions) {
    checkOptions(options, ['streams', 'client'], 'limit');
    const { streams = Infinity, client }: Partial<StreamLimitOptions> = options ?? {};
    if (options !== undefined && !(Number.isSafeInteger(streams) && streams >= 1)) {
      invalid('limit.streams', 'must be a whole number from 1');
    }
    if (client !== undefined) {
      checkFunction(client, 'limit.client');
    }
    this.#most = streams;
    this.#client = client;
  }

  /** Counts one more. Answers a function to call at its end. Throws `TOO_MANY_REQUESTS`. */
  enter(request: Request, { id }: Rights): () => void {
    if (this.#most === Infinity) {
      return () => undefined;
    }
    const client = this.#client === undefined ? id : this.#client(request);
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
