// The time limits and the attempts of calls to a store, and the caller's errors for those of the store.

import { defined } from '../../../model/defined.js';
import { operatorRefusal } from './operators.js';
import { StatepadError } from '../../../model/errors.js';
import { orAborted } from '../../../async/abort.js';
import { sleep } from '../../../async/sleep.js';
import { isStoreError, StoreError } from '../../../store/store-error.js';
import type { StoreContext } from '../../../store/contract.js';
import type { Signal } from '../../../async/abort.js';

/** The patience of a service with a store that does not answer, or fails. */
export interface RetryOptions {
  /**
   * The time limit of one attempt, in milliseconds; with `isTotal` of all attempts together, from the last answer on.
   */
  readonly timeout: number;
  /** See `SessionStore.asksAgain`. */
  readonly isTotal?: boolean;
  /** The most attempts. */
  readonly attempts: number;
  /** The pause after the first attempt, in milliseconds: doubled after each further one, 5 seconds at most. */
  readonly pause: number;
  /** The attempts in progress. */
  readonly openAttempts?: OpenAttempts | undefined;
}

const MAX_PAUSE_MS = 5000;

/**
 * Waits after a failed attempt: a random part of the pause, so that simultaneous failures are not repeated together.
 */
export async function pauseAfter(attempt: number, { pause }: RetryOptions): Promise<void> {
  await sleep(Math.min(MAX_PAUSE_MS, pause * 2 ** (attempt - 1)) * (0.5 + Math.random() / 2));
}

/** The remaining silence of a store: `timeout` for each attempt, or since its last answer for all of them. */
export class Patience {
  readonly #retry: Pick<RetryOptions, 'timeout' | 'isTotal' | 'openAttempts'>;
  #since: number | undefined;

  constructor(retry: Pick<RetryOptions, 'timeout' | 'isTotal' | 'openAttempts'>) {
    this.#retry = retry;
    this.answered();
  }

  get timeout(): number {
    return this.#retry.timeout;
  }

  /** The attempts of the same service. */
  get openAttempts(): OpenAttempts | undefined {
    return this.#retry.openAttempts;
  }

  /** The silence allowed for the next attempt, in milliseconds. */
  get remaining(): number {
    return this.#since === undefined ? this.timeout : this.timeout - (performance.now() - this.#since);
  }

  /** True when there is no time for another attempt, or the store is not called any more. */
  get isOver(): boolean {
    return this.remaining <= 0 || this.openAttempts?.areOver === true;
  }

  /** Notes an answer of the store. */
  answered(): void {
    this.#since = this.#retry.isTotal === true ? performance.now() : undefined;
  }

  /** Notes that an attempt has used up its time. */
  end(): void {
    this.#since = this.#retry.isTotal === true ? -Infinity : undefined;
  }
}

/** Runs one attempt. A late answer is ignored. Throws `unavailable` when the store is not called any more. */
export function runAttempt<T>(run: (context: StoreContext) => Promise<T>, patience: Patience): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (patience.openAttempts?.areOver) {
      reject(new StoreError('unavailable', CLOSED_MESSAGE));
      return;
    }
    const context = new AttemptContext(patience, reject);
    run(context).then(
      (answer) => {
        context.end();
        resolve(answer);
      },
      (error: unknown) => {
        context.end();
        const reason = error as Error;
        reject(reason);
      },
    );
  });
}

const CLOSED_MESSAGE = 'the service was closed while the store did not answer';

/**
 * The attempts of one service in progress. During `close` a store that does not answer in time is not waited for any
 * longer: all attempts end with the first one that times out, and no other one begins.
 */
export class OpenAttempts {
  /** The functions that end them. */
  readonly #open = new Set<(reason: Error) => void>();
  #isClosing = false;
  #areOver = false;

  /** True when the store is not called any more. */
  get areOver(): boolean {
    return this.#areOver;
  }

  add(expire: (reason: Error) => void): void {
    this.#open.add(expire);
  }

  delete(expire: (reason: Error) => void): void {
    this.#open.delete(expire);
  }

  /** Notes that the service is being closed. */
  close(): void {
    this.#isClosing = true;
  }

