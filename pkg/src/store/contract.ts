// What makes changes durable: the interface of stores. The service decides, the store writes.

import type { StoreError } from './store-error.js';
import type { Json, SessionKey } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** The values of one scope under their names, in the order in which the names were first written. No prototype. */
export type Values = Readonly<Record<string, Json>>;

/** What changes in one scope: names to set and names to delete. Keys have become names: `user:theme` is `theme`. */
export interface Delta {
  readonly set?: Readonly<Record<string, Json>>;
  readonly unset?: readonly string[];
}

/** How many changes a session has seen since its creation, which is 0: the number of events appended to it. */
export type Rev = number;

/**
 * How many changes have touched the app's scope, and the user's, in the order in which the store made them: 0 before the
 * first. Equal numbers mean equal values. It never goes back, not even when all keys of a scope are gone.
 */
export interface Pos {
  readonly app: number;
  /** 0 where there is no user. */
  readonly user: number;
}

/**
 * The change that brought an app's scope, and a user's, to its position: its {@link Change.call}, or else its id. Absent
 * at position 0, and where it is not known, as after an upgrade or `removeScope`; two marks are compared only when both are
 * there. Equal positions with other marks mean that the store has gone back since, and others have written.
 */
export interface Marks {
  readonly app?: string;
  readonly user?: string;
}

/** What a caller has in memory of a session and its scopes. Absent parts are not known. */
export interface Known {
  /** The {@link Row.created} of the session. */
  readonly created?: string;
  /** The revision of the session. Only together with `created`. */
  readonly rev?: Rev;
  /** The id of the event at `rev`; absent at revision 0. */
  readonly last?: string;
  /** The positions of the scopes. */
  readonly pos?: Partial<Pos>;
  /** The marks of the scopes at these positions. */
  readonly marks?: Marks;
}

/** What others have changed in app and user state since the caller's position. */
export interface Changed {
  readonly app?: Delta;
  readonly user?: Delta;
}

/**
 * What has to hold for a change to be written. Absent parts are not looked at. A store looks at it in the same atomic
 * step in which it writes, and after it has looked for a duplicate.
 */
export interface Guard {
  /** The {@link Row.created} that the session must have: `not-found` otherwise, as it is another session. */
  readonly created?: string;
  /** The revision that the session must be at: `conflict` otherwise, with `actual`. */
  readonly rev?: Rev;
  /** The positions that the scopes must be at: `conflict` otherwise. */
  readonly pos?: Partial<Pos>;
  /** Names that must have these values (`set`, compared as `JSON.stringify` writes them) or be absent (`unset`): `conflict` otherwise. */
  readonly keys?: { readonly app?: Delta; readonly user?: Delta; readonly session?: Delta };
}

/**
 * The value that a store writes, all of it or nothing: one event and its deltas, already split by scope. `temp:` keys are
 * never in it.
 *
 * - `create` makes a session, at revision 0. `key` is whole; the event says what the session began with, so that its past
 *   can be told: it is kept as the event of revision 0. A creation without one is made all the same.
 * - `append` gives a session its next event. `key` is whole, there is an event.
 * - `update` writes app and user state alone. `key` has no `sessionId`; no `userId` either when only app state is written.
 */
export interface Change {
  /** The idempotency key. Of an append it is the event's id, unique in its session; of the others it is unique everywhere. */
  readonly id: string;
  readonly kind: 'create' | 'append' | 'update';
  readonly key: Partial<SessionKey> & Pick<SessionKey, 'appName'>;
  /** The time of creation, or the event's: what `list` sorts by. In milliseconds since the epoch, any finite number. */
  readonly time: number;
  /** The event as JSON text, opaque to the store. Never changed, and given back as it is. */
  readonly event?: { readonly id: string; readonly time: number; readonly data: string };
  readonly delta: { readonly app?: Delta; readonly user?: Delta; readonly session?: Delta };
  readonly guard?: Guard;
  /** What the caller has of the scopes: only for {@link Committed.changed}, and never a condition. */
  readonly known?: Pick<Known, 'pos' | 'marks'>;
  /**
   * Tells this call from every other one, where the id does not: an event whose id its author chose may be sent again by
   * another call, and other sessions may have one of that id. The same in all tries of a call. Absent: the id.
   */
  readonly call?: string;
  /**
   * Which try of the call this is, from the second one on: 2, 3 and so on. An earlier try may still be on its way. When a
   * change with an `attempt` is refused (`exists`, `not-found`, `conflict`), a store remembers its `call` for an hour at
   * least, and refuses every later try of it with `conflict`: nothing of a call is written after its caller was told that it
   * was refused. A change without `attempt` leaves nothing behind when it is refused.
   */
  readonly attempt?: number;
  /** The {@link Turn} that this change uses: it ends in the same step in which the change is written, or known to be. */
  readonly turn?: string;
}

