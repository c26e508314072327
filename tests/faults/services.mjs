// Services over storage whose commits fail as told, and what is there afterwards.

import { SessionService, isStatepadError } from 'statepad';
import { planOf } from './faulty.mjs';

export const context = { signal: new AbortController().signal };
const retry = { attempts: 3, pause: 1 };

let apps = 0;

/** Creates a session before anything is told to fail: only a busy machine can be too slow, now and then. */
export async function createdAtLast(service, request) {
  for (;;) {
    try {
      return await service.getOrCreateSession(request);
    } catch (error) {
      if (!['COMMIT_UNKNOWN', 'STORE_UNAVAILABLE'].includes(error.code)) throw error;
    }
  }
}

/** A service over new storage, with one session of which no change has failed. */
export async function setUp(make, { timeout = 10_000, delay } = {}) {
  const storage = make();
  const plan = planOf(delay);
  const store = storage.open(plan);
  const service = new SessionService({ store, retry, timeout });
  const key = { appName: `app ${process.pid} ${apps++}`, userId: 'u', sessionId: 's' };
  const session = await createdAtLast(service, { ...key, state: { n: 0, 'app:n': 0, 'user:n': 0 } });
  plan.calls.length = 0;
  return { storage, plan, store, service, key, session };
}

/**
 * Calls `read` with another service over the same storage: beside the first one, where that is possible, or after it.
 */
export async function readAgain({ storage, plan, store, service }, read) {
  plan.next.length = 0;
  await plan.settled();
  if (store.exclusive) {
    await service.close();
  }
  const again = storage.open();
  const fresh = new SessionService({ store: again });
  try {
    // Opens the store.
    await fresh.getSession({ appName: 'nobody', userId: 'u', sessionId: 's' });
    return await read(fresh, again);
  } finally {
    await fresh.close();
    await service.close();
    await storage.drop();
  }
}

/** Adds one to each of these keys: a function for `updateState`. */
export const increment =
  (...names) =>
  (state) =>
    Object.fromEntries(names.map((name) => [name, state[name] + 1]));

/** The answer to the caller of a change: that it was acknowledged, or the code of the error. */
export async function outcomeOf(promise) {
  try {
    await promise;
    return 'acknowledged';
  } catch (error) {
    if (!isStatepadError(error)) throw error;
    return error.code;
  }
}
