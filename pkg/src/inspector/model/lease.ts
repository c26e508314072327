// The lease of a session: who has the right to run it.

import type { Session } from '../../index.js';
import { nameOf } from './session-name.js';
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

/** The interval of questions, in ms. */
const CHECKS = 5000;

/** Tells the lease of a session whenever it is another one, until the function that it answers is called. */
export function followLease(
  source: InspectorSource,
  sessionNow: () => Session | undefined,
  tell: (lease: HeldLease | undefined) => void,
): () => void {
  let told: { readonly name: string; readonly lease: HeldLease | undefined } | undefined;
  const ask = async (): Promise<void> => {
    const session = sessionNow();
    if (session === undefined) {
      return;
    }
    // A lease that cannot be read is not known: the reads that matter tell the problem.
    const lease = await leaseIn(source, session).catch(() => undefined);
    const now = sessionNow();
    const name = nameOf(session);
    const isSame = told?.name === name && told.lease?.until === lease?.until && told.lease?.holder === lease?.holder;
    if (now !== undefined && nameOf(now) === name && !isSame) {
      told = { name, lease };
      tell(lease);
    }
  };
  void ask();
  const checks = setInterval(() => void ask(), CHECKS);
  return () => clearInterval(checks);
}
