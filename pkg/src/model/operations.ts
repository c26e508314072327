// The operations on sessions, wherever these are.

import type { HeldLease, Lease, LeaseOptions, WithLeaseOptions } from './lease.js';
import type {
  DetailedHistory,
  DetailedState,
  SessionHistoryOptions,
  SharedHistory,
  SharedKey,
  StateAtOptions,
  TrimOptions,
} from './past.js';
import type { ForkOptions, RedoOptions, RewindOptions, Rewound } from './rewind.js';
import type { SweepAnswer, SweepRequest } from './sweep.js';
import type {
  Abortable,
  AppendEventRequest,
  CreateSessionRequest,
  Event,
  GetSessionByName,
  GetSessionRequest,
  HistoryOptions,
  HistoryStep,
  Json,
  ListAppsRequest,
  ListAppsResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  ListUsersRequest,
  ListUsersResponse,
  Session,
  SessionKey,
  SessionName,
  UpdateFunction,
  UpdateStateOptions,
  UpdateStateTarget,
} from './types.js';
import type {
  SessionChange,
  SharedChange,
  WatchedChange,
  WatchOptions,
  WholeSessionChange,
  WholeSessionKey,
  WholeWatchOptions,
} from './watch.js';

/**
 * Everything that can be done with sessions, wherever they are: a `SessionService` has these operations, and so has a
 * client of `statepad/client`, with the same meaning. Code that takes either one takes this type.
 */
export interface SessionOperations {
  /** Creates a session. Throws `SESSION_EXISTS`, `VALUE_NOT_JSON`. */
  createSession(request: CreateSessionRequest): Promise<Session>;
  /** The current session, or `undefined` when it is missing. */
  getSession(request: GetSessionRequest | GetSessionByName): Promise<Session | undefined>;
  /** A session, which is created when it is missing. */
  getOrCreateSession(request: CreateSessionRequest): Promise<Session>;
  /** The sessions of an app, or of one of its users, without events. */
  listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse>;
  /** The apps that have a session or a value. */
  listApps(request?: ListAppsRequest): Promise<ListAppsResponse>;
  /** The users in an app that have a session or a value. */
  listUsers(request: ListUsersRequest): Promise<ListUsersResponse>;
  /** Deletes a session, which may be missing. */
  deleteSession(request: (SessionKey | SessionName) & Abortable): Promise<void>;
  /**
   * Appends an event, and brings the handle up to date. Throws `SESSION_NOT_FOUND`, `SESSION_STALE`,
   * `EVENT_ID_CONFLICT`, `VALUE_NOT_JSON`.
   */
  appendEvent(request: AppendEventRequest): Promise<Event>;
  /** The state of an app, under names without prefix. */
  getAppState(request: { readonly appName: string } & Abortable): Promise<Record<string, Json>>;
  /** The state of a user in an app, under names without prefix. */
  getUserState(
    request: { readonly appName: string; readonly userId: string } & Abortable,
  ): Promise<Record<string, Json>>;
  /** A read-modify-write that loses no concurrent write of others. Throws `STATE_CONFLICT`, `SESSION_NOT_FOUND`. */
  updateState(
    target: UpdateStateTarget | SessionName,
    fn: UpdateFunction,
    options?: UpdateStateOptions,
  ): Promise<Readonly<Record<string, Json>>>;
  /** The state of a session at a revision. */
  stateAt(
    session: SessionName,
    revision: number,
    options: StateAtOptions & { readonly detailed: true },
  ): Promise<DetailedState>;
  stateAt(
    session: SessionName,
    revision: number,
    options?: Abortable & { readonly detailed?: false | undefined },
  ): Promise<Readonly<Record<string, Json>>>;
  /** The writes of a key: of an `app:` or `user:` key by any session, or of any key by one session. */
  history(target: SharedKey, options?: HistoryOptions): Promise<SharedHistory>;
  history(
    session: SessionName,
    key: string,
    options: SessionHistoryOptions & { readonly detailed: true },
  ): Promise<DetailedHistory>;
  history(
    session: SessionName,
    key: string,
    options?: HistoryOptions & { readonly detailed?: false | undefined },
  ): Promise<readonly HistoryStep[]>;
  /** Deletes the oldest writes to an app's values, or to a user's, from the log. */
  trimHistory(
    target: { readonly appName: string; readonly userId?: string | undefined },
    options: TrimOptions,
  ): Promise<number>;
  /** Removes what has expired, or with `dryRun` counts it. */
  sweep(request?: SweepRequest): Promise<SweepAnswer>;
  /** Goes back in a session to before an invocation. */
  rewind(session: SessionName, options: RewindOptions): Promise<Rewound>;
  /** Undoes the last rewind. */
  redo(session: SessionName, options?: RedoOptions): Promise<Rewound>;
  /** Creates a session that continues from a moment of another one. */
  fork(session: SessionName, options?: ForkOptions): Promise<Session>;
  /** Takes the lease of a session. Throws `LEASE_HELD`. */
  lease(session: SessionName, options?: LeaseOptions): Promise<Lease>;
  /** The lease of a session that somebody has; `undefined` when nobody has one. */
  leaseOf(session: SessionName, options?: Abortable): Promise<HeldLease | undefined>;
  /** Runs a function under the lease of a session. Throws `LEASE_HELD`, `LEASE_LOST`. */
  withLease<T>(session: SessionName, fn: (lease: Lease) => T | PromiseLike<T>, options?: WithLeaseOptions): Promise<T>;
  /** Iterates over the changes of a whole session, of a session's events, or of the values of a user or an app. */
  watch(target: WholeSessionKey, options?: WholeWatchOptions): AsyncIterableIterator<WholeSessionChange>;
  watch(target: SessionName | SessionKey, options?: WatchOptions): AsyncIterableIterator<SessionChange>;
  watch(
    target: { readonly appName: string; readonly userId?: string | undefined; readonly sessionId?: undefined },
    options?: WatchOptions,
  ): AsyncIterableIterator<SharedChange>;
  watch(target: UpdateStateTarget, options?: WatchOptions): AsyncIterableIterator<WatchedChange>;
  /** Resolves when every earlier write was answered, or has failed. */
  flush(): Promise<void>;
  /** Ends all watches, and refuses later calls with `CLOSED`. Resolves as `flush`. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
