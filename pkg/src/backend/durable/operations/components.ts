// The components of operations over a store: each operation takes those that it needs.

import type { Connection } from '../commit/connection.js';
import type { ServiceLimits } from '../commit/limits.js';
import type { SessionLoader } from '../cache/loader.js';
import type { SessionCache } from '../cache/session-cache.js';
import type { ChangeWriter } from './writer.js';

/** The components of one service over a store. */
export interface StoreComponents {
  readonly connection: Connection;
  readonly cache: SessionCache;
  readonly loader: SessionLoader;
  readonly writer: ChangeWriter;
  readonly limits: ServiceLimits;
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
}
