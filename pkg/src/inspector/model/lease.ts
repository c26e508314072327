// The lease of a session: who has the right to run it.

import { isStatepadError, type HeldLease, type Session } from '../../index.js';
import { nameOf } from './session-name.js';
import type { InspectorSource } from './source.js';

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
    const lease = await source.leaseOf?.(session).catch((error: unknown) => {
      if (isStatepadError(error) && error.code === 'INVALID_ARGUMENT') {
        // The store has no leases: it is not asked again.
        clearInterval(checks);
      }
      // A lease that cannot be read is not known: the reads that matter tell the problem.
      return undefined;
    });
    const now = sessionNow();
    const name = nameOf(session);
    const isSame = told?.name === name && told.lease?.until === lease?.until && told.lease?.holder === lease?.holder;
    if (now !== undefined && nameOf(now) === name && !isSame) {
      told = { name, lease };
      tell(lease);
    }
  };
  const checks = setInterval(() => void ask(), CHECKS);
  void ask();
  return () => clearInterval(checks);
}