/** What became of a change that is durable. */
export interface Committed {
  /** The session's revision after the change; 0 for an update. */
  readonly rev: Rev;
  /** The revision before it: others have written when this is not what one knew. `null` for a creation and an update. */
  readonly prev: Rev | null;
  /** Where the scopes are after the change. */
  readonly pos: Pos;
  /** The store had the change before, and has done nothing; `rev`, `prev` (the same) and `pos` are those of now. */
  readonly duplicate?: true;
  /** Of a duplicate append: the event that is stored under this id. */
  readonly data?: string;
  /**
   * What the session and the scopes were at just before this change: the id of the event at `prev` (of an append, absent at
   * revision 0) and the marks of the scopes. For a duplicate: what they are at. A store that has gone back shows by it.
   */
  readonly before?: Marks & { readonly session?: string };
  /**
   * What others have done to the scopes between {@link Change.known} and this change, which is not part of it. A scope that
   * others have moved and that is absent here has to be loaded. Names come in the order of writing; one that was deleted and
   * written again is in both `unset`, which comes first, and `set`.
   */
  readonly changed?: Changed;
}

/** Which parts of a session are wanted. */
export interface LoadQuery {
  /** Which events; all from revision 1 on when absent. */
  readonly events?: {
    /** Only those of this revision or a later one; from revision 1 when absent. 0 asks for the creation's event, too, if it had one. */
    readonly from?: Rev;
    /** Only those of this revision or an earlier one. */
    readonly to?: Rev;
    /** Only those with this time or a later one, each judged by itself. */
    readonly since?: number;
    /** Of all these, the last so many; 0 is none. */
    readonly last?: number;
  };
  /**
   * What the caller has. Values that are still the same are left out of the answer: the session's when `created`, `rev` and
   * `last` are, the app's and the user's when their positions and marks are. Where a store compares `last`, and the session
   * has another event at `rev`, or has not come to `rev`, the answer says {@link Loaded.diverged}.
   */
  readonly known?: Known;
}

/** A session as it was at one moment. */
export interface Loaded {
  /** The id of the change that created it: it tells a session from an earlier one under the same key. */
  readonly created: string;
  readonly rev: Rev;
  /** The time of the last event, or of creation. */
  readonly time: number;
  readonly pos: Pos;
  /** The values of each scope, without what is known, and without a scope that `changed` tells. */
  readonly state: { readonly session?: Values; readonly app?: Values; readonly user?: Values };
  /** The id of the event at `rev`; absent at revision 0, and where the store does not tell. */
  readonly last?: string;
  /** The marks of the scopes, where the store tells. */
  readonly marks?: Marks;
  /** In place of a scope's values: what has happened to it since `known.pos`. Only where the known mark was compared. */
  readonly changed?: Changed;
  /** What is known of the session is not what the store has: it has gone back since. The session's values are in `state`. */
  readonly diverged?: true;
  /** In the order of appending. */
  readonly events: readonly StoredEvent[];
}

/** An event as it is stored. */
export interface StoredEvent {
  /** The revision that the session came to with it; 0 for the creation's. */
  readonly rev: Rev;
  /** The text of {@link Change.event}. */
  readonly data: string;
  /** The id under which it is stored; absent for the creation's, and where the store does not tell. */
  readonly id?: string;
}

/** Which sessions are wanted: those of an app, or of one of its users. */
export interface ListQuery {
  readonly app: string;
  readonly user?: string;
  /**
   * By time, descending or ascending; ties by session id and then by user, ascending either way, in the order of their
   * UTF-8 bytes.
   */
  readonly descending: boolean;
  /** How many at most; all when absent. */
  readonly limit?: number;
  /** How many to pass over. Not together with `after`. */
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
  /** How many sessions there are in all, whatever the page. */
  readonly total: number;
  /** Sessions of this page that cannot be read. They are not in `rows`. */
  readonly corrupt?: readonly SessionKey[];
  /**
   * The place of the last session of this page, whether it can be read or not: the next page is the one `after` it. Only a
   * page with `corrupt` sessions needs it. Without it the next page begins behind the last of the `rows`, and looks at the
   * corrupt sessions behind that once more.
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
  /** How many changes have touched it; 0 when nothing ever was there. */
  readonly pos: number;
  readonly state: Values;
  /** The change that brought it there, where the store tells. */
  readonly mark?: string;
}

/** Something may have moved: a session, or app and user state when there is no `sessionId`, or app state alone. */
export type Hint = Partial<SessionKey> & Pick<SessionKey, 'appName'>;

/** A turn at a session, at a user's values or at an app's: see {@link SessionStore.reserve}. */
export interface Turn {
  /** For {@link Change.turn}. */
  readonly id: string;
  /** Whether it had to be waited for, or others wait behind it: the next update does better to begin with a turn. */
  readonly contended: boolean;
  /** Gives it back unused. Never throws. Not needed when a change with it was written. */
  release(): Promise<void>;
}

/** How long a {@link Turn} may last, and how long it is waited for, in milliseconds. */
export interface TurnTimes {
  readonly hold: number;
  readonly wait: number;
}

/** What every operation gets besides. */
export interface StoreContext {
  /** Aborted when nobody waits any more. A store may give up then, and need not. */
  readonly signal: Signal;
}

