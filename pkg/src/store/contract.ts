// The interface of stores, which make changes durable. The service decides, the store writes.

import type { Change, Committed, Guard, OperatorName } from './change.js';
import type { SweepQuery, Swept } from './growth.js';
import type { StoreLack } from './lacks.js';
import type { LeaseAnswer, LeaseRequest, LeaseRow } from './lease.js';
import type { LogQuery, ScopeLog } from './log.js';
import type { ListQuery, Loaded, LoadedScope, LoadQuery, NamePage, NameQuery, Page, ScopeName } from './query.js';
import type { StoreError } from './store-error.js';
import type { SessionKey } from '../model/types.js';
import type { Signal } from '../async/abort.js';

export type * from './change.js';
export type * from './growth.js';
export type { StoreLack } from './lacks.js';
export type { LeaseAnswer, LeaseRequest, LeaseRow } from './lease.js';
export type * from './log.js';
export type * from './query.js';

/** A possible change: of a session, of app and user state when there is no `sessionId`, or of app state alone. */
export type Hint = Partial<SessionKey> & Pick<SessionKey, 'appName'>;

/** The reservation of a session, of a user's values or of an app's: see {@link SessionStore.reserve}. */
export interface Reservation {
  /** For {@link Change.reservation}. */
  readonly id: string;
  /** True if the caller had to wait for it, or others wait behind it: the next update should begin with one. */
  readonly contended: boolean;
  /** Releases it unused. Never throws. Not needed when a change with it was written. */
  release(): Promise<void>;
}

/** The longest duration of a {@link Reservation}, and the longest wait for it, in milliseconds. */
export interface ReservationTimes {
  readonly hold: number;
  readonly wait: number;
}

/** The context of every operation. */
export interface StoreContext {
  /** Aborted when the caller stops waiting. A store may give up then, but does not have to. */
  readonly signal: Signal;
  /**
   * Reports an answer of the server before the store's next request: the `timeout` of the service starts again. For
   * stores that make several requests for one call. Absent where there is no timeout.
   */
  readonly answered?: () => void;
}

/** The rights of `open`: `create` missing tables; also `upgrade` an older version; or only `check` what is there. */
export type Migrate = 'create' | 'upgrade' | 'check';

/**
 * The conditions that a store can compare before it writes: all conditions of a {@link Guard}; values of names
 * (`keys`) and `created`, but no revisions and positions; or none. A store that compares none still gets `created`: it
 * refuses a change for another session as far as it can, although not in the step that writes.
 */
export type Guards = 'all' | 'keys' | 'none';

/**
 * The records of a store beyond those of every store:
 *
 * - `marks`: answers have `Marks`, `last` and the ids of events, and `known` is compared with them
 * - `changed`: answers have `Changed`, as far back as the store can
 * - `calls`: the store remembers refused calls, see {@link Change.attempt}
 * - `creations`: the id of a creation outlives its session, and `remove` compares `guard.created`
 * - `removals`: `remove` compares `guard.fence`; only for stores with `lease`
 * - `log`: the store keeps a log of app and user values, see {@link SessionStore.readLog}, and answers have
 *   `StoredEvent.pos`
 * - `digests`: the store keeps {@link Change.digest}; only for stores with `calls` and `creations`
 * - `limits`: the store compares {@link Change.limits}
 * - `expiry`: sessions end as {@link Change.expires} says, see there; only for stores with `creations` and `sweep`
 * - `lifetime`: in place of `expiry`, for storage that ends sessions and removes them by itself. It takes
 *   {@link Change.expires}, from a least duration on, and counts `ttl` from the creation: appends do not move the end.
 *   There is no `sweep`, and `Committed.expires` may be absent for a creation
 */
export type StoreFeature =
  'marks' | 'changed' | 'calls' | 'creations' | 'removals' | 'log' | 'digests' | 'limits' | 'expiry' | 'lifetime';

/**
 * The durability of a change once `commit` has resolved: on disk, in the buffers of the operating system, in memory,
 * or on several machines.
 */
