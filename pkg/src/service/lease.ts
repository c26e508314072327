// Leases of sessions: taken, renewed and given back. Loaded at the first call that needs it.

import { leaseLost, type LeaseHold } from '../session/lease-hold.js';
import { missing, notFound } from '../session/append.js';
import { checkCount, invalid } from '../checks/arguments.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import { describe } from '../model/kinds.js';
import { orAborted, type Signal } from '../async/abort.js';
import { sleep } from '../async/sleep.js';
import { decideLease, type LeaseAnswer, type LeaseRequest, type LeaseRow } from '../store/lease.js';
import { isStoreError } from '../store/store-error.js';
import type { ServiceParts } from './current-log.js';
import type { View } from '../session/handle.js';
import type { SessionRecord } from '../session/record.js';
import type { Lease, WithLeaseOptions } from '../model/lease.js';
import type { Session, SessionName } from '../model/types.js';

const DEFAULT_TTL_MS = 30_000;
/** The longest time that a timer can wait. */
const MAX_TTL_MS = 2 ** 31 - 1;
/** How long a held lease is left alone before it is asked for again: growing, in milliseconds. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [25, 500];

/** A request for a lease, understood. */
export interface LeasePlan {
  readonly ttl: number;
  readonly wait: number;
  readonly signal: Signal | undefined;
}

/** Checks the options of a lease. */
export function checkLeaseOptions({ ttl, wait, signal }: WithLeaseOptions): LeasePlan {
  checkCount(wait, 'wait');
  return { ttl: checkedTtl(ttl), wait: wait ?? 0, signal };
}

function checkedTtl(ttl: unknown = DEFAULT_TTL_MS): number {
  if (!(typeof ttl === 'number' && Number.isSafeInteger(ttl) && ttl >= 1 && ttl <= MAX_TTL_MS)) {
    invalid('ttl', `must be a whole number of milliseconds from 1 to ${MAX_TTL_MS}, not ${describe(ttl)}`);
  }
  return ttl;
}

/**
 * Takes the lease of a session, and brings the handle up to date. When another has it, asks again until `wait` is
 * over.
 */
export async function takeLease(parts: ServiceParts, session: SessionName, plan: LeasePlan): Promise<HeldLease> {
  const { wait, signal } = plan;
  const handle = await handleOf(parts, session, signal);
  const end = performance.now() + wait;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    try {
      return await tryLease(parts, handle, plan);
    } catch (error) {
      const left = end - performance.now();
      if (!isStatepadError(error) || error.code !== 'LEASE_HELD' || left <= 0) {
        throw error;
      }
      // Those that wait drift apart.
      await orAborted(sleep(Math.min(left, pause * (0.5 + Math.random() / 2))), signal);
    }
  }
}

/** The handle that was given, or a new one of the session. */
async function handleOf(
  { sessions }: ServiceParts,
  session: SessionName,
  signal: Signal | undefined,
): Promise<Session> {
  if (sessions.view(session) !== undefined) {
    return session as Session;
  }
  const { appName, userId, id: sessionId } = session;
  const key = { appName, userId, sessionId };
  return (await sessions.get(key, undefined, signal)) ?? missing(key);
}

async function tryLease(parts: ServiceParts, session: Session, { ttl, signal }: LeasePlan): Promise<HeldLease> {
  const view = parts.sessions.view(session) as View;
  const holder = newId();
  let answer: LeaseAnswer;
  try {
    answer = await ask(parts, view, { holder, ttl }, signal);
  } catch (error) {
    if (signal?.aborted) {
      // It may have been taken meanwhile: it ends at once then.
      void ask(parts, view, { holder, ttl: 1 }).catch(() => undefined);
    }
    throw error;
  }
  const lease = new HeldLease(parts, view, session, { holder, ttl }, answer);
  try {
    await parts.sessions.refresh(view, signal);
    return lease;
  } catch (error) {
    await lease[Symbol.asyncDispose]();
    throw error;
  }
}

/** Runs a function while its lease is made to last, and gives the lease back. */
export async function runLeased<T>(lease: HeldLease, fn: (lease: Lease) => T | PromiseLike<T>): Promise<T> {
  const stop = keepAlive(lease);
  try {
    return await fn(lease);
  } finally {
    stop();
    await lease[Symbol.asyncDispose]();
  }
}

/** Renews a lease each third of its time, until the function that it answers is called or the lease is lost. */
export function keepAlive(lease: HeldLease): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const next = (): void => {
    if (!isOver && !lease.isOver) {
      timer = setTimeout(() => {
        // A store that does not answer is asked again the next time: until another takes the lease, it is not lost.
        void lease
          .renew()
          .catch(() => undefined)
          .then(next);
      }, lease.ttl / 3);
    }
  };
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Of sessions in memory: the leases that were given. */
const rows = new WeakMap<SessionRecord, LeaseRow>();
const NO_LEASE: LeaseRow = { fence: 0 };

