// Leases over HTTP: requests for them, and the header that proves one to the server. Requests are loaded at the first
// call.

import { getSession, refresh, sessionNotFound } from './reading.js';
import { checkLeaseOptions } from '../lease/options.js';
import { takeLease as takeLeaseOf, withLease as withLeaseOf } from '../lease/take-lease.js';
import { pathTo, PATHS } from '../http/paths.js';
import { CREATION_HEADER, LEASE_HEADER } from './through-handle.js';
import { keyOf, type Calls } from './calls.js';
import type { RemoteView } from './handle.js';
import type { Signal } from '../async/abort.js';
import type { LeasedHandle } from '../lease/taken-lease.js';
import type { HeldLease, Lease, WithLeaseOptions } from '../model/lease.js';
import type { SessionName } from '../model/types.js';

/** The server's answer to a request for a lease. */
interface Granted {
  /** The proof, for the header. */
  readonly lease: string;
  readonly token: number;
  readonly until: number;
}

/** See `SessionService.lease`. */
export async function takeLease(calls: Calls, session: SessionName, options: WithLeaseOptions): Promise<Lease> {
  const plan = checkLeaseOptions(options);
  return await takeLeaseOf(await leasedHandle(calls, session, plan.signal), plan);
}

/** See `SessionService.withLease`. */
export async function withLease<T>(
  calls: Calls,
  session: SessionName,
  options: WithLeaseOptions,
  fn: (lease: Lease) => T | PromiseLike<T>,
): Promise<T> {
  const plan = checkLeaseOptions(options);
  return await withLeaseOf(await leasedHandle(calls, session, plan.signal), plan, fn);
}

/** See `SessionService.leaseOf`. */
export async function leaseOf(
  calls: Calls,
  session: SessionName,
  signal: Signal | undefined,
): Promise<HeldLease | undefined> {
  const path = pathTo(PATHS.lease, keyOf(session));
  return (await calls.read<{ readonly lease?: HeldLease }>(path, undefined, signal)).json.lease;
}

/** The caller's handle, or a new one, and the leases of its session. */
async function leasedHandle(calls: Calls, name: SessionName, signal: Signal | undefined): Promise<LeasedHandle> {
  const key = keyOf(name);
  const own = calls.view(name) === undefined ? await getSession(calls, key, undefined, signal) : name;
  const view = calls.view(own);
  if (own === undefined || view === undefined) {
    throw sessionNotFound(key.sessionId);
  }
  return {
    session: own as LeasedHandle['session'],
    view,
    request: requestsOf(calls, view),
    refresh: async (ending) => await refresh(calls, view, ending),
  };
}

/** The requests for leases of a view's session. */
function requestsOf(calls: Calls, { key, proofs, created }: RemoteView): LeasedHandle['request'] {
  return async ({ holder, ttl, fence }, signal, onDone) => {
    const path = pathTo(fence === undefined || ttl === 0 ? PATHS.lease : PATHS.renewLease, key);
    const common = { path, repeats: 'by content', signal } as const;
    if (fence === undefined) {
      const headers = { [CREATION_HEADER]: created };
      const { json } = await calls.write<Granted>({ ...common, method: 'POST', body: { holder, ttl }, headers });
      proofs.set(json.token, json.lease);
      return { fence: json.token, until: json.until };
    }
    const headers = { [LEASE_HEADER]: proofs.get(fence) };
    if (ttl > 0) {
      const { json } = await calls.write<Granted>({ ...common, method: 'POST', body: { ttl }, headers });
      return { fence, until: json.until };
    }
    // After the writes that were called under it.
    return await calls.inTurn(key, signal, async () => {
      await calls.write({ ...common, method: 'DELETE', headers });
      onDone?.();
      return { fence, until: 0 };
    });
  };
}
