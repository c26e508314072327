// Writing to a store: the changes of a session one after the other, each sent until its outcome is known.

import { CommitQueue } from '../commit/commit-queue.js';
import { guardOf } from '../commit/guards.js';
import { Lanes, lanesOf } from './lanes.js';
import { outcomeUnknown, type RetryOptions } from '../commit/retry.js';
import { orAborted, type Signal } from '../../../async/abort.js';
import { Queues } from '../../../async/queues.js';
import { isStoreError } from '../../../store/store-error.js';
import type { Connection } from '../commit/connection.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { SentChange } from '../cache/positions.js';
import type { Change, Committed, Guard } from '../../../store/contract.js';
import type { SessionKey } from '../../../model/types.js';

/** Announces that a change is about to be sent. Throws when its caller has given up. */
export type Begin = (id: string) => void;

/** For a caller who cannot give up. */
const BEGIN: Begin = () => undefined;

/** Sends the changes of one service. */
export class ChangeWriter {
  readonly #connection: Connection;
  readonly #cache: SessionCache;
  readonly #commits: CommitQueue;
  /** For writes that rest on the values of an app or a user that they have read. */
  readonly lanes = new Lanes();
  #ended = 0;
  /** The changes of each session, one after the other. */
  readonly #queues = new Queues();

  constructor(connection: Connection, cache: SessionCache, retry: RetryOptions) {
    this.#connection = connection;
    this.#cache = cache;
    this.#commits = new CommitQueue(connection.store, retry);
  }

  /** The guard of a change for the store. Throws `INVALID_ARGUMENT` for one that it cannot compare. */
  guardOf(guard: Guard): { readonly guard?: Guard } {
    return guardOf(this.#connection.store, guard);
  }

  /**
   * Runs a task after all earlier ones of its session, or of its name. Until it has begun to write, `signal` ends it;
   * after that it continues, and the caller learns that the outcome is unknown.
   */
  async runExclusive<T>(
    target: SessionKey | string,
    signal: Signal | undefined,
    task: (begin: Begin) => Promise<T>,
  ): Promise<T> {
    const name = typeof target === 'string' ? target : nameOf(target);
    if (signal === undefined) {
      return await this.#queues.run(name, () => this.#whenOpen(task, BEGIN));
    }
    let begun: string | undefined;
    const begin: Begin = (id) => {
      signal.throwIfAborted();
      begun = id;
    };
    const run = async (): Promise<T> => {
      signal.throwIfAborted();
      return await this.#whenOpen(task, begin);
    };
    return await orAborted(this.#queues.run(name, run), signal, () => begun && outcomeUnknown(begun, signal.reason));
  }

  /** Runs a task once the store is open. */
  async #whenOpen<T>(task: (begin: Begin) => Promise<T>, begin: Begin): Promise<T> {
    if (!this.#connection.isOpen) {
      await this.#connection.open();
    }
    return await task(begin);
  }

  /** The number of changes that have ended, written or not. */
  get ended(): number {
    return this.#ended;
  }

  /**
   * Makes a change durable; discards it on failure. A change without the lanes of the shared scopes that it writes
   * waits for their holders.
   */
  async commit({ change, prepared }: SentChange, begin: Begin, hasLanes = false): Promise<Committed> {
    try {
      if (!hasLanes && !this.lanes.areFree) {
        const { appName, userId } = change.key;
        await this.lanes.pass(lanesOf({ appName, userId }, (scope) => prepared.scopes[scope]));
      }
      begin(change.id);
      return await this.#commits.commit(change);
    } catch (error) {
      this.#cache.registry.engine.discard(prepared);
      if (!isStoreError(error)) {
        // It may be written: the positions of its scopes are unknown.
        const { appName, userId } = change.key;
        this.#cache.invalidatePositions({ appName, userId });
      }
      throw error;
    } finally {
      this.#ended += 1;
    }
  }

  /** Makes a change durable that the cache has no part of. Throws as {@link CommitQueue.commit}. */
  async send(change: Change): Promise<Committed> {
    return await this.#commits.commit(change);
  }

  /** Resolves when all requested tasks are done. */
  async idle(): Promise<void> {
    await this.#queues.idle();
  }
}

function nameOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}
