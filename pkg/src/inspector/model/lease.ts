// The lease of a session: who has the right to run it.

import type { HeldLease, Session } from '../../index.js';
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
    // A lease that cannot be read is not known: the reads that matter tell the problem.
    const lease = await source.leaseOf?.(session).catch(() => undefined);
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
