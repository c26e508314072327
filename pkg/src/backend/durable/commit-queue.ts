// Sends changes to a store: those that wait together go together, and each until it is known what became of it.

import { pauseAfter, refusal, tryOnce, unavailable, unknown, type Policy } from './retry.js';
import { isStoreError, StoreError } from '../../store/store-error.js';
import type { Change, Committed, SessionStore } from '../../store/contract.js';
import type { Signal } from '../../async/abort.js';

/** A change on its way. */
interface Sent {
  readonly change: Change;
  readonly resolve: (committed: Committed) => void;
  readonly reject: (error: unknown) => void;
  attempts: number;
  /** A try of it may have been written. */
  isUnknown: boolean;
}

/** How many changes go together at most. */
const MOST = 256;
/** How long those that wait for others to come back wait at most, in milliseconds. */
const PATIENCE = 20;

/**
 * The changes of one service. At most one of each session may be on its way; the service sees to that.
 *
 * One call is under way at a time, so that those who come meanwhile go together in the next; but nobody waits long for
 * a call that is not their own.
 */
export class Commits {
  readonly #store: SessionStore;
  readonly #policy: Policy;
  #waiting: Sent[] = [];
  #calls = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isDue = false;

  constructor(store: SessionStore, policy: Policy) {
    this.#store = store;
    this.#policy = policy;
  }

  /**
   * Makes a change durable. Throws a `StoreError` `conflict`, `exists` or `not-found`, or a `StatepadError`:
   * `STORE_UNAVAILABLE`, `STORE_CORRUPT`, `INVALID_ARGUMENT` and `LIMIT_EXCEEDED` when it is not written,
   * `COMMIT_UNKNOWN` when it may be.
   */
  async commit(change: Change): Promise<Committed> {
    return await new Promise((resolve, reject) => {
      this.#enqueue({ change, resolve, reject, attempts: 0, isUnknown: false });
    });
  }

  #enqueue(sent: Sent): void {
    if (this.#store.commitMany === undefined) {
      void this.#send([sent]);
      return;
    }
    this.#waiting.push(sent);
    if (this.#calls > 0) {
      this.#timer ??= setTimeout(() => this.#flush(), PATIENCE);
    } else if (!this.#isDue) {
      // All that is asked for at this moment goes together.
      this.#isDue = true;
      queueMicrotask(() => {
        this.#isDue = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, MOST);
      void this.#send(batch);
    }
  }

  async #send(batch: readonly Sent[]): Promise<void> {
    this.#calls += 1;
    batch.forEach((sent) => (sent.attempts += 1));
    try {
      const outcomes = await tryOnce(async (context) => await this.#call(batch, context), this.#policy);
      batch.forEach((sent, index) => this.#settle(sent, outcomes[index]));
    } catch (error) {
      this.#failed(batch, error);
    }
    this.#calls -= 1;
    if (this.#calls === 0) {
      this.#flush();
    }
  }

  async #call(batch: readonly Sent[], context: { readonly signal: Signal }): Promise<readonly (Committed | StoreError)[]> {
    const [first, second] = batch;
    if (this.#store.commitMany === undefined || (first !== undefined && second === undefined)) {
      return [await this.#store.commit(changeOf(first as Sent), context)];
    }
    const outcomes = await this.#store.commitMany(batch.map(changeOf), context);
    if (outcomes.length !== batch.length) {
      throw new TypeError(`the store answered ${outcomes.length} of ${batch.length} changes`);
    }
    return outcomes;
  }

  #settle(sent: Sent, outcome: unknown): void {
    if (isStoreError(outcome)) {
      this.#refused(sent, outcome);
    } else if (typeof (outcome as Committed | undefined)?.rev === 'number') {
      sent.resolve(outcome as Committed);
    } else {
      this.#lost(sent, new TypeError('the store did not say what became of the change'));
    }
  }

  /** What a call throws holds for all of it; but what one change has caused is no fault of the others. */
  #failed(batch: readonly Sent[], error: unknown): void {
    for (const sent of batch) {
      if (!isStoreError(error)) {
        this.#lost(sent, error);
      } else if (batch.length > 1 && error.code !== 'unavailable') {
        void this.#send([sent]);
      } else {
        this.#refused(sent, error);
      }
    }
  }

  /** It is known that nothing was written by this try; of an earlier one it may not be. */
  #refused(sent: Sent, error: StoreError): void {
    switch (error.code) {
      case 'unavailable':
        this.#again(sent, error);
        break;
      case 'conflict':
      case 'exists':
        sent.reject(error);
        break;
      case 'not-found':
        // With its session an event is gone, but not what it has written to the app and the user.
        sent.reject(isLeft(sent) ? unknown(sent.change.id, error) : error);
        break;
      default:
        sent.reject(sent.isUnknown ? unknown(sent.change.id, error) : refusal(error));
    }
  }

  /** It is not known whether this try has written anything. */
  #lost(sent: Sent, error: unknown): void {
    sent.isUnknown = true;
    this.#again(sent, error);
  }

  #again(sent: Sent, error: unknown): void {
    if (sent.attempts >= this.#policy.attempts) {
      sent.reject(sent.isUnknown ? unknown(sent.change.id, error) : unavailable(error));
      return;
    }
    void pauseAfter(sent.attempts, this.#policy).then(() => this.#enqueue(sent));
  }
}

/** What a store gets: from the second try on it is told which one it is, as an earlier one may still be on its way. */
function changeOf({ change, attempts }: Sent): Change {
  return attempts > 1 ? { ...change, attempt: attempts } : change;
}

/** Whether something of an earlier try may be left, also when its session is not. */
function isLeft({ change: { delta }, isUnknown }: Sent): boolean {
  return isUnknown && (delta.app !== undefined || delta.user !== undefined);
}
