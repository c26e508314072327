// A store in use: opened before it is first asked, asked again when it does not answer, closed in the end.

import { StatepadError, isStatepadError } from './errors.js';
import { ask, orAborted, type Policy } from './policy.js';
import type { Hint, Migrate, SessionStore, StoreContext } from './store.js';
import type { Signal } from './signal.js';

/** How long hints gather before they are looked at, in milliseconds. */
const HINT_PAUSE = 5;

/** The store of one service. */
export class Connection {
  readonly store: SessionStore;
  readonly #policy: Policy;
  readonly #migrate: Migrate;
  /** Is told what others have written, in one go with what else they write at the time. */
  readonly #onHints: (hints: readonly Hint[]) => void;
  #hints = new Map<string, Hint>();
  #opened: Promise<void> | undefined;
  #unwatch: (() => void) | undefined;

  constructor(store: SessionStore, policy: Policy, migrate: Migrate, onHints: (hints: readonly Hint[]) => void) {
    this.store = store;
    this.#policy = policy;
    this.#migrate = migrate;
    this.#onHints = onHints;
  }

  /** Opens the store, once. After a failure it is tried again. Throws `STORE_UNAVAILABLE`, `STORE_CORRUPT`, `CLOSED`. */
  async open(): Promise<void> {
    this.#opened ??= this.#start().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    await this.#opened;
  }

  /** Asks the store for something that may be asked for twice: that changes nothing, or changes what `id` names. */
  async ask<T>(run: (store: SessionStore, context: StoreContext) => Promise<T>, signal?: Signal, id?: string): Promise<T> {
    await orAborted(this.open(), signal);
    return await ask(async (context) => await run(this.store, context), this.#policy, signal, id);
  }

  /** Closes the store, if it was opened. Nothing can be asked of it afterwards. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = Promise.reject(new StatepadError('CLOSED', 'the service is closed'));
    this.#opened.catch(() => undefined);
    const isOpen = opened !== undefined && (await opened.then(() => true, () => false));
    if (isOpen) {
      this.#unwatch?.();
      await this.store.close?.();
    }
  }

  async #start(): Promise<void> {
    try {
      await ask(async (context) => await this.store.open?.({ migrate: this.#migrate }, context), this.#policy);
    } catch (error) {
      const isRefused = isStatepadError(error) && error.code === 'INVALID_ARGUMENT';
      throw isRefused ? new StatepadError('STORE_UNAVAILABLE', `the store cannot be opened: ${error.message}`, { cause: error.cause }) : error;
    }
    this.#unwatch = this.store.exclusive ? undefined : this.store.watch?.((hint) => this.#hinted(hint));
  }

  #hinted(hint: Hint): void {
    if (this.#hints.size === 0) {
      setTimeout(() => {
        const hints = [...this.#hints.values()];
        this.#hints = new Map();
        this.#onHints(hints);
      }, HINT_PAUSE);
    }
    this.#hints.set(JSON.stringify([hint.appName, hint.userId, hint.sessionId]), hint);
  }
}
