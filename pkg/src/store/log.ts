// The log of a shared scope: the writes to an app's or a user's values, each with its change, in the store's order.

import type { Json } from '../model/types.js';

/** One write of a name. */
export interface LogWrite {
  readonly name: string;
  /** The value before; absent when the name was not there. */
  readonly from?: Json;
  /** The value after; absent when the name was deleted. */
  readonly to?: Json;
}

/** One change of the scope. */
export interface LogEntry {
  /** The position of the scope after it. */
  readonly pos: number;
  /** `Change.time`, in milliseconds since the epoch; that of the store's clock for `removeScope`. */
  readonly time: number;
  /** The session and the event that wrote it; absent for other writes. A creation has no `eventId`. */
  readonly by?: { readonly userId: string; readonly sessionId: string; readonly eventId?: string };
  /**
   * In the order of writing: deleted names first, then set names, operators last. A name that was deleted and set
   * again is one write. The deletion of a missing name is no write, so the list may be empty.
   */
  readonly writes: readonly LogWrite[];
}

/** The range of a log to read: entries of positions above `after` up to `to`, oldest first. */
export interface LogQuery {
  /** 0 by default. */
  readonly after?: number;
  /** Up to the newest by default. */
  readonly to?: number;
  /** Only writes of this name: entries without one are left out. */
  readonly name?: string;
  /** The most entries, from the oldest on; all when absent. */
  readonly limit?: number;
}

/** A part of a log, as it was at one moment. */
export interface ScopeLog {
  /** The position of the scope. */
  readonly pos: number;
  /**
   * The position above which the log is complete: it has all changes of higher positions. It is `pos` for an empty
   * log. Positions that were written without a log, or that were trimmed, are at or below it.
   */
  readonly base: number;
  /** The entries of the query above `base`. */
  readonly entries: readonly LogEntry[];
}
