// A store in use: opened before the first call, called again when it does not answer, closed in the end.

import { StatepadError, isStatepadError } from '../../../model/errors.js';
import { ask, Patience, runAttempt, type RetryOptions } from './retry.js';
import { orAborted } from '../../../async/abort.js';
import type { Hint, Migrate, SessionStore, StoreContext, Reservation } from '../../../store/contract.js';
import type { Signal } from '../../../async/abort.js';

/** The time for which hints are collected, in milliseconds. */
const HINT_PAUSE_MS = 5;
/** The longest wait for a reservation, in milliseconds. */
const MAX_RESERVATION_WAIT_MS = 5_000;

/** The store of one service. */
export class Connection {
  readonly store: SessionStore;
  readonly #retry: RetryOptions;
  readonly #migrate: Migrate;
  /** Receives all hints of {@link HINT_PAUSE_MS} together. */
  readonly #onHints: (hints: readonly Hint[]) => void;
  #hints = new Map<string, Hint>();
  /** The last hint: a store that reports each change may repeat the same one many times. */
  #lastHint: Hint | undefined;
  #opened: Promise<void> | undefined;
  #isOpen = false;
  /** The requests for reservations in progress. */
  readonly #reservations = new Set<AbortController>();
  #unwatch: (() => void) | undefined;

  constructor(store: SessionStore, retry: RetryOptions, migrate: Migrate, onHints: (hints: readonly Hint[]) => void) {
    this.store = store;
    this.#retry = retry;
    this.#migrate = migrate;
    this.#onHints = onHints;
  }

  /** True while the store is open. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Opens the store, once; a failure is followed by another attempt. Throws `STORE_UNAVAILABLE`, `STORE_UNSUITABLE`,
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

  /** Makes a call that may be repeated: it changes nothing, or only the data that `id` names. */
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
   * Waits for a reservation, see `SessionStore.reserve`. `undefined`: the store has none, or it does not arrive in
   * time, or the store fails. Throws the reason of `signal`, and nothing else.
   */
  async reserve(target: Hint, hold: number, signal?: Signal): Promise<Reservation | undefined> {
    const times = { hold, wait: Math.min(MAX_RESERVATION_WAIT_MS, this.#retry.timeout) };
    const controller = new AbortController();
    this.#reservations.add(controller);
    let reservation: Reservation | undefined;
    const run = async (): Promise<Reservation | undefined> => {
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
      // The reservation is not needed any more. It may have arrived at this very moment, or arrive later.
      controller.abort();
      releaseUnused(reservation);
      signal?.throwIfAborted();
      return undefined;
    } finally {
      this.#reservations.delete(controller);
    }
  }

  /**
   * Closes the store, if it was opened. No calls are possible afterwards. A store that does not answer in time is
   * abandoned.
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

/** Releases an unused reservation, without waiting. If that fails, others wait until the reservation has ended. */
export function releaseUnused(reservation: Reservation | undefined): void {
  void (async () => await reservation?.release())().catch(() => undefined);
}