  /** Notes that an attempt has timed out. */
  timedOut(): void {
    if (this.#isClosing) {
      this.#areOver = true;
      const open = [...this.#open];
      this.#open.clear();
      open.forEach((expire) => expire(new Error(CLOSED_MESSAGE)));
    }
  }
}

/** The context of an attempt. Its signal is created when a store reads it: most do not. */
class AttemptContext implements StoreContext {
  readonly #patience: Patience;
  readonly #reject: (reason: unknown) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #controller: AbortController | undefined;
  #reason: unknown;

  constructor(patience: Patience, reject: (reason: unknown) => void) {
    this.#patience = patience;
    this.#reject = reject;
    this.#timer = setTimeout(this.#stop, Math.max(0, patience.remaining));
    patience.openAttempts?.add(this.#expire);
  }

  /** Restarts the time limit, unless it is over. */
  readonly answered = (): void => {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#patience.answered();
      this.#timer = setTimeout(this.#stop, this.#patience.timeout);
    }
  };

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#patience.openAttempts?.delete(this.#expire);
  }

  readonly #stop = (): void => {
    const { timeout, openAttempts } = this.#patience;
    this.#expire(new DOMException(`the store did not answer within ${timeout} ms`, 'TimeoutError'));
    openAttempts?.timedOut();
  };

  readonly #expire = (reason: Error): void => {
    this.end();
    this.#patience.end();
    this.abort(reason);
    // A store that stops at once may know that nothing was written, and report it.
    setTimeout(this.#reject, 0, reason);
  };

  get signal(): Signal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) {
        this.#controller.abort(this.#reason);
      }
    }
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#reason = reason;
    this.#controller?.abort(reason);
  }
}

/**
 * Makes a call that may be repeated: it changes nothing, or only the data that `id` names. Throws `STORE_UNAVAILABLE`
 * when it certainly had no effect, `STORE_CORRUPT`, and the reason of `signal`; `COMMIT_UNKNOWN` when one of the
 * attempts may have changed something.
 */
export async function ask<T>(
  run: (context: StoreContext) => Promise<T>,
  retry: RetryOptions,
  signal?: Signal,
  id?: string,
): Promise<T> {
  const patience = new Patience(retry);
  let isUnknown = false;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await orAborted(runAttempt(run, patience), signal);
    } catch (error) {
      signal?.throwIfAborted();
      isUnknown ||= id !== undefined && !isStoreError(error);
      const isFinal = isStoreError(error) && error.code !== 'unavailable';
      if (isFinal || attempt >= retry.attempts || patience.isOver) {
        throw isUnknown ? outcomeUnknown(id ?? '', error) : isFinal ? refusal(error) : unavailable(error);
      }
    }
    await orAborted(pauseAfter(attempt, retry), signal);
  }
}

/** The error for a store that fails now. */
export function unavailable(cause: unknown): StatepadError {
  return new StatepadError('STORE_UNAVAILABLE', `the store is not available: ${messageOf(cause)}`, { cause });
}

/** The error for a permanent refusal of a store, or for unreadable data. */
export function refusal(error: StoreError): StatepadError {
  const { code, message, size, limit, exceeded, until } = error;
  switch (code) {
    case 'held':
      return new StatepadError('LEASE_HELD', message, defined({ until, cause: error }));
    case 'fenced':
      return new StatepadError('LEASE_LOST', message, { cause: error });
    case 'not-found':
      return new StatepadError('SESSION_NOT_FOUND', message, { cause: error });
    case 'forbidden':
      return new StatepadError('FORBIDDEN', message, { cause: error });
  }
  if (code === 'corrupt') {
    return new StatepadError('STORE_CORRUPT', message, { cause: error });
  }
  const ofOperator = operatorRefusal(error);
  if (ofOperator !== undefined) {
    return ofOperator;
  }
  const sizes = defined({ size, limit, exceeded, cause: error });
  return new StatepadError(
    size === undefined ? 'INVALID_ARGUMENT' : 'LIMIT_EXCEEDED',
    `the store refuses: ${message}`,
    sizes,
  );
}

/** The error for a change that may be stored, or not. */
export function outcomeUnknown(id: string, cause: unknown): StatepadError {
  return new StatepadError('COMMIT_UNKNOWN', `it is unknown whether "${id}" was stored: ${messageOf(cause)}`, {
    id,
    cause,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
