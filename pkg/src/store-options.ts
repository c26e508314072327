// The options of a service that have to do with its store.

import { StatepadError } from './errors.js';
import type { Policy } from './policy.js';
import type { Callbacks } from './stores/lib/callbacks.js';
import type { Migrate, SessionStore } from './store.js';

/** Where sessions are kept, and how patient a service is with that. Without `store` or `persist` they are in memory. */
export interface StoreOptions extends Partial<Callbacks> {
  /** Keeps the sessions: one of `statepad/stores/*`, or your own. */
  readonly store?: SessionStore | undefined;
  /** What may be done to the store's schema when it is opened; `'create'` unless told otherwise. */
  readonly migrate?: Migrate | undefined;
  /** How long one try of the store may take, in milliseconds; 10,000 unless told otherwise. */
  readonly timeout?: number | undefined;
  readonly retry?: {
    /** How often the store is tried in all; 6 unless told otherwise. */
    readonly attempts?: number | undefined;
    /** How long to wait after the first try, in milliseconds, then twice as long each time; 50 unless told otherwise. */
    readonly pause?: number | undefined;
  } | undefined;
  /** How many events, about, stay in memory in sessions that nobody waits for; 100,000 unless told otherwise. */
  readonly cachedEvents?: number | undefined;
}

/** Options of sessions over a store, understood. */
export interface StoredOptions extends Policy {
  readonly store: SessionStore | Callbacks;
  readonly migrate: Migrate;
  /** How many events are kept in memory, about, in sessions that nobody waits for. */
  readonly cachedEvents: number;
  readonly now: () => number;
}

/** Checks the options. `undefined`: everything is in memory. */
export function checkStoreOptions(options: StoreOptions, now: () => number): StoredOptions | undefined {
  const { store, persist, restore, migrate = 'create', timeout = 10_000, retry = {}, cachedEvents = 100_000 } = options;
  const { attempts = 6, pause = 50 } = retry;
  if ((persist === undefined) !== (restore === undefined)) {
    refuse(persist === undefined ? 'persist' : 'restore', 'is missing: persist and restore go together');
  }
  if (store !== undefined && persist !== undefined) {
    refuse('store', 'cannot go together with persist and restore');
  }
  if (!['create', 'upgrade', 'check'].includes(migrate)) {
    refuse('migrate', "must be 'create', 'upgrade' or 'check'");
  }
  for (const [path, number, least] of [['timeout', timeout, 1], ['retry.attempts', attempts, 1], ['retry.pause', pause, 0], ['cachedEvents', cachedEvents, 0]] as const) {
    if (!(typeof number === 'number' && number >= least && Number.isFinite(number))) {
      refuse(path, `must be a number from ${least}`);
    }
  }
  const kept = store ?? (persist && restore && { persist, restore });
  return kept && { store: kept, migrate, timeout, attempts, pause, cachedEvents, now };
}

function refuse(path: string, what: string): never {
  throw new StatepadError('INVALID_ARGUMENT', `${path} ${what}`, { path });
}
