// A store in use: opened before it is first asked, asked again when it does not answer, closed in the end.

import { StatepadError, isStatepadError } from '../../../model/errors.js';
import { ask, Patience, runAttempt, type RetryOptions } from './retry.js';
import { orAborted } from '../../../async/abort.js';
import type { Hint, Migrate, SessionStore, StoreContext, Turn } from '../../../store/contract.js';
import type { Signal } from '../../../async/abort.js';

/** How long hints gather before they are looked at, in milliseconds. */
const HINT_PAUSE_MS = 5;
/** How long a turn of the store is waited for at most, in milliseconds. */
const MAX_RESERVATION_WAIT_MS = 5_000;

/** The store of one service. */
export class Connection {
  readonly store: SessionStore;
  readonly #retry: RetryOptions;
  readonly #migrate: Migrate;
  /** Called with all hints of {@link HINT_PAUSE_MS} together. */
  readonly #onHints: (hints: readonly Hint[]) => void;
  #hints = new Map<string, Hint>();
  /** The last one of them: a store that tells of each change may give the same one many times. */
  #lastHint: Hint | undefined;
  #opened: Promise<void> | undefined;
  #isOpen = false;
  /** The turns that are waited for. */
  readonly #reservations = new Set<AbortController>();
  #unwatch: (() => void) | undefined;

  constructor(store: SessionStore, retry: RetryOptions, migrate: Migrate, onHints: (hints: readonly Hint[]) => void) {
    this.store = store;
    this.#retry = retry;
    this.#migrate = migrate;
    this.#onHints = onHints;
  }

  /** Whether the store is open, and not closed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Opens the store, once. After a failure it is tried again. Throws `STORE_UNAVAILABLE`, `STORE_UNSUITABLE`,
   * `STORE_CORRUPT`, `FORBIDDEN`, `CLOSED`.
   */
  async open(): Promise<void> {
    this.#opened ??= this.#start().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    const opened = this.#opened;
    await opened;
    // It may have been closed meanwhile.
    this.#isOpen = this.#opened === opened;
  }

  /** Asks the store for something that may be asked for twice: that changes nothing, or changes what `id` names. */
  async ask<T>(
    run: (store: SessionStore, context: StoreContext) => Promise<T>,
    signal?: Signal,
    id?: string,
  ): Promise<T> {
    if (!this.#isOpen) {
      await orAborted(this.open(), signal);
    }
    return await ask(async (context) => await run(this.store, context), this.#retry, signal, id);
  }

  /**
   * Waits for a turn, see `SessionStore.reserve`. `undefined`: the store has none, or it does not come in time, or
   * the store fails. Throws the reason of `signal`, and nothing else.
   */
  async reserve(target: Hint, hold: number, signal?: Signal): Promise<Turn | undefined> {
    const times = { hold, wait: Math.min(MAX_RESERVATION_WAIT_MS, this.#retry.timeout) };
    const controller = new AbortController();
    this.#reservations.add(controller);
    let reservation: Turn | undefined;
    const run = async (): Promise<Turn | undefined> => {
      reservation = await this.store.reserve?.(target, times, { signal: controller.signal });
      if (controller.signal.aborted) {
        releaseUnused(reservation);
      }
      return reservation;
    };
    try {
      await orAborted(this.open(), signal);
      return await orAborted(orAborted(runAttempt(run, new Patience(this.#retry)), controller.signal), signal);
    } catch {
      // The turn is not wanted any more. It may have come at this very moment, or come later.
      controller.abort();
      releaseUnused(reservation);
      signal?.throwIfAborted();
      return undefined;
    } finally {
      this.#reservations.delete(controller);
    }
  }

  /**
   * Closes the store, if it was opened. Nothing can be asked of it afterwards. One that does not answer in time is
   * left to itself.
   */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#isOpen = false;
    this.#opened = Promise.reject(new StatepadError('CLOSED', 'the service is closed'));
    this.#opened.catch(() => undefined);
    this.#reservations.forEach((controller) => controller.abort());
    const isOpen =
      opened !== undefined &&
      (await opened.then(
        () => true,
        () => false,
      ));
    if (isOpen) {
      this.#unwatch?.();
      await this.#closeStore();
    }
  }

  async #closeStore(): Promise<void> {
    const closed = (async () => await this.store.close?.())();
    await runAttempt(async () => await closed, new Patience(this.#retry)).catch((error: unknown) => {
      if (this.#retry.openAttempts?.areOver !== true) {
        throw error;
      }
      closed.catch(() => undefined);
    });
  }

  async #start(): Promise<void> {
    try {
      await ask(async (context) => await this.store.open?.({ migrate: this.#migrate }, context), this.#retry);
    } catch (error) {
      const isRefused = isStatepadError(error) && error.code === 'INVALID_ARGUMENT';
      throw isRefused
        ? new StatepadError('STORE_UNSUITABLE', `the store cannot be opened: ${error.message}`, {
            cause: error.cause,
          })
        : error;
    }
    this.#unwatch = this.store.exclusive ? undefined : this.store.watch?.((hint) => this.#hinted(hint));
  }

  #hinted(hint: Hint): void {
    if (hint === this.#lastHint) {
      return;
    }
    this.#lastHint = hint;
    if (this.#hints.size === 0) {
      setTimeout(() => {
        const hints = [...this.#hints.values()];
        this.#hints = new Map();
        this.#lastHint = undefined;
        this.#onHints(hints);
      }, HINT_PAUSE_MS);
    }
    this.#hints.set(JSON.stringify([hint.appName, hint.userId, hint.sessionId]), hint);
  }
}

/**
 * Gives a turn back that was not used, without waiting for it. When that fails, others wait until the turn has ended.
 */
export function releaseUnused(reservation: Turn | undefined): void {
  void (async () => await reservation?.release())().catch(() => undefined);
}
