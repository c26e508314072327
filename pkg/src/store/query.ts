// The reads of a store: sessions, pages of lists, scopes.

import type { Changed, Known, Marks, Pos, Rev, ScopedValues, Values } from './change.js';
import type { SessionKey } from '../model/types.js';

/** The parts of a session to load. */
export interface LoadQuery {
  /** The range of events; all from revision 1 on when absent. */
  readonly events?: {
    /**
     * Only those of this revision or a later one; from revision 1 when absent. 0 asks for the creation's event, too,
     * if it had one.
     */
    readonly from?: Rev;
    /** Only those of this revision or an earlier one. */
    readonly to?: Rev;
    /** Only those with this time or a later one, each judged by itself. */
    readonly since?: number;
    /** Of all these, the last so many; 0 is none. */
    readonly last?: number;
  };
  /**
   * The caller's copy. Values that are still the same are left out of the answer: the session's when `created`, `rev`
   * and `last` are, the app's and the user's when their positions and marks are. Where a store compares `last`, and
   * the session has another event at `rev`, or has not come to `rev`, the answer says {@link Loaded.diverged}.
   */
  readonly known?: Known;
}

/** A session as it was at one moment. */
export interface Loaded {
  /** The id of the change that created it: it distinguishes a session from an earlier one under the same key. */
  readonly created: string;
  readonly rev: Rev;
  /** The time of the last event, or of creation. */
  readonly time: number;
  readonly pos: Pos;
  /** The values of each scope, without known ones, and without a scope that `changed` reports. */
  readonly state: { readonly session?: Values; readonly app?: Values; readonly user?: Values };
  /** The id of the event at `rev`; absent at revision 0, and where the store does not report it. */
  readonly last?: string;
  /** The time at which the session expires, in milliseconds since the epoch; absent where it does not. */
  readonly expires?: number;
  /** The marks of the scopes, where the store reports them. */
  readonly marks?: Marks;
  /**
   * In place of a scope's values: what has happened to it since `known.pos`. Only where the known mark was compared.
   */
  readonly changed?: Changed;
  /**
   * The caller's copy of the session differs from the store's: the store has gone back since. The session's values are
   * in `state`.
   */
  readonly diverged?: true;
  /** In the order of appending. */
  readonly events: readonly StoredEvent[];
}

/** An event as it is stored. */
export interface StoredEvent {
  /** The revision that the session came to with it; 0 for the creation's. */
  readonly rev: Rev;
  /** The text of `Change.event`. */
  readonly data: string;
  /** The id under which it is stored; absent for the creation's, and where the store does not report it. */
  readonly id?: string;
  /**
   * The type of integers that JavaScript cannot hold as numbers, where others have written them into the text: when
   * absent, the event cannot be read.
   */
  readonly integers?: 'bigint';
  /** The results of its change's operators, if it had any. */
  readonly results?: ScopedValues;
  /** The positions of the scopes after its change, from stores that keep a `log`, for events written since they do. */
  readonly pos?: Pos;
}

/** The sessions to list: those of an app, or of one of its users. */
export interface ListQuery {
  readonly app: string;
  readonly user?: string;
  /**
   * By time, descending or ascending; ties by session id and then by user, ascending either way, in the order of their
   * UTF-8 bytes.
   */
  readonly descending: boolean;
  /** The most sessions of the page; all when absent. */
  readonly limit?: number;
  /** The number of sessions to pass over. Not together with `after`. */
  readonly offset?: number;
  /** Go on behind this place, which need not be there any more. */
  readonly after?: Place;
}

/** One session of a list. */
export interface Row {
  readonly key: SessionKey;
  readonly created: string;
  readonly rev: Rev;
  readonly time: number;
  /** The time at which it expires, in milliseconds since the epoch; absent where it does not. */
  readonly expires?: number;
  /** The session's own values. */
  readonly state: Values;
}

/** One page of a list: a snapshot of one moment. */
export interface Page {
  readonly rows: readonly Row[];
  /** The values of the app. */
  readonly app: Values;
  /** The values of each user in the rows. */
  readonly users: ReadonlyMap<string, Values>;
  /** The number of sessions in all, whatever the page. */
  readonly total: number;
  /** Sessions of this page that cannot be read. They are not in `rows`. */
  readonly corrupt?: readonly SessionKey[];
  /**
   * The place of the last session of this page, whether it can be read or not: the next page is the one `after` it.
   * Only a page with `corrupt` sessions needs it. Without it the next page begins behind the last of the `rows`, and
   * looks at the corrupt sessions behind that once more.
   */
  readonly next?: Place;
}

/** The place of a session in a list. */
export interface Place {
  readonly time: number;
  readonly sessionId: string;
  readonly userId: string;
}

/** An app, or a user in it. */
export interface ScopeName {
  readonly app: string;
  readonly user?: string;
}

/** The values of an app, or of a user in it. */
export interface LoadedScope {
  /** The number of changes that have touched it; 0 when nothing ever was there. */
  readonly pos: number;
  readonly state: Values;
  /** The change that brought it there, where the store reports it. */
  readonly mark?: string;
}

/** The part of a list of names to read. */
export interface NameQuery {
  /** Only names behind this one, which need not be there any more. */
  readonly after?: string;
  /** The most names of the page, from 1; all when absent. */
  readonly limit?: number;
}

/** One page of names, in the order of their UTF-8 bytes. */
export interface NamePage {
  readonly names: readonly string[];
  /** True when there are names behind the last one of the page. */
  readonly more: boolean;
}
