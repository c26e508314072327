// A database, as what reads it needs it.

/** The databases whose SQL is known here. */
export type Dialect = 'postgres' | 'sqlite' | 'mysql';

/** A row, by the names of its columns. */
export type AdkRow = Readonly<Record<string, unknown>>;

/**
 * A database, in the smallest form: the dialect of its SQL, and what runs a statement with values in the places of
 * `$1`, `$2` (Postgres) or `?` (the others), and answers the rows.
 */
export interface AdkDatabase {
  readonly dialect: Dialect;
  query(sql: string, values: readonly (string | number)[]): Promise<readonly AdkRow[]> | readonly AdkRow[];
}
