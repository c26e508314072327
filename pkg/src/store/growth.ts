// Growth and its end: limits of what is stored, sessions that expire, and the sweep that removes them.

/**
 * Limits of what is stored after a change. Absent members limit nothing. They hold for each scope that the change
 * writes, whoever wrote what is there: a store compares them with its own numbers in the atomic step that writes.
 *
 * The size of a value is the number of UTF-8 bytes of its text as `JSON.stringify` writes it, and that of a scope the
 * sum, over its names, of the bytes of the name and of its value. What does not grow is never refused: a scope beyond
 * a limit that was lowered can still be changed and emptied.
 */
export interface StoreLimits {
  /** The most bytes of a value that an operator comes to; `delta` is not compared, as its writer knows it. */
  readonly value?: number;
  /** The most bytes of a scope: compared where the change makes the scope larger. */
  readonly state?: number;
  /** The most names of a scope: compared where the change adds to their number. */
  readonly keys?: number;
  /** The most events of a session, without that of the creation: compared by an append. */
  readonly events?: number;
}

/** The name of a limit. */
export type StoreLimit = keyof StoreLimits;

/**
 * The end of a session. `ttl`: so many milliseconds after its creation or its last append, by the store's clock; `at`:
 * a time in milliseconds since the epoch, which appends do not move.
 */
export type Expiry = { readonly ttl: number; readonly at?: never } | { readonly at: number; readonly ttl?: never };

/** The part of what has expired that one call removes. */
export interface SweepQuery {
  /** Only what belongs to this app. */
  readonly app?: string;
  /** The most sessions and users together that are removed, from 1. */
  readonly limit: number;
  /**
   * Also the values of users who have no session, and whose values were last changed so many milliseconds ago or
   * earlier: as by `removeScope`. Absent: no values of users.
   */
  readonly userTtl?: number;
  /**
   * Removes nothing, and counts what would be removed, `limit` at most. It only reads: also a store that was opened
   * for reading alone answers it.
   */
  readonly dry?: true;
}

/** The outcome of a sweep. */
export interface Swept {
  /** The number of sessions that were removed; with `dry` of those that would be. */
  readonly sessions: number;
  /** The number of users whose values were removed, or would be. */
  readonly users: number;
  /** True where more may have expired than `limit` let remove. */
  readonly more: boolean;
}
