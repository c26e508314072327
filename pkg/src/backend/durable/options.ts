// The options of a service over a store.

import type { Callbacks } from '../../stores/journal/callback-store.js';
import type { Migrate, SessionStore } from '../../store/contract.js';
import type { Limits } from '../../model/limits.js';
import type { RetryOptions } from './commit/retry.js';

/** The options of sessions over a store, checked and complete. */
export interface StoredOptions extends RetryOptions {
  readonly store: SessionStore | Callbacks;
  readonly migrate: Migrate;
  /** The approximate number of events that are cached in sessions that are not in use. */
  readonly cachedEvents: number;
  readonly now: () => number;
  readonly limits: Limits;
  /** True when the options name a limit of values: it holds for the results of operators, too. */
  readonly isValueNamed: boolean;
}
