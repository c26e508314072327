// Taking the lease of a session, and running a function under it.

import { StatepadError, isStatepadError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import { orAborted } from '../async/abort.js';
import { sleep } from '../async/sleep.js';
import { TakenLease, type LeasedHandle } from './taken-lease.js';
import type { LeasePlan } from './options.js';
import type { Lease } from '../model/lease.js';
import type { LeaseAnswer } from '../store/lease.js';

/** The pauses between requests for a held lease, growing, in milliseconds. */
const [FIRST_PAUSE_MS, MAX_PAUSE_MS] = [25, 500];

/**
 * Takes the lease of a session, and brings the handle up to date. While another has it, asks again until `wait` is
 * over.
 */
export async function takeLease(handle: LeasedHandle, plan: LeasePlan): Promise<TakenLease> {
  const { wait, signal } = plan;
  const end = performance.now() + wait;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(MAX_PAUSE_MS, pause * 2)) {
    try {
      return await tryLease(handle, plan);
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

async function tryLease(handle: LeasedHandle, { ttl, signal }: LeasePlan): Promise<TakenLease> {
  refuseLostLease(handle);
  const holder = newId();
  let answer: LeaseAnswer;
  try {
    answer = await handle.request({ holder, ttl }, signal);
  } catch (error) {
    if (signal?.aborted) {
      // It may have been taken meanwhile: it is shortened to end at once.
      void handle.request({ holder, ttl: 1 }).catch(() => undefined);
    }
    throw error;
  }
  const lease = new TakenLease(handle, { holder, ttl }, answer);
  try {
    await handle.refresh(signal);
    refuseLostLease(handle);
    lease.carry();
    return lease;
  } catch (error) {
    await lease[Symbol.asyncDispose]();
    throw error;
  }
}

/** Refuses the handle of a lost lease: it writes nothing any more, not even under another lease. */
function refuseLostLease({ view, session: { id } }: LeasedHandle): void {
  const { loss } = view.lease ?? {};
  if (loss !== undefined) {
    const message = `this handle has lost a lease of session "${id}": get the session again to lease it`;
    throw loss.code === 'LEASE_LOST' ? new StatepadError('LEASE_LOST', message, { id, cause: loss }) : loss;
  }
}

/**
 * Takes a lease, runs a function while the lease is renewed, and releases it. Throws `LEASE_LOST` when another has
 * taken it before the function was done.
 */
export async function withLease<T>(
  handle: LeasedHandle,
  plan: LeasePlan,
  fn: (lease: Lease) => T | PromiseLike<T>,
): Promise<T> {
  const lease = await takeLease(handle, plan);
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
