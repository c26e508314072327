// Leases: one runner at a time for a session.

import type { Signal } from '../async/abort.js';
import type { Abortable, Session } from './types.js';

/** Options of `lease`. */
export interface LeaseOptions extends Abortable {
  /** The duration of the lease unless it is renewed, in milliseconds by the store's clock; 30,000 by default. */
  readonly ttl?: number | undefined;
}

/** Options of `withLease`. */
export interface WithLeaseOptions extends LeaseOptions {
  /** The time to wait for a lease that another holder has, in milliseconds; 0 by default. */
  readonly wait?: number | undefined;
}

/** A lease that somebody has, as others see it. */
export interface HeldLease {
  /** The fencing token. */
  readonly token: number;
  /** The id of the holder: another one for each lease. */
  readonly holder: string;
  /** The time when it ends unless it is renewed, in milliseconds since the epoch, by the store's clock. */
  readonly until: number;
}

/**
 * The right to run a session. Every write through its `session`, deleting it included, carries its token until the
 * release: once another holder has taken the lease, such a write throws `LEASE_LOST` and stores nothing. The handle of
 * a lost lease writes nothing any more, by any method. Writes through other handles need no lease.
 */
export interface Lease {
  /**
   * The handle: the caller's, if it is one of this service, or else a new one. It shows the session as it was when the
   * lease was taken, or later.
   */
  readonly session: Session;
  /** The fencing token: greater than that of every earlier lease of the session. */
  readonly token: number;
  /** The time when it ends unless it is renewed, in milliseconds since the epoch, by the store's clock. */
  readonly until: number;
  /**
   * Aborted once the lease is known to be lost, with the error as its reason: another holder has taken it, or has
   * deleted the session.
   */
  readonly signal: Signal;
  /** Extends it by this many milliseconds from now; by its `ttl` by default. Throws `LEASE_LOST`. */
  renew(ttl?: number): Promise<void>;
  /**
   * Releases the lease, after the writes that were called under it. Does nothing when the lease is lost: writes
   * through its handle are still refused. If it throws, the handle still has its lease: call it again.
   */
  release(): Promise<void>;
  /** As `release`, but never throws: a lease that cannot be released expires. */
  [Symbol.asyncDispose](): Promise<void>;
}
