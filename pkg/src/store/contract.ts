// The interface of stores, which make changes durable. The service decides, the store writes.

import type { Change, Committed, Guard, OperatorName } from './change.js';
import type { StoreLack } from './lacks.js';
import type { LeaseAnswer, LeaseRequest } from './lease.js';
import type { LogQuery, ScopeLog } from './log.js';
import type { ListQuery, Loaded, LoadedScope, LoadQuery, Page, ScopeName } from './query.js';
import type { StoreError } from './store-error.js';
import type { SessionKey } from '../model/types.js';
import type { Signal } from '../async/abort.js';

export type * from './change.js';
export type { StoreLack } from './lacks.js';
export type { LeaseAnswer, LeaseRequest } from './lease.js';
export type * from './log.js';
export type * from './query.js';

/** Something may have moved: a session, or app and user state when there is no `sessionId`, or app state alone. */
export type Hint = Partial<SessionKey> & Pick<SessionKey, 'appName'>;

/** The reservation of a session, of a user's values or of an app's: see {@link SessionStore.reserve}. */
export interface Reservation {
  /** For {@link Change.reservation}. */
  readonly id: string;
  /**
   * True if it had to be waited for, or others wait behind it: the next update does better to begin with a
   * reservation.
   */
  readonly contended: boolean;
  /** Releases it unused. Never throws. Not needed when a change with it was written. */
  release(): Promise<void>;
}

/** The longest time that a {@link Reservation} may last, and that it is waited for, in milliseconds. */
export interface ReservationTimes {
  readonly hold: number;
  readonly wait: number;
}

/** The context that every operation gets besides. */
export interface StoreContext {
  /** Aborted when the caller does not wait any more. A store may give up then, and need not. */
  readonly signal: Signal;
  /**
   * Says that the server has answered, and more is to be asked of it: the `timeout` of the service begins anew. For a
   * store that makes several requests for one call; it is absent where nobody counts.
   */
  readonly answered?: () => void;
}

/**
 * The rights of `open`: to make what is missing; besides that, to bring an older version up to date; or only to look.
 */
export type Migrate = 'create' | 'upgrade' | 'check';

/**
 * The conditions that a store can compare before it writes: everything that a {@link Guard} can say; values of names
 * (`keys`) and `created`, but no revisions and positions; or nothing. `created` is sent to a store that compares
 * nothing, too: it refuses as well as it can what is meant for another session, though not in the moment of writing.
 */
export type Guards = 'all' | 'keys' | 'none';

/**
 * The records of a store beyond those that every store has to keep:
 *
 * - `marks`: `Marks`, `last` and the ids of events are in answers, and what is known is compared with them
 * - `changed`: `Changed` is in answers, as far back as the store can
 * - `calls`: refused calls are remembered, see {@link Change.attempt}
 * - `creations`: the id of a creation outlives its session, and `remove` looks at `guard.created`
 * - `removals`: `remove` looks at `guard.fence`; only for stores that have `lease`
 * - `log`: a log of app and user values is kept, see {@link SessionStore.readLog}, and `StoredEvent.pos` is in answers
 */
export type StoreFeature = 'marks' | 'changed' | 'calls' | 'creations' | 'removals' | 'log';

/**
 * The durability of a change when `commit` has resolved: on disk, handed to the operating system, in memory, on
 * several machines.
 */
export type Durability = 'disk' | 'os' | 'memory' | 'replicated';

/**
 * Keeps sessions. It never looks at a prefix and has no rule of its own: names and ids are any strings, `''`,
 * `__proto__` and NUL included, and no two keys ever meet because their parts read the same when put together.
 *
 * Every method but `watch` may throw a {@link StoreError}, which says what is known; whatever else is thrown means
 * that nothing is known. Reads change nothing.
 */
