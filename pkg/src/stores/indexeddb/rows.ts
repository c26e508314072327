// The rows of the object stores of an IndexedDB database.

import type { Size } from '../shared/growth.js';
import type { LogEntry, Pos } from '../../store/contract.js';

/** An app, or a user in it, as a key. */
export type ScopeKey = [app: string] | [app: string, user: string];
/** The owner of values: an app or a user, or the session that has this number. */
export type Home = ScopeKey | number;

/** The row about the whole database. */
export interface MetaRow {
  readonly name: 'database';
  /** Made anew with each database, to tell it from an earlier one under the same name. */
  readonly identity: string;
  /** The number of the last session. */
  readonly sessions: number;
  /** The fingerprint of the tables. */
  readonly layout: string;
}

/** A session. Its texts are written by `toOrdered`. */
export interface SessionRow {
  readonly app: string;
  readonly user: string;
  readonly id: string;
  /** Never used twice: a session's rows are found by it, and never belong to a later one under the same key. */
  readonly number: number;
  readonly created: string;
  /** The digest of its creation. */
  readonly digest?: string;
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
  readonly size: Size;
  /** Milliseconds from an append to its end; absent where appends do not move that. */
  readonly ttl?: number;
  /** The time of its end, in milliseconds since the epoch; absent where it has none. */
  readonly expires?: number;
  /** The id of the event at `rev`; absent at revision 0. */
  readonly last?: string;
  /** The token of the last lease; 0 before the first. */
  readonly fence: number;
  /** The holder of the lease, and its end in milliseconds since the epoch; absent when it was given back. */
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
  /** The results of its change's operators, as JSON text. */
  readonly results?: string;
  /** The positions of the scopes after its change, where a log was kept. */
  readonly pos?: Pos;
}

/** A value: a row for each name, so that a write costs the same whatever else there is. */
export interface ValueRow {
  readonly home: Home;
  readonly name: string;
  /** Ascending in the order in which the names were first written. */
  readonly order: number;
  readonly text: string;
  /** Of an app or a user: the position at which it was written. */
  readonly pos?: number;
  /** The position at which its name came into being, likewise. */
  readonly made?: number;
}

/**
 * The names by which a scope is listed, written by `toOrdered`: an app has `app`, a user has the others. An index has
 * the rows alone that have all of its members.
 */
export interface ScopeNames {
  readonly app?: string;
  readonly ofApp?: string;
  readonly user?: string;
}

/** An app, or a user in it. */
export interface ScopeRow extends ScopeNames {
  readonly scope: ScopeKey;
  readonly pos: number;
  /** The number of its sessions: they are never counted one by one. */
  readonly sessions: number;
  /** The order of the next new name. */
  readonly next: number;
  readonly size: Size;
  /** The time of the last change of its values, by the clock of the page that made it; absent before the first. */
  readonly changed?: number;
  /** The same, of a user who has values and no session. */
  readonly idle?: number;
  /** The change that brought it to `pos`, as far as that is known. */
  readonly mark?: string;
  /** From which position on nothing is missing in its log; absent when its last move was not logged. */
  readonly base?: number;
}

/** The change that brought a scope to a position. */
export interface MarkRow {
  readonly scope: ScopeKey;
  readonly pos: number;
  readonly mark: string;
}

/** A name that was deleted from a scope at a position. */
export interface DeletionRow {
  readonly scope: ScopeKey;
  readonly pos: number;
  readonly name: string;
}

/** Something that is remembered by its id for some time. */
export interface IdRow {
  /** By the clock of the page that wrote it, in milliseconds since the epoch. */
  readonly at: number;
  /** The range in which the id is unique: an app or a user; empty where it is unique everywhere. */
  readonly scope: readonly string[];
  readonly id: string;
  /** Of an update: the results of its operators, as JSON text. */
  readonly results?: string;
  /** The digest of the change. */
  readonly digest?: string;
}

/** The part of a row that belongs to the change of its id. */
export type IdColumns = Pick<IdRow, 'results' | 'digest'>;

/** The lease of a name. */
export interface ClaimRow extends Pick<SessionRow, 'fence' | 'lease'> {
  readonly name: string;
}

/** The writes of a change to a scope. */
export interface LogRow {
  readonly scope: ScopeKey;
  /** The position that it came to with it. */
  readonly pos: number;
  readonly time: number;
  readonly by?: NonNullable<LogEntry['by']>;
  /** In their order; the values are JSON texts. */
  readonly writes: readonly { readonly name: string; readonly from?: string; readonly to?: string }[];
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
  readonly deletions: DeletionRow;
  /** Calls that have been refused. */
  readonly calls: IdRow;
  /** Creations of sessions that have been removed. */
  readonly creations: IdRow;
  readonly log: LogRow;
  /** Leases of names. */
  readonly claims: ClaimRow;
}

export type TableName = keyof Rows;
