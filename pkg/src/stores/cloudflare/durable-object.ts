// The SQLite database of a Durable Object, as the SQLite stores run their statements.

import { StoreError } from '../../store/store-error.js';
import { known } from './errors.js';
import type { SqlDriver, SqlRow, SqlValue } from '../sqlite-core/driver.js';

/** The members of a Durable Object's `ctx.storage` that the store needs. */
export interface DurableObjectStorageLike {
  readonly sql: { exec(query: string, ...bindings: SqlValue[]): { toArray(): SqlRow[] } };
  transactionSync<T>(closure: () => T): T;
}

/** Runs statements on the database of an object. Throws `rejected` when the object has none. */
export function objectDriver(storage: DurableObjectStorageLike): SqlDriver {
  const { sql } = storage as { sql?: DurableObjectStorageLike['sql'] };
  if (sql === undefined) {
    throw notDeclared();
  }
  const all = (statement: string, values: readonly SqlValue[]): readonly SqlRow[] => {
    try {
      return sql.exec(statement, ...values).toArray();
    } catch (error) {
      // Of an object without SQL there is an `sql`, which says so when it is used.
      throw error instanceof Error && error.message.includes('SQL is not enabled') ? notDeclared(error) : known(error);
    }
  };
  return {
    run: (statement, values) => void all(statement, values),
    all,
    first: (statement, values) => {
      const [row] = all(statement, values);
      return row && Object.values(row);
    },
    lists: (statement, values) => all(statement, values).map((row) => Object.values(row)),
    // Nothing else of the object runs meanwhile.
    snapshot: (read) => read(),
    transaction: (write) => {
      try {
        return storage.transactionSync(write);
      } catch (error) {
        throw known(error);
      }
    },
  };
}

function notDeclared(cause?: unknown): StoreError {
  const message =
    'the durable object has no sqlite: declare its class with new_sqlite_classes in the migrations of its worker';
  return new StoreError('rejected', message, { cause });
}
