// What a service over a store has to be told.

import type { Callbacks } from '../../stores/journal/callback-store.js';
import type { Migrate, SessionStore } from '../../store/contract.js';
import type { Policy } from './retry.js';

/** Options of sessions over a store, checked and complete. */
export interface StoredOptions extends Policy {
  readonly store: SessionStore | Callbacks;
  readonly migrate: Migrate;
  /** How many events are kept in memory, about, in sessions that nobody waits for. */
  readonly cachedEvents: number;
  readonly now: () => number;
}
