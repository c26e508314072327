// Leases: one runner at a time for a session.

import type { Signal } from '../async/abort.js';
import type { Abortable, Session } from './types.js';

/** Options of `lease`. */
export interface LeaseOptions extends Abortable {
  /** How long it lasts unless it is renewed, in milliseconds by the store's clock; 30,000 unless told otherwise. */
  readonly ttl?: number | undefined;
}

/** Options of `withLease`. */
export interface WithLeaseOptions extends LeaseOptions {
  /** How long to wait for a lease that another holder has, in milliseconds; 0 unless told otherwise. */
  readonly wait?: number | undefined;
}

/**
 * The right to run a session. Every write through its `session`, deleting it included, carries its token until it is
 * released: once another holder has taken the lease, such a write throws `LEASE_LOST`, and nothing of it is stored.
 * The handle of a lease that was lost writes nothing any more, whatever is called. Writes through other handles need
 * no lease.
 */
export interface Lease {
  /**
   * The handle: the one that was given, if it is one of this service, else a new one. It shows the session as it was
   * when the lease was taken, or later.
   */
  readonly session: Session;
  /** The fencing token: greater than that of every earlier lease of the session. */
  readonly token: number;
  /** When it ends unless it is renewed, in milliseconds since the epoch, by the store's clock. */
  readonly until: number;
  /**
   * Aborted once the lease is known to be lost, with the error as its reason: another has taken it, or has deleted the
   * session.
   */
  readonly signal: Signal;
  /** Makes it last so many milliseconds from now on; its `ttl` unless told otherwise. Throws `LEASE_LOST`. */
  renew(ttl?: number): Promise<void>;
  /**
   * Gives it back, after the writes that were asked for under it. Nothing happens when it was lost: writes through
   * its handle go on being refused then. When it throws, the handle has its lease still: call it again.
   */
  release(): Promise<void>;
  /** As `release`, but never throws: a lease that cannot be given back ends by its time. */
  [Symbol.asyncDispose](): Promise<void>;
}
