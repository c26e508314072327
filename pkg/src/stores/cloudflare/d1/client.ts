// The members of a D1 binding that the store needs, and statements for it.

import { StoreError } from '../../../store/store-error.js';
import { known } from '../errors.js';
import type { SqlRow, SqlValue } from '../../sqlite-core/driver.js';

/** The members of a prepared statement of D1 that the store needs. */
export interface D1StatementLike {
  bind(...values: unknown[]): D1StatementLike;
}

/** The members of a D1 binding that the store needs. */
export interface D1DatabaseLike {
  prepare(query: string): D1StatementLike;
  batch(statements: D1StatementLike[]): Promise<{ results?: unknown[] }[]>;
}

/** A statement with what is bound to its `?1`, `?2` and so on. */
export interface D1Query {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The most parameters that D1 takes in a statement. */
const MOST_PARAMETERS = 100;

/** Collects what a statement binds, and numbers it. */
export class Bindings {
  readonly values: SqlValue[] = [];

  /**
   * The parameter that stands for a value. Throws `rejected` when there are too many: D1 would refuse the statement.
   */
  add(value: SqlValue): string {
    const number = this.values.push(value);
    if (number > MOST_PARAMETERS) {
      throw new StoreError(
        'rejected',
        `a change or its guard is too large: it needs more than ${MOST_PARAMETERS} parameters`,
      );
    }
    return `?${number}`;
  }
}

/** Puts a statement together: `write` receives the collector of its parameters. */
export function query(write: (all: Bindings) => string): D1Query {
  const all = new Bindings();
  const sql = write(all);
  return { sql, values: all.values };
}

/** Runs statements as one transaction, in one round trip. Answers the rows of each. */
export async function batch(database: D1DatabaseLike, queries: readonly D1Query[]): Promise<(readonly SqlRow[])[]> {
  try {
    const answers = await database.batch(queries.map(({ sql, values }) => database.prepare(sql).bind(...values)));
    return answers.map(({ results }) => (results ?? []) as SqlRow[]);
  } catch (error) {
    throw known(error);
  }
}
