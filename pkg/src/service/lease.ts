// Leases of sessions: requests for them, in memory and over a store. Loaded at the first call.

import { defined } from '../model/defined.js';
import { leaseLost } from '../lease/lease-hold.js';
import { checkLeaseOptions } from '../lease/options.js';
import { takeLease as takeLeaseOf, withLease as withLeaseOf } from '../lease/take-lease.js';
import { throwNotFound, notFound } from '../session/append.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { decideLease, type LeaseAnswer, type LeaseRequest, type LeaseRow } from '../store/lease.js';
import { isStoreError } from '../store/store-error.js';
import type { LeasedHandle } from '../lease/taken-lease.js';
import type { ServiceComponents } from './current-log.js';
import type { View } from '../session/handle.js';
import type { SessionRecord } from '../session/record.js';
import type { HeldLease, Lease, WithLeaseOptions } from '../model/lease.js';
import type { Session, SessionName } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** See `SessionService.lease`. */
export async function takeLease(
  components: ServiceComponents,
  session: SessionName,
  options: WithLeaseOptions,
): Promise<Lease> {
  const plan = checkLeaseOptions(options);
  return await takeLeaseOf(await leasedHandle(components, session, plan.signal), plan);
}

/** See `SessionService.withLease`. */
export async function withLease<T>(
  components: ServiceComponents,
  session: SessionName,
  options: WithLeaseOptions,
  fn: (lease: Lease) => T | PromiseLike<T>,
): Promise<T> {
  const plan = checkLeaseOptions(options);
  return await withLeaseOf(await leasedHandle(components, session, plan.signal), plan, fn);
}

const NO_EVENTS = { numRecentEvents: 0 };

/** See `SessionService.leaseOf`. */
export async function leaseOf(
  components: ServiceComponents,
  session: SessionName,
  signal: Signal | undefined,
): Promise<HeldLease | undefined> {
  const { sessions, now } = components;
  const view = sessions.view(await handleOf(components, session, signal)) as View;
  const { deleted, key } = view.record;
  const row = sessions.readLease === undefined ? rows.get(view.record) : await sessions.readLease(view, signal);
  // The caller's handle may be one of a session that has expired, or was deleted.
  if (deleted || (row === null && (await sessions.get(key, NO_EVENTS, signal)) === undefined)) {
    throwNotFound(key);
  }
  const time = sessions.readLease === undefined ? now() : Date.now();
  const { fence: token = 0, holder, until = 0 } = row ?? {};
  return holder === undefined || until <= time ? undefined : Object.freeze({ token, holder, until });
}

/** The caller's handle, or a new one, and the leases of its session. */
async function leasedHandle(
  components: ServiceComponents,
  name: SessionName,
  signal: Signal | undefined,
): Promise<LeasedHandle> {
  const { sessions } = components;
  const session = await handleOf(components, name, signal);
  const view = sessions.view(session) as View;
  return {
    session,
    view,
    request: async (request, ending, onDone) => await requestLease(components, view, request, ending, onDone),
    refresh: async (ending) => await sessions.refresh(view, ending),
    isAtToken: sessions.lease === undefined ? (token) => isAtToken(view.record, token) : undefined,
  };
}

/** The caller's handle, or a new one of the session. */
async function handleOf(
  { sessions }: ServiceComponents,
  session: SessionName,
  signal: Signal | undefined,
): Promise<Session> {
  if (sessions.view(session) !== undefined) {
    return session as Session;
  }
  const { appName, userId, id: sessionId } = session;
  const key = { appName, userId, sessionId };
  return (await sessions.get(key, undefined, signal)) ?? throwNotFound(key);
}

/** True while a session in memory is at a token. */
export function isAtToken(record: SessionRecord, token: number): boolean {
  return rows.get(record)?.fence === token;
}

/** The leases of sessions in memory. */
const rows = new WeakMap<SessionRecord, LeaseRow>();
const NO_LEASE: LeaseRow = { fence: 0 };

/**
 * Requests, renews or releases a lease. Calls `onDone` before any later request begins. Throws `LEASE_HELD`,
 * `LEASE_LOST`, `SESSION_NOT_FOUND`.
 */
export async function requestLease(
  { sessions, now }: ServiceComponents,
  view: View,
  request: LeaseRequest,
  signal?: Signal,
  onDone?: () => void,
): Promise<LeaseAnswer> {
  try {
    if (sessions.lease !== undefined) {
      return await sessions.lease(view, request, signal, onDone);
    }
    const answer = leaseInMemory(view.record, request, now);
    onDone?.();
    return answer;
  } catch (error) {
    throw refusalOf(error, view.record.key.sessionId);
  }
}

/** The caller's error for a refused lease. */
function refusalOf(error: unknown, id: string): unknown {
  const code = isStatepadError(error) || isStoreError(error) ? error.code : undefined;
  switch (code) {
    case 'held':
    case 'LEASE_HELD': {
      const { until } = error as { until?: number };
      const message = `the lease of session "${id}" is held by another holder${until === undefined ? '' : `, until ${new Date(until).toISOString()}`}`;
      return new StatepadError('LEASE_HELD', message, defined({ id, until, cause: error }));
    }
    case 'fenced':
    case 'LEASE_LOST':
      return leaseLost(id, error);
    case 'SESSION_NOT_FOUND':
      return notFound(id);
    default:
      return error;
  }
}

function leaseInMemory(record: SessionRecord, request: LeaseRequest, now: () => number): LeaseAnswer {
  const time = now();
  if (record.deleted || (record.expires ?? Infinity) <= time) {
    throw notFound(record.key.sessionId);
  }
  const row = decideLease(rows.get(record) ?? NO_LEASE, request, time);
  rows.set(record, row);
  return { fence: row.fence, until: row.until ?? 0 };
}
