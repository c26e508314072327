// The lease of a session: who has the right to run it.

import type { Session } from '../../index.js';
import type { InspectorSource } from './source.js';

/** A lease that somebody holds. */
export interface HeldLease {
  /** The name of the holder, if it has one. */
  readonly holder?: string | undefined;
  /** The time when it ends unless it is renewed, in milliseconds since the epoch. */
  readonly until: number;
}

/** A source that tells leases. */
interface LeaseSource {
  leaseOf(session: Pick<Session, 'appName' | 'userId' | 'id'>): Promise<HeldLease | undefined>;
}

/** The lease of a session; `undefined` when nobody holds it, or when the source does not tell. */
export async function leaseIn(source: InspectorSource, session: Session): Promise<HeldLease | undefined> {
  const { leaseOf } = source as Partial<LeaseSource>;
  return typeof leaseOf === 'function' ? await leaseOf.call(source, session) : undefined;
}
