// Requests to the object stores of an IndexedDB database, in a transaction.

import { reasonOf } from './errors.js';
import type { Rows, TableName } from './rows.js';

/** Reads one row, by its key or by that of an index. */
export async function get<N extends TableName>(
  transaction: IDBTransaction,
  name: N,
  key: IDBValidKey,
  index?: string,
): Promise<Rows[N] | undefined> {
  return (await answer(source(transaction, name, index).get(key))) as Rows[N] | undefined;
}

/** Reads rows in the order of their keys, or of those of an index. */
export async function getAll<N extends TableName>(
  transaction: IDBTransaction,
  name: N,
  range: IDBKeyRange,
  { index, count }: { readonly index?: string; readonly count?: number } = {},
): Promise<Rows[N][]> {
  return (await answer(source(transaction, name, index).getAll(range, count))) as Rows[N][];
}

/** Writes a row. When that fails the transaction ends, and nothing of it is written: it need not be waited for. */
export function put<N extends TableName>(transaction: IDBTransaction, name: N, row: Rows[N]): void {
  transaction.objectStore(name).put(row);
}

/** Deletes rows, as {@link put} writes them. */
export function remove(transaction: IDBTransaction, name: TableName, key: IDBValidKey | IDBKeyRange): void {
  transaction.objectStore(name).delete(key);
}

/** An object store, or one of its indexes. */
export function source(transaction: IDBTransaction, name: TableName, index?: string): IDBObjectStore | IDBIndex {
  const table = transaction.objectStore(name);
  return index === undefined ? table : table.index(index);
}

/** The answer to a read. One that fails does not end its transaction: it can be reported and passed over. */
export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      reject(reasonOf(request));
    };
  });
}

/**
 * All keys that begin with these members, from the one that goes on with `from`: arrays come after everything else.
 */
export function beginningWith(
  start: readonly IDBValidKey[],
  from: readonly IDBValidKey[] = [],
  isBehind = false,
): IDBKeyRange {
  return IDBKeyRange.bound([...start, ...from], [...start, []], isBehind);
}
