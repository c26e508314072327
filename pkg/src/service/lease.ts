// Leases of sessions: taken, renewed and released. Loaded at the first call.

import { defined } from '../model/defined.js';
import { leaseLost, type LeaseHold } from '../session/lease-hold.js';
import { throwNotFound, notFound } from '../session/append.js';
import { checkCount, invalid } from '../checks/arguments.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import { describe } from '../model/value-types.js';
import { orAborted, type Signal } from '../async/abort.js';
import { sleep } from '../async/sleep.js';
import { decideLease, type LeaseAnswer, type LeaseRequest, type LeaseRow } from '../store/lease.js';
import { isStoreError } from '../store/store-error.js';
import type { ServiceComponents } from './current-log.js';
import type { View } from '../session/handle.js';
import type { SessionRecord } from '../session/record.js';
import type { Lease, WithLeaseOptions } from '../model/lease.js';
import type { Session, SessionName } from '../model/types.js';

const DEFAULT_TTL_MS = 30_000;
/** The longest delay of a timer. */
const MAX_TTL_MS = 2 ** 31 - 1;
/** The pauses between requests for a held lease, growing, in milliseconds. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [25, 500];

/** The checked options of a lease. */
interface LeasePlan {
  readonly ttl: number;
  readonly wait: number;
  readonly signal: Signal | undefined;
}

/** Checks the options of a lease. */
function checkLeaseOptions({ ttl, wait, signal }: WithLeaseOptions): LeasePlan {
  checkCount(wait, 'wait');
  return { ttl: checkedTtl(ttl), wait: wait ?? 0, signal };
}

export function checkedTtl(ttl: unknown = DEFAULT_TTL_MS): number {
  if (!(typeof ttl === 'number' && Number.isSafeInteger(ttl) && ttl >= 1 && ttl <= MAX_TTL_MS)) {
    invalid('ttl', `must be a whole number of milliseconds from 1 to ${MAX_TTL_MS}, not ${describe(ttl)}`);
  }
  return ttl;
}

/**
 * Takes the lease of a session, and brings the handle up to date. While another has it, asks again until `wait` is
 * over.
 */
export async function takeLease(
  components: ServiceComponents,
  session: SessionName,
  options: WithLeaseOptions,
): Promise<TakenLease> {
  const plan = checkLeaseOptions(options);
  const { wait, signal } = plan;
  const handle = await handleOf(components, session, signal);
  const end = performance.now() + wait;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    try {
      return await tryLease(components, handle, plan);
    } catch (error) {
      const remaining = end - performance.now();
      if (!isStatepadError(error) || error.code !== 'LEASE_HELD' || remaining <= 0) {
        throw error;
      }
      // The waiting callers drift apart.
      await orAborted(sleep(Math.min(remaining, pause * (0.5 + Math.random() / 2))), signal);
    }
  }
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

async function tryLease(
  components: ServiceComponents,
  session: Session,
  { ttl, signal }: LeasePlan,
): Promise<TakenLease> {
  const view = components.sessions.view(session) as View;
  refuseLostLease(view);
  const holder = newId();
  let answer: LeaseAnswer;
  try {
    answer = await requestLease(components, view, { holder, ttl }, signal);
  } catch (error) {
    if (signal?.aborted) {
      // It may have been taken meanwhile: it is shortened to end at once.
      void requestLease(components, view, { holder, ttl: 1 }).catch(() => undefined);
    }
    throw error;
  }
  const lease = new TakenLease(components, view, session, { holder, ttl }, answer);
  try {
    await components.sessions.refresh(view, signal);
    refuseLostLease(view);
    lease.carry();
    return lease;
  } catch (error) {
    await lease[Symbol.asyncDispose]();
    throw error;
  }
}

/** Refuses the handle of a lost lease: it writes nothing any more, not even under another lease. */
function refuseLostLease({ lease, record }: View): void {
  const { loss } = lease ?? {};
  if (loss !== undefined) {
    const { sessionId: id } = record.key;
    const message = `this handle has lost a lease of session "${id}": get the session again to lease it`;
    throw loss.code === 'LEASE_LOST' ? new StatepadError('LEASE_LOST', message, { id, cause: loss }) : loss;
  }
}

/**
 * Takes a lease, runs a function while the lease is renewed, and releases it. Throws `LEASE_LOST` when another has
 * taken it before the function was done.
 */
export async function withLease<T>(
  components: ServiceComponents,
  session: SessionName,
  options: WithLeaseOptions,
  fn: (lease: Lease) => T | PromiseLike<T>,
): Promise<T> {
  const lease = await takeLease(components, session, options);
  const stop = keepAlive(lease);
  let answer: T;
  try {
    answer = await fn(lease);
  } finally {
    stop();
    await lease[Symbol.asyncDispose]();
  }
  const { loss } = lease.hold;
  if (loss?.code === 'LEASE_LOST') {
    throw loss;
  }
  return answer;
}

/** Renews a lease each third of its time, until the returned function is called or the lease is lost. */
export function keepAlive(lease: TakenLease): () => void {
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
  if (record.deleted) {
    throw notFound(record.key.sessionId);
  }
  const row = decideLease(rows.get(record) ?? NO_LEASE, request, now());
  rows.set(record, row);
  return { fence: row.fence, until: row.until ?? 0 };
}

/** A lease that was taken. */
export class TakenLease implements Lease {
  readonly session: Session;
  readonly token: number;
  readonly ttl: number;
  /** The side of the handle's writes. */
  readonly hold: LeaseHold;
  readonly #components: ServiceComponents;
  readonly #view: View;
  readonly #holder: string;
  readonly #abort = new AbortController();
  #until: number;
  #loss: StatepadError | undefined;
  #releasing: Promise<void> | undefined;
  #isReleased = false;

  constructor(
    components: ServiceComponents,
    view: View,
    session: Session,
    { holder, ttl }: { readonly holder: string; readonly ttl: number },
    { fence, until }: LeaseAnswer,
  ) {
    this.#components = components;
    this.#view = view;
    this.session = session;
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
    const before = this.#view.lease;
    this.#view.lease = this.hold;
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
    return this.#view.record.key.sessionId;
  }

  /**
   * Releases it. Writes through the handle meanwhile are made after the release, and carry the lease unless that has
   * succeeded: a lost lease keeps its handle from writing in any case.
   */
  async #release(): Promise<void> {
    const view = this.#view;
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
      return await requestLease(this.#components, this.#view, request, undefined, onDone);
    } catch (error) {
      const isLost = isStatepadError(error) && (error.code === 'LEASE_LOST' || error.code === 'SESSION_NOT_FOUND');
      throw isLost ? this.#markLost(error, ttl === 0) : error;
    }
  }

  #holdWith(token: () => number | undefined): LeaseHold {
    const lossOf = (): StatepadError | undefined => this.#loss;
    const { record } = this.#view;
    return {
      get token() {
        return token();
      },
      get loss() {
        return lossOf();
      },
      markLost: (error) => this.#markLost(error),
      ...(this.#components.sessions.lease === undefined && {
        refusal: () => {
          const own = token();
          return own === undefined || isAtToken(record, own) ? undefined : leaseLost(this.#id);
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