/** What `open` may do to what it finds: make what is missing; besides that, bring an older version up to date; only look. */
export type Migrate = 'create' | 'upgrade' | 'check';

/**
 * What a store can compare before it writes: everything that a {@link Guard} can say; values of names (`keys`) and
 * `created`, but no revisions and positions; or nothing.
 */
export type Guards = 'all' | 'keys' | 'none';

/**
 * What a store keeps and tells beyond what every store has to:
 *
 * - `marks`: {@link Marks}, `last` and the ids of events are told, and what is known is compared with them
 * - `changed`: {@link Changed} is told, as far back as the store can
 * - `calls`: refused calls are remembered, see {@link Change.attempt}
 * - `creations`: the id of a creation outlives its session, and `remove` looks at `guard.created`
 */
export type StoreFeature = 'marks' | 'changed' | 'calls' | 'creations';

/** How durable a change is when `commit` has resolved: on disk, handed to the operating system, in memory, on several machines. */
export type Durability = 'disk' | 'os' | 'memory' | 'replicated';

/**
 * Keeps sessions. It never looks at a prefix and has no rule of its own: names and ids are any strings, `''`,
 * `__proto__` and NUL included, and no two keys ever meet because their parts read the same when put together.
 *
 * Every method but `watch` may throw a {@link StoreError}, which says what is known; whatever else is thrown means that
 * nothing is known. Reads change nothing.
 */
export interface SessionStore {
  /**
   * Writes a change: all or nothing, durable when it resolves, once per id. App, user and session deltas are merged name by
   * name: names that are not in the delta stay. A set name that is there keeps its place, one that was deleted goes to the end.
   *
   * Throws `exists` for the creation of a session that another change has created; `not-found` for an append to a session
   * that is not there, or is another than `guard.created`; `conflict` when the guard does not hold; `rejected`;
   * `unavailable`. Nothing is written then.
   *
   * The same change sent again is a `duplicate`: forever for appends; for a creation as long as the session lives and at
   * least an hour longer, so that one whose answer was lost does not bring back what was deleted meanwhile (`rev` and `prev`
   * are 0 then); at least an hour for updates.
   */
  commit(change: Change, context: StoreContext): Promise<Committed>;
  /** Reads one consistent snapshot of a session, or `null` when there is none. Throws `corrupt`. */
  load(key: SessionKey, query: LoadQuery, context: StoreContext): Promise<Loaded | null>;
  /** Lists sessions. Never loads events. */
  list(query: ListQuery, context: StoreContext): Promise<Page>;
  /**
   * Deletes a session with its events and its own values. App and user values stay. It need not be there. With
   * `guard.created` only the session that this change created: another one under its key stays, which is no error.
   */
  remove(key: SessionKey, context: StoreContext, guard?: Pick<Guard, 'created'>): Promise<void>;
  /** Reads the values of an app, or of a user in it. */
  loadScope(scope: ScopeName, context: StoreContext): Promise<LoadedScope>;
  /** Deletes all values of an app, or of a user in it, as one change of that scope. Sessions stay. */
  removeScope?(scope: ScopeName, context: StoreContext): Promise<void>;
  /**
   * Writes several changes at the cost of about one, at most one for each session, as if by `commit` one after the other.
   * Answers in their order; one that is refused does not keep the others from being written. What it throws holds for all
   * of them.
   */
  commitMany?(changes: readonly Change[], context: StoreContext): Promise<readonly (Committed | StoreError)[]>;
  /**
   * Waits for a turn at what the target names: where many read, compute and write the same values, one after the other gets
   * further than all at once. One caller has it at a time, among all who ask and in the order of asking, until it is
   * released, a change with its id is written, or `hold` is over by the store's clock; a change that is refused keeps it.
   * Answers `undefined` when it does not come within `wait`.
   *
   * It is for speed alone: nobody is kept from writing without one, and a change that has one can be refused. Turns at a
   * session, at its user and at its app have nothing to do with each other.
   */
  reserve?(target: Hint, times: TurnTimes, context: StoreContext): Promise<Turn | undefined>;
  /**
   * Calls `onHint` when somebody else may have changed something, until the function that it returns is called. Losing a
   * hint makes reading slower, never wrong.
   */
  watch?(onHint: (hint: Hint) => void): () => void;
  /** Called once before all others. Throws `rejected` when what it finds does not suit. */
  open?(options: { readonly migrate: Migrate }, context: StoreContext): Promise<void>;
  /** Lets go of what the store has opened itself; a client that was given to it stays open. Called once, after all others. */
  close?(): Promise<void>;
  readonly durability?: Durability;
  /** What it can compare; everything unless told otherwise. What needs more is refused by the service. */
  readonly guards?: Guards;
  /** What it keeps and tells beyond what it has to; nothing unless told otherwise. */
  readonly keeps?: readonly StoreFeature[];
  /** Nobody else can write while this store is open: what has been read stays true. */
  readonly exclusive?: true;
}
