// What a service over a store has to be told.

import type { Callbacks } from '../../stores/journal/callback-store.js';
import type { Migrate, SessionStore } from '../../store/contract.js';
import type { RetryOptions } from './commit/retry.js';

/** Options of sessions over a store, checked and complete. */
export interface StoredOptions extends RetryOptions {
  readonly store: SessionStore | Callbacks;
  readonly migrate: Migrate;
  /** How many events, about, are cached in sessions that are not in use. */
  readonly cachedEvents: number;
  readonly now: () => number;
}
