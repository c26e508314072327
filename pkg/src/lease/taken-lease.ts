// A lease that was taken: renewing and releasing it, and what becomes of its handle when it is lost.

import { leaseLost, type LeaseHold } from './lease-hold.js';
import { checkedTtl } from './options.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import type { Signal } from '../async/abort.js';
import type { Lease } from '../model/lease.js';
import type { Session } from '../model/types.js';
import type { LeaseAnswer, LeaseRequest } from '../store/lease.js';

/** A handle, and the requests for leases of its session. */
export interface LeasedHandle {
  readonly session: Session;
  /** The side of the handle's writes. */
  readonly view: { lease: LeaseHold | undefined };
  /**
   * Requests, renews or releases a lease. Calls `onDone` before any later request begins. Throws `LEASE_HELD`,
   * `LEASE_LOST`, `SESSION_NOT_FOUND`.
   */
  request(request: LeaseRequest, signal?: Signal, onDone?: () => void): Promise<LeaseAnswer>;
  /** Brings the handle up to date. Throws `SESSION_NOT_FOUND`. */
  refresh(signal?: Signal): Promise<void>;
  /** True while the session is at a token. Only for sessions without a store, which would compare it in each write. */
  readonly isAtToken?: ((token: number) => boolean) | undefined;
}

/** A lease that was taken. */
export class TakenLease implements Lease {
  readonly session: Session;
  readonly token: number;
  readonly ttl: number;
  /** The side of the handle's writes. */
  readonly hold: LeaseHold;
  readonly #leased: LeasedHandle;
  readonly #holder: string;
  readonly #abort = new AbortController();
  #until: number;
  #loss: StatepadError | undefined;
  #releasing: Promise<void> | undefined;
  #isReleased = false;

  constructor(
    leased: LeasedHandle,
    { holder, ttl }: { readonly holder: string; readonly ttl: number },
    { fence, until }: LeaseAnswer,
  ) {
    this.#leased = leased;
    this.session = leased.session;
    this.#holder = holder;
    this.ttl = ttl;
    this.token = fence;
    this.#until = until;
    this.hold = this.#holdWith(() => fence);
  }

  get until(): number {
    return this.#until;
  }

  get signal(): Signal {
    return this.#abort.signal;
  }

  /** True when there is nothing to renew any more. */
  get isOver(): boolean {
    return this.#isReleased || this.#loss !== undefined;
  }

  /** Puts it on the handle, for all later writes. An earlier lease of the handle is lost. */
  carry(): void {
    const { view } = this.#leased;
    const before = view.lease;
    view.lease = this.hold;
    before?.markLost(leaseLost(this.#id));
  }

  async renew(ttl?: number): Promise<void> {
    const time = ttl === undefined ? this.ttl : checkedTtl(ttl);
    if (this.#loss !== undefined) {
      throw this.#loss;
    }
    if (this.#isReleased || this.#releasing !== undefined) {
      throw this.#releasedError();
    }
    const { until } = await this.#request(time);
    this.#until = until;
  }

  async release(): Promise<void> {
    if (this.isOver) {
      return;
    }
    if (this.#releasing !== undefined) {
      await this.#releasing;
      return;
    }
    try {
      await (this.#releasing = this.#release());
    } finally {
      this.#releasing = undefined;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release().catch(() => undefined);
  }

  get #id(): string {
    return this.session.id;
  }

  /**
   * Releases it. Writes through the handle meanwhile are made after the release, and carry the lease unless that has
   * succeeded: a lost lease keeps its handle from writing in any case.
   */
  async #release(): Promise<void> {
    const { view } = this.#leased;
    const after = this.#holdWith(() => (this.#isReleased ? undefined : this.token));
    const isCarried = view.lease === this.hold;
    if (isCarried) {
      view.lease = after;
    }
    try {
      await this.#request(0, () => {
        this.#isReleased = true;
      });
    } catch (error) {
      if (this.#loss === undefined) {
        throw error;
      }
    } finally {
      if (isCarried && view.lease === after) {
        view.lease = this.#isReleased ? undefined : this.hold;
      }
    }
  }

  async #request(ttl: number, onDone?: () => void): Promise<LeaseAnswer> {
    try {
      const request = { holder: this.#holder, ttl, fence: this.token };
      return await this.#leased.request(request, undefined, onDone);
    } catch (error) {
      const isLost = isStatepadError(error) && (error.code === 'LEASE_LOST' || error.code === 'SESSION_NOT_FOUND');
      throw isLost ? this.#markLost(error, ttl === 0) : error;
    }
  }

  #holdWith(token: () => number | undefined): LeaseHold {
    const lossOf = (): StatepadError | undefined => this.#loss;
    const { isAtToken } = this.#leased;
    return {
      get token() {
        return token();
      },
      get loss() {
        return lossOf();
      },
      markLost: (error) => this.#markLost(error),
      ...(isAtToken !== undefined && {
        refusal: () => {
          const own = token();
          return own === undefined || isAtToken(own) ? undefined : leaseLost(this.#id);
        },
      }),
    };
  }

  /**
   * Marks it as lost, except during the release and after it, as the token may have moved on by that. `isAnswer`: the
   * error is the answer of the release itself.
   */
  #markLost(error: StatepadError, isAnswer = false): StatepadError {
    if (this.#isReleased) {
      return error.code === 'LEASE_LOST' ? this.#releasedError() : error;
    }
    if (this.#loss === undefined && (isAnswer || this.#releasing === undefined)) {
      this.#loss = error;
      this.#abort.abort(error);
    }
    return error;
  }

  #releasedError(): StatepadError {
    return new StatepadError('LEASE_LOST', `the lease of session "${this.#id}" was released`, { id: this.#id });
  }
}
