// The object stores of an IndexedDB database: their keys and indexes, and how they are made.

import { newId } from '../../model/ids.js';
import { isObject } from '../../model/value-types.js';
import { get, put } from './requests.js';
import type { MetaRow, TableName } from './rows.js';

/**
 * IndexedDB's own version number of a database of version 1: opening a database that is not there, without a number,
 * makes an empty one of number 1.
 *
 * No write needs to compare it: the browser raises it when no connection to an older version is left, and each
 * connection closes itself when it is asked to. A connection that is opened again sees the new number.
 */
const FIRST_NUMBER = 2;

/** The members of a row that are its key, and its indexes. Under an id there is one row. */
interface Table {
  readonly key: string | string[];
  readonly indexes?: Readonly<Record<string, string[]>>;
}

/** The content of a database at a version. */
export interface Schema {
  readonly version: number;
  /** The fingerprint of the tables: see {@link LAYOUT}. */
  readonly layout: string;
  readonly tables: Readonly<Record<string, Table>>;
}

const IDS: Table = { key: ['at', 'scope', 'id'], indexes: { id: ['scope', 'id'] } };

export const TABLES: Readonly<Record<TableName, Table>> = {
  meta: { key: 'name' },
  sessions: {
    key: ['app', 'user', 'id'],
    indexes: {
      app: ['app', 'time', 'id', 'user'],
      appBack: ['app', 'back', 'id', 'user'],
      user: ['app', 'user', 'time', 'id'],
      userBack: ['app', 'user', 'back', 'id'],
      owner: ['app', 'id', 'user'],
      // They have the rows of sessions that expire, and no others.
      end: ['expires'],
      appEnd: ['app', 'expires'],
      userEnd: ['app', 'user', 'expires'],
    },
  },
  events: { key: ['session', 'rev'], indexes: { id: ['session', 'id'] } },
  values: { key: ['home', 'name'], indexes: { pos: ['home', 'pos'] } },
  scopes: {
    key: 'scope',
    indexes: {
      app: ['app'],
      user: ['ofApp', 'user'],
      // They have the rows of users without sessions, and no others.
      idle: ['idle'],
      appIdle: ['ofApp', 'idle'],
    },
  },
  updates: IDS,
  marks: { key: ['scope', 'pos'] },
  deletions: { key: ['scope', 'pos', 'name'] },
  calls: IDS,
  creations: IDS,
  log: { key: ['scope', 'pos'] },
  claims: { key: 'name' },
};

/**
 * The fingerprint of {@link TABLES}: a database that an unreleased build has made otherwise has another one, or none,
 * and is refused. It goes with the first release.
 */
export const LAYOUT = 'e4e6dde8';

/** The version that this module reads and writes. */
export const CURRENT: Schema = { version: 1, layout: LAYOUT, tables: TABLES };

/** IndexedDB's own number of a version. */
export function numberOf({ version }: Schema): number {
  return FIRST_NUMBER + version - 1;
}

/** The version that a database has by IndexedDB's own number; 0 where no version has made it. */
export function versionOf({ version: number }: IDBDatabase): number {
  return number - FIRST_NUMBER + 1;
}

/** Reads the row about the whole database; `undefined` where it is another program's. */
export async function readMeta(database: IDBDatabase): Promise<MetaRow | undefined> {
  const row = database.objectStoreNames.contains('meta')
    ? await get(database.transaction('meta'), 'meta', 'database')
    : undefined;
  return isMeta(row) ? row : undefined;
}

/** Makes everything in an empty database, in the transaction that is there for it: all of it or nothing. */
export function createTables(database: IDBDatabase, transaction: IDBTransaction, schema: Schema): void {
  makeMissing(database, transaction, schema);
  put(transaction, 'meta', { name: 'database', identity: newId(), sessions: 0, layout: schema.layout });
}

/**
 * Makes the tables and indexes that a database of an older version lacks, likewise. Its rows stay as they are. Calls
 * `refuse` where it is another program's, and has made nothing then.
 */
export function upgradeTables(
  database: IDBDatabase,
  transaction: IDBTransaction,
  schema: Schema,
  refuse: () => void,
): void {
  if (!database.objectStoreNames.contains('meta')) {
    refuse();
    return;
  }
  const request: IDBRequest<unknown> = transaction.objectStore('meta').get('database');
  request.onsuccess = () => {
    if (isMeta(request.result)) {
      makeMissing(database, transaction, schema);
      put(transaction, 'meta', { ...request.result, layout: schema.layout });
    } else {
      refuse();
    }
  };
}

function makeMissing(database: IDBDatabase, transaction: IDBTransaction, { tables }: Schema): void {
  for (const [name, { key, indexes = {} }] of Object.entries(tables)) {
    const isThere = database.objectStoreNames.contains(name);
    const table = isThere ? transaction.objectStore(name) : database.createObjectStore(name, { keyPath: key });
    Object.entries(indexes)
      .filter(([index]) => !table.indexNames.contains(index))
      .forEach(([index, members]) => table.createIndex(index, members, { unique: index === 'id' }));
  }
}

function isMeta(row: unknown): row is MetaRow {
  return isObject(row) && 'identity' in row && typeof row.identity === 'string';
}
