// Removing what has expired.

import type { Abortable } from './types.js';

/** The request of `sweep`. */
export interface SweepRequest extends Abortable {
  /** Only what belongs to this app; all apps when it is absent. */
  readonly appName?: string | undefined;
  /** The most sessions and users together that are removed, from 1; all when it is absent. */
  readonly limit?: number | undefined;
  /** True to remove nothing, and to count what would be removed. */
  readonly dryRun?: boolean | undefined;
}

/** The answer of `sweep`. */
export interface SweepAnswer {
  /** The number of sessions that were removed; with `dryRun` of those that would be. */
  readonly sessions: number;
  /** The number of users without sessions whose values were removed: see the option `userTtl`. */
  readonly users: number;
}
