// How sessions lie in an IndexedDB database: its object stores, their keys and their rows.

import { newId } from '../../model/ids.js';
import { reasonOf } from './errors.js';
import type { SessionKey } from '../../model/types.js';

/**
 * IndexedDB's own version number says which layout a database has. The first is 2: opening a database that is not there,
 * without a version, makes an empty one of version 1.
 *
 * No write needs to compare it: the browser raises it when no connection to an older version is left, and each connection
 * closes itself when it is asked to; those of the first version did so, too. What is opened again sees the new number.
 */
export const VERSION = 3;
export const FIRST_VERSION = 2;
/** The number of the layout as it is told. */
export const DATA_VERSION = VERSION - FIRST_VERSION + 1;

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
  /** {@link DATA_VERSION}; absent in the first. */
  readonly version?: number;
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
  /** The id of the event at `rev`; absent at revision 0, and in a row of version 1 that nothing was appended to since. */
  readonly last?: string;
  /** A number that only grows, for writers that take turns: nothing gives it yet. Absent in rows of version 1. */
  readonly fence?: number;
  /** Who may write until when, in milliseconds since the epoch: nothing sets it yet. */
  readonly lease?: { readonly holder: string; readonly until: number };
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
  /** Of an app or a user: the position at which it was written, absent when it was written by version 1. */
  readonly pos?: number;
  /** The position at which its name came into being, likewise. */
  readonly made?: number;
}

/** An app, or a user in it. */
export interface ScopeRow {
  readonly scope: ScopeKey;
  readonly pos: number;
  /** How many sessions it has: they are never counted one by one. */
  readonly sessions: number;
  /** The order of the next new name. */
  readonly next: number;
  /** The change that brought it to `pos`, as far as that is known. */
  readonly mark?: string;
}

/** The change that brought a scope to a position. */
export interface MarkRow {
  readonly scope: ScopeKey;
  readonly pos: number;
  readonly mark: string;
}

/** A name that was deleted from a scope at a position. */
export interface GoneRow {
  readonly scope: ScopeKey;
  readonly pos: number;
  readonly name: string;
}

/** Something that is remembered by its id for some time. */
export interface IdRow {
  /** By the clock of the page that wrote it, in milliseconds since the epoch. */
  readonly at: number;
  /** What the id is unique in: an app or a user; empty where it is unique everywhere. */
  readonly scope: readonly string[];
  readonly id: string;
}

/** What has happened to a scope, value by value: nothing writes it yet. */
export interface LogRow {
  readonly scope: ScopeKey;
  readonly pos: number;
  readonly name: string;
  /** The value as JSON text; absent when it was deleted. */
  readonly text?: string;
  /** The event that did it. */
  readonly session?: number;
  readonly event?: string;
}

/** The rows of each object store. */
export interface Rows {
  readonly meta: MetaRow;
  readonly sessions: SessionRow;
  readonly events: EventRow;
  readonly values: ValueRow;
  readonly scopes: ScopeRow;
  /** Updates that have been made. */
  readonly updates: IdRow;
  readonly marks: MarkRow;
  readonly gone: GoneRow;
  /** Calls that have been refused. */
  readonly calls: IdRow;
  /** Creations of sessions that have been removed. */
  readonly creations: IdRow;
  readonly log: LogRow;
}

export type TableName = keyof Rows;

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
  log: { key: ['scope', 'pos', 'name'], since: 3 },
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
 * Makes everything that is missing, in the transaction that is there for it: all of it or nothing. Rows of the first version
 * stay as they are: what they lack is what was not known then.
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
  meta.onsuccess = () => put(transaction, 'meta', { name: 'database', identity: newId(), sessions: 0, ...meta.result, version });
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

/** The id of a session's last event, if it has one. */
export async function lastOf(transaction: IDBTransaction, { number, rev, last }: SessionRow): Promise<string | undefined> {
  // Version 1 has not noted it.
  return last ?? (rev === 0 ? undefined : (await get(transaction, 'events', [number, rev]))?.id);
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