/** Asks what keeps the session. Throws `LEASE_HELD`, `LEASE_LOST`, `SESSION_NOT_FOUND`. */
async function ask(
  { sessions, now }: ServiceParts,
  view: View,
  request: LeaseRequest,
  signal?: Signal,
): Promise<LeaseAnswer> {
  const { sessionId: id } = view.record.key;
  try {
    return sessions.lease === undefined
      ? leaseInMemory(view.record, request, now)
      : await sessions.lease(view, request, signal);
  } catch (error) {
    const code = isStatepadError(error) || isStoreError(error) ? error.code : undefined;
    switch (code) {
      case 'held':
      case 'LEASE_HELD': {
        const { until } = error as { until?: number };
        const message = `the lease of session "${id}" is held by another${until === undefined ? '' : `, until ${new Date(until).toISOString()}`}`;
        throw new StatepadError('LEASE_HELD', message, {
          id,
          ...(until === undefined ? {} : { until }),
          cause: error,
        });
      }
      case 'fenced':
      case 'LEASE_LOST':
        throw leaseLost(id, error);
      case 'SESSION_NOT_FOUND':
        throw notFound(id);
      default:
        throw error;
    }
  }
}

function leaseInMemory(record: SessionRecord, request: LeaseRequest, now: () => number): LeaseAnswer {
  if (record.deleted) {
    throw notFound(record.key.sessionId);
  }
  const row = decideLease(rows.get(record) ?? NO_LEASE, request, now());
  rows.set(record, row);
  return { fence: row.fence, until: row.until ?? 0 };
}

/** A lease that was taken. */
export class HeldLease implements Lease {
  readonly session: Session;
  readonly token: number;
  readonly ttl: number;
  /** What the writes of a handle carry. */
  readonly hold: LeaseHold;
  readonly #parts: ServiceParts;
  readonly #view: View;
  readonly #holder: string;
  readonly #abort = new AbortController();
  #until: number;
  #lost: StatepadError | undefined;
  #isReleased = false;

  constructor(
    parts: ServiceParts,
    view: View,
    session: Session,
    { holder, ttl }: { readonly holder: string; readonly ttl: number },
    { fence, until }: LeaseAnswer,
  ) {
    this.#parts = parts;
    this.#view = view;
    this.session = session;
    this.#holder = holder;
    this.ttl = ttl;
    this.token = fence;
    this.#until = until;
    const { record } = view;
    const isInMemory = parts.sessions.lease === undefined;
    this.hold = {
      token: fence,
      lose: (error) => this.#lose(error),
      ...(isInMemory && {
        refusal: () => (rows.get(record)?.fence === fence ? undefined : leaseLost(record.key.sessionId)),
      }),
    };
    view.lease = this.hold;
  }

  get until(): number {
    return this.#until;
  }

  get signal(): Signal {
    return this.#abort.signal;
  }

  /** Whether there is nothing to renew any more. */
  get isOver(): boolean {
    return this.#isReleased || this.#lost !== undefined;
  }

  async renew(ttl?: number): Promise<void> {
    const time = ttl === undefined ? this.ttl : checkedTtl(ttl);
    const { sessionId: id } = this.#view.record.key;
    if (this.#isReleased) {
      throw new StatepadError('LEASE_LOST', `the lease of session "${id}" was given back`, { id });
    }
    if (this.#lost !== undefined) {
      throw this.#lost;
    }
    const { until } = await this.#ask(time);
    this.#until = until;
  }

  async release(): Promise<void> {
    if (this.isOver) {
      return;
    }
    this.#isReleased = true;
    if (this.#view.lease === this.hold) {
      this.#view.lease = undefined;
    }
    try {
      await this.#ask(0);
    } catch (error) {
      const code = isStatepadError(error) ? error.code : undefined;
      if (code !== 'LEASE_LOST' && code !== 'SESSION_NOT_FOUND') {
        throw error;
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release().catch(() => undefined);
  }

  async #ask(ttl: number): Promise<LeaseAnswer> {
    try {
      return await ask(this.#parts, this.#view, { holder: this.#holder, ttl, fence: this.token });
    } catch (error) {
      if (isStatepadError(error) && (error.code === 'LEASE_LOST' || error.code === 'SESSION_NOT_FOUND')) {
        this.#lose(error);
      }
      throw error;
    }
  }

  #lose(error: StatepadError): void {
    if (!this.isOver) {
      this.#lost = error;
      this.#abort.abort(error);
    }
  }
}
