// The interface of a driver: all that the SQLite stores need of a database.

/** A value that is bound to a `?`, or that a column holds. Numbers are whole or not, as they were written. */
export type SqlValue = string | number | null;

/** One row, by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * Runs statements, synchronously. The texts are few and never change, so that they can be prepared once. Their
 * parameters are anonymous `?`, in order.
 *
 * The functions that are given to `snapshot` and `transaction` never wait, and never call either of them.
 */
export interface SqlDriver {
  /** Runs a statement that answers nothing. */
  run(sql: string, values: readonly SqlValue[]): void;
  /** Runs a statement, and reads all rows that it answers. */
  all(sql: string, values: readonly SqlValue[]): readonly SqlRow[];
  /**
   * Runs a statement that answers one row at most, and reads the columns of that row in their order: half the time of
   * reading a wide row by the names of its columns. A text is run either by this or by `all`.
   */
  first(sql: string, values: readonly SqlValue[]): readonly unknown[] | undefined;
  /** The same for a statement that answers many rows. */
  lists(sql: string, values: readonly SqlValue[]): readonly (readonly unknown[])[];
  /** Calls `read`, which only reads, so that it sees one moment. */
  snapshot<T>(read: () => T): T;
  /**
   * Calls `write` so that no other connection can write meanwhile, and makes durable what it wrote when it returns;
   * undoes it when it throws, and throws that. Throws a `StoreError` of its own for what it knows: `unavailable`,
   * `rejected`, `corrupt`.
   */
  transaction<T>(write: () => T): T;
}
