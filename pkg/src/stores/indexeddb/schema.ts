// The object stores of an IndexedDB database: their keys and indexes, and how they are made.

import { newId } from '../../model/ids.js';
import { put } from './requests.js';
import type { MetaRow, TableName } from './rows.js';

/**
 * IndexedDB's own version number says which layout a database has. The first is 2: opening a database that is not
 * there, without a version, makes an empty one of version 1.
 *
 * No write needs to compare it: the browser raises it when no connection to an older version is left, and each
 * connection closes itself when it is asked to; those of the first version did so, too. What is opened again sees the
 * new number.
 */
export const VERSION = 3;
export const FIRST_VERSION = 2;
/** The number of the layout as it is told. */
export const DATA_VERSION = VERSION - FIRST_VERSION + 1;

/** The members of a row that are its key, and its indexes. Under an id there is one row. */
interface Layout {
  readonly key: string | string[];
  readonly indexes?: Readonly<Record<string, string[]>>;
  /** The version that brought it. */
  readonly since?: number;
}

const IDS: Layout = { key: ['at', 'scope', 'id'], indexes: { id: ['scope', 'id'] } };

const LAYOUT: Readonly<Record<TableName, Layout>> = {
  meta: { key: 'name' },
  sessions: {
    key: ['app', 'user', 'id'],
    indexes: {
      app: ['app', 'time', 'id', 'user'],
      appBack: ['app', 'back', 'id', 'user'],
      user: ['app', 'user', 'time', 'id'],
      userBack: ['app', 'user', 'back', 'id'],
    },
  },
  events: { key: ['session', 'rev'], indexes: { id: ['session', 'id'] } },
  values: { key: ['home', 'name'], indexes: { pos: ['home', 'pos'] } },
  scopes: { key: 'scope' },
  updates: IDS,
  marks: { key: ['scope', 'pos'], since: 3 },
  gone: { key: ['scope', 'pos', 'name'], since: 3 },
  calls: { ...IDS, since: 3 },
  creations: { ...IDS, since: 3 },
  log: { key: ['scope', 'pos'], since: 3 },
};

export const TABLES = Object.keys(LAYOUT) as readonly TableName[];

/** Whether a database has what it should have at its version, or at an earlier one. */
export function isComplete({ objectStoreNames, version }: IDBDatabase, at = version): boolean {
  const wanted = TABLES.filter((name) => (LAYOUT[name].since ?? FIRST_VERSION) <= at);
  return wanted.length > 0 && wanted.every((name) => objectStoreNames.contains(name));
}

/** Whether {@link createTables} may be called: there is nothing, or what an older version has made. */
export function canBeUpgraded(database: IDBDatabase, oldVersion: number): boolean {
  return database.objectStoreNames.length === 0 || isComplete(database, oldVersion);
}

/**
 * Makes everything that is missing, in the transaction that is there for it: all of it or nothing. Rows of the first
 * version stay as they are: what they lack is what was not known then.
 */
export function createTables(database: IDBDatabase, transaction: IDBTransaction): void {
  const isNew = database.objectStoreNames.length === 0;
  for (const name of TABLES) {
    const { key, indexes = {} } = LAYOUT[name];
    const isThere = database.objectStoreNames.contains(name);
    const table = isThere ? transaction.objectStore(name) : database.createObjectStore(name, { keyPath: key });
    Object.entries(indexes)
      .filter(([index]) => !table.indexNames.contains(index))
      .forEach(([index, members]) => table.createIndex(index, members, { unique: index === 'id' }));
  }
  const version = DATA_VERSION;
  if (isNew) {
    put(transaction, 'meta', { name: 'database', identity: newId(), sessions: 0, version });
    return;
  }
  const meta = transaction.objectStore('meta').get('database') as IDBRequest<MetaRow | undefined>;
  meta.onsuccess = () =>
    put(transaction, 'meta', { name: 'database', identity: newId(), sessions: 0, ...meta.result, version });
}
