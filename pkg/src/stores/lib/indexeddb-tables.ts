// How sessions lie in an IndexedDB database: its object stores, their keys and their rows.

import { newId } from '../../ids.js';
import { reasonOf } from './indexeddb-errors.js';
import type { SessionKey } from '../../types.js';

/**
 * IndexedDB's own version number says which layout a database has. The first is 2: whoever opens a database that is not
 * there and asks for no version makes an empty one of version 1.
 */
export const VERSION = 2;

/** An app, or a user in it, as a key. */
export type ScopeKey = [app: string] | [app: string, user: string];
/** Whose values: an app's or a user's, or those of the session that has this number. */
export type Home = ScopeKey | number;

/** What is told of the whole database. */
export interface MetaRow {
  readonly name: 'database';
  /** Made anew with each database, to tell it from an earlier one under the same name. */
  readonly identity: string;
  /** The number of the last session. */
  readonly sessions: number;
}

/** A session. Its texts are written by {@link toOrdered}. */
export interface SessionRow {
  readonly app: string;
  readonly user: string;
  readonly id: string;
  /** Never given twice: what belongs to a session is found by it, and never belongs to a later one under the same key. */
  readonly number: number;
  readonly created: string;
  readonly time: number;
  /** The time below zero: an ascending index of it is a descending one of the time, with ties still ascending. */
  readonly back: number;
  readonly rev: number;
  /** The revision of its first event where that is 0: its creation had one. */
  readonly first?: 0;
  /** The latest time of all its events. */
  readonly peak: number;
  /** The order of the next new name. */
  readonly next: number;
}

/** An event. */
export interface EventRow {
  readonly session: number;
  readonly rev: number;
  /** Not there in the creation's: nothing that is appended is a duplicate of it. */
  readonly id?: string;
  readonly time: number;
  /** The latest time of the events up to this one: no earlier event is later. */
  readonly peak: number;
  readonly data: string;
}

/** A value: a row for each name, so that a write costs the same whatever else there is. */
export interface ValueRow {
  readonly home: Home;
  readonly name: string;
  /** Ascending in the order in which the names were first written. */
  readonly order: number;
  readonly text: string;
}

/** An app, or a user in it. */
export interface ScopeRow {
  readonly scope: ScopeKey;
  readonly pos: number;
  /** How many sessions it has: they are never counted one by one. */
  readonly sessions: number;
  /** The order of the next new name. */
  readonly next: number;
}

/** An update that has been made, remembered by its id. */
export interface UpdateRow {
  /** By the clock of whoever wrote it, in milliseconds since the epoch. */
  readonly at: number;
  readonly scope: ScopeKey;
  readonly id: string;
}

/** The rows of each object store. */
export interface Rows {
  readonly meta: MetaRow;
  readonly sessions: SessionRow;
  readonly events: EventRow;
  readonly values: ValueRow;
  readonly scopes: ScopeRow;
  readonly updates: UpdateRow;
}

export type TableName = keyof Rows;

/** The members of a row that are its key, and its indexes. Under an id there is one row. */
interface Layout {
  readonly key: string | string[];
  readonly indexes?: Readonly<Record<string, string[]>>;
}

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
  values: { key: ['home', 'name'] },
  scopes: { key: 'scope' },
  updates: { key: ['at', 'scope', 'id'], indexes: { id: ['scope', 'id'] } },
};

export const TABLES = Object.keys(LAYOUT) as readonly TableName[];

/** Whether a database has what it should have at {@link VERSION}. */
export function isComplete(database: IDBDatabase): boolean {
  return TABLES.every((name) => database.objectStoreNames.contains(name));
}

/** Makes everything, in the transaction that is there for it. */
export function createTables(database: IDBDatabase, transaction: IDBTransaction): void {
  for (const name of TABLES) {
    const { key, indexes = {} } = LAYOUT[name];
    const table = database.createObjectStore(name, { keyPath: key });
    Object.entries(indexes).forEach(([index, members]) => table.createIndex(index, members, { unique: index === 'id' }));
  }
  put(transaction, 'meta', { name: 'database', identity: newId(), sessions: 0 });
}

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

/** Writes a row. When that fails the transaction ends, and nothing of it is written: nobody has to wait. */
export function put<N extends TableName>(transaction: IDBTransaction, name: N, row: Rows[N]): void {
  transaction.objectStore(name).put(row);
}

/** Deletes rows, as {@link put} writes them. */
export function remove(transaction: IDBTransaction, name: TableName, key: IDBValidKey | IDBKeyRange): void {
  transaction.objectStore(name).delete(key);
}

/** Where an object store or an index is read. */
export function source(transaction: IDBTransaction, name: TableName, index?: string): IDBObjectStore | IDBIndex {
  const table = transaction.objectStore(name);
  return index === undefined ? table : table.index(index);
}

/** The answer to a read. One that fails does not end its transaction: it can be told and passed over. */
export function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = (event) => {
      event.preventDefault();
      reject(reasonOf(request));
    };
  });
}

/** All keys that begin with these members, from the one that goes on with `from`: arrays come after everything else. */
export function beginningWith(start: readonly IDBValidKey[], from: readonly IDBValidKey[] = [], isBehind = false): IDBKeyRange {
  return IDBKeyRange.bound([...start, ...from], [...start, []], isBehind);
}

/** The key of an app, or of a user in it. */
export function scopeKey(appName: string, userId?: string): ScopeKey {
  return userId === undefined ? [appName] : [appName, userId];
}

/** The key of a session's row. */
export function sessionKey({ appName, userId, sessionId }: SessionKey): IDBValidKey {
  return [toOrdered(appName), toOrdered(userId), toOrdered(sessionId)];
}

/** The session that a row is about. */
export function keyOfSession({ app, user, id }: SessionRow): SessionKey {
  return { appName: fromOrdered(app), userId: fromOrdered(user), sessionId: fromOrdered(id) };
}

/**
 * A text whose UTF-16 units, by which IndexedDB compares, have the order of the UTF-8 bytes of the given one: the units of
 * surrogates, which stand for code points above all others, change places with those behind them. Other texts stay as
 * they are, and no two become the same.
 */
export function toOrdered(text: string): string {
  return moved(text, 0xe000, 0x2000, -0x800);
}

/** The text that {@link toOrdered} has written. */
export function fromOrdered(text: string): string {
  return moved(text, 0xf800, 0x800, -0x2000);
}

/** Moves the units from U+D800 on: those below a border up, the others down. */
function moved(text: string, border: number, up: number, down: number): string {
  return text.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code + (code < border ? up : down));
  });
}
