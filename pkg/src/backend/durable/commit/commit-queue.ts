// Sends changes to a store: the waiting ones in one call, and each until its outcome is known.

import { outcomeUnknown, pauseAfter, Patience, refusal, runAttempt, unavailable, type RetryOptions } from './retry.js';
import { isStoreError, StoreError } from '../../../store/store-error.js';
import type { Change, Committed, SessionStore } from '../../../store/contract.js';
import type { Signal } from '../../../async/abort.js';

/** A change in the queue. */
interface QueuedChange {
  readonly change: Change;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
  attempts: number;
  readonly patience: Patience;
  /** True when one of its attempts may have been written. */
  mayBeWritten: boolean;
}

/** The most changes of a batch. */
const MAX_BATCH = 256;
/** The size up to which a batch takes all waiting changes; more are divided among the calls that may start. */
const SHARED_BATCH = 16;
/** The longest wait of a change for another call in progress, in milliseconds. */
const BATCH_TIMEOUT_MS = 20;

/**
 * The changes of one service. The service sends at most one of each session at a time.
 *
 * The store sets the number of calls in progress, usually one, so that the changes that arrive meanwhile share the
 * next; but no change waits longer than {@link BATCH_TIMEOUT_MS} for a call that is not its own.
 */
export class CommitQueue {
  readonly #store: SessionStore;
  readonly #retry: RetryOptions;
  readonly #mostCalls: number;
  #waiting: QueuedChange[] = [];
  #calls = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDue = false;

  constructor(store: SessionStore, retry: RetryOptions) {
    this.#store = store;
    this.#retry = retry;
    this.#mostCalls = store.parallelCommits ?? 1;
  }

  /**
   * Makes a change durable. Throws a `StoreError` `conflict`, `exists`, `fenced`, `limit` or `not-found`, or a
   * `StatepadError`: `STORE_UNAVAILABLE`, `STORE_CORRUPT`, `INVALID_ARGUMENT` and `LIMIT_EXCEEDED` when it is not
   * written, `COMMIT_UNKNOWN` when it may be.
   */
  commit(change: Change): Promise<Committed> {
    return new Promise((resolve, reject) => {
      this.#enqueue({
        change,
        resolve,
        reject,
        attempts: 0,
        patience: new Patience(this.#retry),
        mayBeWritten: false,
      });
    });
  }

  #enqueue(queued: QueuedChange): void {
    if (this.#store.commitMany === undefined) {
      void this.#send([queued]);
      return;
    }
    this.#waiting.push(queued);
    if (this.#calls >= this.#mostCalls) {
      this.#timer ??= setTimeout(() => this.#flush(), BATCH_TIMEOUT_MS);
    } else if (!this.#isDue) {
      // Changes of one turn of the event loop go together. (In Node a promise is cheaper than a microtask.)
      this.#isDue = true;
      void Promise.resolve().then(this.#flushDue);
    }
  }

  readonly #flushDue = (): void => {
    this.#isDue = false;
    this.#flush();
  };

  #flush(): void {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    while (this.#waiting.length > 0) {
      const share = Math.ceil(this.#waiting.length / Math.max(1, this.#mostCalls - this.#calls));
      const batch = this.#waiting.splice(0, Math.min(MAX_BATCH, Math.max(SHARED_BATCH, share)));
      void this.#send(batch);
    }
  }

  async #send(batch: readonly QueuedChange[]): Promise<void> {
    this.#calls += 1;
    batch.forEach((queued) => (queued.attempts += 1));
    try {
      const [first] = batch;
      const patience = first !== undefined && batch.length === 1 ? first.patience : new Patience(this.#retry);
      const outcomes = await runAttempt((context) => this.#call(batch, context), patience);
      batch.forEach((queued, index) => this.#settle(queued, outcomes[index]));
    } catch (error) {
      this.#settleAll(batch, error);
    }
    this.#calls -= 1;
    if (this.#calls < this.#mostCalls) {
      this.#flush();
    }
  }

  async #call(
    batch: readonly QueuedChange[],
    context: { readonly signal: Signal },
  ): Promise<readonly (Committed | StoreError)[]> {
    const [first, second] = batch;
    if (this.#store.commitMany === undefined || (first !== undefined && second === undefined)) {
      return [await this.#store.commit(changeOf(first as QueuedChange), context)];
    }
    const outcomes = await this.#store.commitMany(batch.map(changeOf), context);
    if (outcomes.length !== batch.length) {
      throw new TypeError(`the store answered ${outcomes.length} of ${batch.length} changes`);
    }
    return outcomes;
  }

  #settle(queued: QueuedChange, outcome: unknown): void {
    if (isStoreError(outcome)) {
      this.#settleRefusal(queued, outcome);
    } else if (typeof (outcome as Committed | undefined)?.rev === 'number') {
      queued.resolve(outcome as Committed);
    } else {
      this.#retryUnknown(queued, new TypeError('the store did not report the outcome of the change'));
    }
  }

  /**
   * An error that a call throws holds for all its changes; a refusal may be due to one of them, so each is sent alone
   * then.
   */
  #settleAll(batch: readonly QueuedChange[], error: unknown): void {
    for (const queued of batch) {
      if (!isStoreError(error)) {
        this.#retryUnknown(queued, error);
      } else if (batch.length > 1 && error.code !== 'unavailable') {
        void this.#send([queued]);
      } else {
        this.#settleRefusal(queued, error);
      }
    }
  }

  /** This attempt has written nothing; the outcome of an earlier one may be unknown. */
  #settleRefusal(queued: QueuedChange, error: StoreError): void {
    switch (error.code) {
      case 'unavailable':
        this.#retryLater(queued, error);
        break;
      case 'conflict':
      case 'exists':
      case 'fenced':
      case 'limit':
        queued.reject(error);
        break;
      case 'not-found':
        // An event is deleted with its session; the writes of an earlier attempt to the app and the user stay.
        queued.reject(mayHaveWritten(queued) ? outcomeUnknown(queued.change.id, error) : error);
        break;
      default:
        queued.reject(queued.mayBeWritten ? outcomeUnknown(queued.change.id, error) : refusal(error));
    }
  }

  /** The outcome of this attempt is unknown. */
  #retryUnknown(queued: QueuedChange, error: unknown): void {
    queued.mayBeWritten = true;
    this.#retryLater(queued, error);
  }

  #retryLater(queued: QueuedChange, error: unknown): void {
    if (queued.attempts >= this.#retry.attempts || queued.patience.isOver) {
      queued.reject(queued.mayBeWritten ? outcomeUnknown(queued.change.id, error) : unavailable(error));
      return;
    }
    void pauseAfter(queued.attempts, this.#retry).then(() => this.#enqueue(queued));
  }
}

/**
 * The change for the store: from the second attempt on it has the number, as an earlier one may still arrive. That of
 * a request has one from the beginning, as the request may have been sent before.
 */
function changeOf({ change, attempts }: QueuedChange): Change {
  return attempts > 1 ? { ...change, attempt: (change.attempt ?? 1) + attempts - 1 } : change;
}

/** True when writes of an earlier attempt may remain, even without the session. */
function mayHaveWritten({ change: { delta, operators }, mayBeWritten }: QueuedChange): boolean {
  return mayBeWritten && [delta, operators].some((parts) => parts?.app !== undefined || parts?.user !== undefined);
}