export type Durability = 'disk' | 'os' | 'memory' | 'replicated';

/**
 * Keeps sessions. A store never looks at a prefix and has no rules of its own. Names and ids are any strings, `''`,
 * `__proto__` and NUL included. Two keys never collide because their joined parts are the same text.
 *
 * Every method but `watch` may throw a {@link StoreError}, which says what is known about the outcome. After any other
 * error nothing is known. Reads change nothing.
 */
export interface SessionStore {
  /**
   * Writes a change: all or nothing, durable when it resolves, once per id. App, user and session deltas are merged
   * name by name: names that are not in the delta stay. A set name that exists keeps its place; one that was deleted
   * goes to the end.
   *
   * Throws `exists` for a creation when another change has created the session; `not-found` for an append when the
   * session is missing, or `guard.created` names another one; `conflict` when the guard does not hold; `rejected`;
   * `limit`, with `exceeded`, `size`, `limit`, where it concerns a scope `scope`, and for `value` also `key`;
   * `unavailable`. Nothing is written then.
   *
   * If several reasons hold at once, the first of these is the answer: the change was made before (for an append: in
   * the session of `guard.created`); an earlier attempt of its call was refused, see {@link Change.attempt}; `exists`
   * or `not-found`; the guard's token, its revision, then its positions and values; the first operator that does not
   * fit, in the order app, user, session; the limits: `events`, then for app, user and session in this order `value`,
   * `keys` and `state`.
   *
   * The same change sent again is a `duplicate`: an append for ever; a creation while the session lives and for at
   * least 24 hours after that, so that a repeated creation does not restore deleted data (`rev` and `prev` are 0
   * then); an update for at least 24 hours.
   */
  commit(change: Change, context: StoreContext): Promise<Committed>;
  /** Reads one consistent snapshot of a session, or `null` when there is none. Throws `corrupt`. */
  load(key: SessionKey, query: LoadQuery, context: StoreContext): Promise<Loaded | null>;
  /** Lists sessions. Never loads events. */
  list(query: ListQuery, context: StoreContext): Promise<Page>;
  /**
   * The users in an app that have a session with this id, in the order of the UTF-8 bytes of their ids. It reads an
   * index of the ids: neither its time nor its memory grows with the sessions of the app. It shows every session that
   * was committed before the call.
   */
  owners?(app: string, sessionId: string, context: StoreContext): Promise<readonly string[]>;
  /**
   * A page of the apps that have a session or an app value, or that have a user in `listUsers`. An app without any
   * of these may be missing from it or not.
   */
  listApps?(query: NameQuery, context: StoreContext): Promise<NamePage>;
  /** A page of the users in an app who have a session or a value. A user who has lost the last may be there or not. */
  listUsers?(app: string, query: NameQuery, context: StoreContext): Promise<NamePage>;
  /**
   * Deletes a session with its events and its own values. App and user values stay. A missing session is no error.
   * With `guard.created` it deletes only the session that this change created: another one under the same key stays,
   * which is no error either. With `guard.fence`, compared after that, it deletes only a session at this token, and
   * throws `fenced` otherwise.
   *
   * A session that has expired is missing, so that no token is compared; what is left of it is deleted all the same.
   */
  remove(key: SessionKey, context: StoreContext, guard?: Pick<Guard, 'created' | 'fence'>): Promise<void>;
  /** Reads the values of an app, or of a user in it. */
  loadScope(scope: ScopeName, context: StoreContext): Promise<LoadedScope>;
  /** Deletes all values of an app, or of a user in it, as one change of that scope. Sessions stay. */
  removeScope?(scope: ScopeName, context: StoreContext): Promise<void>;
  /**
   * Writes several changes at the cost of about one, at most one for each session, as if by `commit` one after the
   * other. The answers are in their order; a refused change does not prevent the others. A thrown error applies to all
   * of them.
   */
  commitMany?(changes: readonly Change[], context: StoreContext): Promise<readonly (Committed | StoreError)[]>;
  /**
   * The best number of parallel calls of `commitMany`; 1 by default, so that changes that arrive during a call go
   * together. The store must accept any number.
   */
  readonly parallelCommits?: number;
  /**
   * Waits for the reservation of a target: many callers that read, compute and write the same values are faster one
   * after the other than all at once. One caller has it at a time, in the order of the calls, until it is released, a
   * change with its id is written, or `hold` has passed by the store's clock. A refused change keeps it. Resolves to
   * `undefined` when the reservation does not come within `wait`.
   *
   * It serves speed alone: others may write without one, and a change with one can still be refused. The reservations
   * of a session, of its user and of its app are independent of each other.
   */
  reserve?(target: Hint, times: ReservationTimes, context: StoreContext): Promise<Reservation | undefined>;
  /**
   * Takes, extends or releases the lease of a session by the store's own clock, in one atomic step; `decideLease`
   * decides the outcome. A lease does not stop writers without one. Writes with its token ({@link Guard.fence}) are
   * refused once another holder has taken it. A lease ends with its session.
   *
   * Throws `held`, `fenced`, `not-found`.
   */
  lease?(key: SessionKey, request: LeaseRequest, context: StoreContext): Promise<LeaseAnswer>;
  /**
   * Reads what a session has for its leases, and takes none: the last token, and the holder with the end of its lease,
   * also when that is over; neither after it was given back. `null` for a missing session. Only together with `lease`.
   */
  readLease?(key: SessionKey, context: StoreContext): Promise<LeaseRow | null>;
  /**
   * Removes sessions that have expired, as by `remove`, those that expired first before the others; and values of
   * users that have no session, those that were changed longest ago first, as far as the store's clock tells. It may
   * be called by several processes at once, and ends at any moment without harm: each removal is whole or not made. A
   * session that was written to meanwhile, and has not expired any more, stays.
   */
  sweep?(query: SweepQuery, context: StoreContext): Promise<Swept>;
  /**
   * As `lease`, for the storage as a whole: takes, extends or gives back the lease of a name, such as `sweep`. It
   * stops nobody who does not ask for it.
   */
  claim?(name: string, request: Omit<LeaseRequest, 'created'>, context: StoreContext): Promise<LeaseAnswer>;
  /** The operators of `Change.operators` that the store resolves in its atomic step; none by default. */
  readonly resolves?: readonly OperatorName[];
  /**
   * Reads the writes to the values of an app, or of a user in it, from a store that keeps a `log`. The removal of a
   * scope is an entry that deletes all names.
   */
  readLog?(scope: ScopeName, query: LogQuery, context: StoreContext): Promise<ScopeLog>;
  /** Deletes the entries of a log up to a position, which becomes its `base`. Resolves to their number. */
  trimLog?(scope: ScopeName, upTo: number, context: StoreContext): Promise<number>;
  /**
   * Calls `onHint` when another writer may have changed something, until the returned function is called. No hint is
   * needed for a session or a scope that this store has not read or written since the call. A lost hint makes reads
   * slower, never wrong.
   */
  watch?(onHint: (hint: Hint) => void): () => void;
  /** Called once before all others. Throws `rejected` when the storage is of another kind or version. */
  open?(options: { readonly migrate: Migrate }, context: StoreContext): Promise<void>;
  /**
   * Closes the connections and files that the store opened itself; the caller's client stays open. Called once, after
   * all others.
   */
  close?(): Promise<void>;
  readonly durability?: Durability;
  /** The conditions that the store can compare; `all` by default. The service refuses calls that need more. */
  readonly guards?: Guards;
  /** The records that the store keeps beyond those of every store; none by default. */
  readonly keeps?: readonly StoreFeature[];
  /**
   * The abilities that the store lacks, because its storage was made by others; none by default. The service refuses
   * calls that need them.
   */
  readonly lacks?: readonly StoreLack[];
  /**
   * The store retries its server by itself. The `timeout` of the service then covers all attempts of a call together,
   * from the last answer on: see {@link StoreContext.answered}.
   */
  readonly asksAgain?: true;
  /** Nothing else can write while this store is open: values that were read stay current. */
  readonly exclusive?: true;
}