export interface SessionStore {
  /**
   * Writes a change: all or nothing, durable when it resolves, once per id. App, user and session deltas are merged
   * name by name: names that are not in the delta stay. A set name that is there keeps its place, one that was deleted
   * goes to the end.
   *
   * Throws `exists` for the creation of a session that another change has created; `not-found` for an append to a
   * session that is not there, or is another than `guard.created`; `conflict` when the guard does not hold;
   * `rejected`; `unavailable`. Nothing is written then.
   *
   * Of several reasons that hold at once the first one is the answer: the change was made before (of an append: in the
   * session that `guard.created` names); an earlier try of its call was refused, see {@link Change.attempt}; `exists`
   * or `not-found`; of the guard its token, its revision, then its positions and values; the first operator that does
   * not fit, those of the app before those of the user and of the session.
   *
   * The same change sent again is a `duplicate`: forever for appends; for a creation as long as the session lives and
   * at least an hour longer, so that one whose answer was lost does not bring back data deleted meanwhile (`rev`
   * and `prev` are 0 then); at least an hour for updates.
   */
  commit(change: Change, context: StoreContext): Promise<Committed>;
  /** Reads one consistent snapshot of a session, or `null` when there is none. Throws `corrupt`. */
  load(key: SessionKey, query: LoadQuery, context: StoreContext): Promise<Loaded | null>;
  /** Lists sessions. Never loads events. */
  list(query: ListQuery, context: StoreContext): Promise<Page>;
  /**
   * Deletes a session with its events and its own values. App and user values stay. It need not be there. With
   * `guard.created` only the session that this change created: another one under its key stays, which is no error.
   * With `guard.fence`, which is looked at after that, only while the session is at this token: throws `fenced`
   * otherwise, and deletes nothing.
   */
  remove(key: SessionKey, context: StoreContext, guard?: Pick<Guard, 'created' | 'fence'>): Promise<void>;
  /** Reads the values of an app, or of a user in it. */
  loadScope(scope: ScopeName, context: StoreContext): Promise<LoadedScope>;
  /** Deletes all values of an app, or of a user in it, as one change of that scope. Sessions stay. */
  removeScope?(scope: ScopeName, context: StoreContext): Promise<void>;
  /**
   * Writes several changes at the cost of about one, at most one for each session, as if by `commit` one after the
   * other. Answers in their order; a refused one does not keep the others from being written. An error that it throws
   * holds for all of them.
   */
  commitMany?(changes: readonly Change[], context: StoreContext): Promise<readonly (Committed | StoreError)[]>;
  /**
   * The best number of calls of `commitMany` at a time, one by default, so that changes that come meanwhile go
   * together. The store has to cope with any number.
   */
  readonly parallelCommits?: number;
  /**
   * Waits for the reservation of what the target names: where many read, compute and write the same values, one after
   * the other gets further than all at once. One caller has it at a time, among all callers and in their order, until
   * it is released, a change with its id is written, or `hold` is over by the store's clock; a change that is refused
   * keeps it. Answers `undefined` when it does not come within `wait`.
   *
   * It is for speed alone: no writer is kept from writing without one, and a change that has one can be refused. The
   * reservations of a session, of its user and of its app have nothing to do with each other.
   */
  reserve?(target: Hint, times: ReservationTimes, context: StoreContext): Promise<Reservation | undefined>;
  /**
   * Takes the lease of a session, makes it last longer or gives it back, by the store's own clock, in one atomic step:
   * `decideLease` says what becomes of it. A lease keeps no writer without one from writing; what is written with its
   * token ({@link Guard.fence}) is refused once another has taken it. Leases are lost with their session.
   *
   * Throws `held`, `fenced`, `not-found`.
   */
  lease?(key: SessionKey, request: LeaseRequest, context: StoreContext): Promise<LeaseAnswer>;
  /** The operators of `Change.operators` that it resolves in its atomic step; none by default. */
  readonly resolves?: readonly OperatorName[];
  /**
   * Reads what was written to the values of an app, or of a user in it: the store keeps a `log`. Removing a scope is
   * an entry that deletes all names.
   */
  readLog?(scope: ScopeName, query: LogQuery, context: StoreContext): Promise<ScopeLog>;
  /** Deletes the entries of a log up to a position, which becomes its `base`. Answers how many there were. */
  trimLog?(scope: ScopeName, upTo: number, context: StoreContext): Promise<number>;
  /**
   * Calls `onHint` when another writer may have changed something, until the function that it returns is called. Of a
   * session or a scope that this store has not read or written since it watches, no hint has to come. Losing a hint
   * makes reading slower, never wrong.
   */
  watch?(onHint: (hint: Hint) => void): () => void;
  /** Called once before all others. Throws `rejected` when what it finds does not suit. */
  open?(options: { readonly migrate: Migrate }, context: StoreContext): Promise<void>;
  /**
   * Lets go of what the store has opened itself; a client of the caller's stays open. Called once, after all
   * others.
   */
  close?(): Promise<void>;
  readonly durability?: Durability;
  /** The conditions that it can compare; everything by default. The service refuses what needs more. */
  readonly guards?: Guards;
  /** The records that it keeps beyond those it has to; none by default. */
  readonly keeps?: readonly StoreFeature[];
  /**
   * The abilities that it lacks, because its storage was made by others; none by default. The service refuses what
   * needs them.
   */
  readonly lacks?: readonly StoreLack[];
  /**
   * It asks its server again by itself. The `timeout` of the service then counts for all its tries of a call together,
   * from the last answer on: see {@link StoreContext.answered}.
   */
  readonly asksAgain?: true;
  /** Nothing else can write while this store is open: values that were read stay true. */
  readonly exclusive?: true;
}
