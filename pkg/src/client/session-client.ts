// The client of a server: checks requests, and sends them.

import { append } from './append.js';
import { Calls } from './calls.js';
import { listApps, listSessions, listUsers } from './lists.js';
import { history, sharedHistory, stateAt } from './past.js';
import { getSession, readScope } from './reading.js';
import { throughHandle } from './through-handle.js';
import { watchesOf, type ClientWatches } from './watch/client-watches.js';
import { checkSweep, sweep } from './sweep.js';
import { create, fork, mark, remove, trimHistory } from './writing.js';
import { admitString, checkCount, checkFunction, checkObject, checkOptions } from '../checks/arguments.js';
import { admitCreation, sessionIdFrom } from '../input/creation.js';
import { admitEvent } from '../input/event-draft.js';
import { OF_SERVER, admitEnd } from '../input/expiry.js';
import { checkSharedKey, checkTrim } from '../input/past-requests.js';
import {
  checkConfig,
  checkDetailed,
  checkKey,
  checkList,
  checkNameLimit,
  checkRequest,
  checkSession,
  checkTarget,
  checkUpdateOptions,
  isSharedKey,
  OPTIONS,
  REQUESTS,
} from '../input/requests.js';
import type { CheckedConnection } from './options.js';
import type { UpdateQueues } from '../update/update-state.js';
import type { HeldLease, Lease, LeaseOptions, WithLeaseOptions } from '../model/lease.js';
import type { SessionOperations } from '../model/operations.js';
import type {
  DetailedHistory,
  DetailedState,
  SessionHistoryOptions,
  SharedHistory,
  SharedKey,
  StateAtOptions,
  TrimOptions,
} from '../model/past.js';
import type { ForkOptions, RedoOptions, RewindOptions, Rewound } from '../model/rewind.js';
import type { SweepAnswer, SweepRequest } from '../model/sweep.js';
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
} from '../model/types.js';
import type {
  SessionChange,
  SharedChange,
  WatchedChange,
  WatchOptions,
  WholeSessionChange,
  WholeSessionKey,
  WholeWatchOptions,
} from '../model/watch.js';

/** The options of a rewind and of a redo that HTTP can carry. */
const MARKS = { rewind: ['before', 'signal'], redo: ['signal'] } as const;

/**
 * The sessions behind a server of `statepad/serve`: the methods of a `SessionService`, with the same arguments,
 * answers and errors. `connect` makes one.
 *
 * A write that resolves is durable. It is sent once and for all: an answer that got lost is asked for again under the
 * same identity. What stays unknown is `COMMIT_UNKNOWN`; a server that cannot be reached is `STORE_UNAVAILABLE`. Every
 * method also throws the errors of the server: `UNAUTHENTICATED`, `FORBIDDEN`, `TOO_LARGE`, `TOO_MANY_REQUESTS`.
 */
export class SessionClient implements SessionOperations {
  readonly #calls: Calls;
  readonly #watches: ClientWatches;
  #updates: UpdateQueues | undefined;

  /** @internal */
  constructor(options: CheckedConnection) {
    this.#calls = new Calls(options);
    this.#watches = watchesOf(this.#calls, options);
  }

  /** See `SessionService.createSession`. */
  async createSession(request: CreateSessionRequest): Promise<Session> {
    const creation = admitCreation(request);
    this.#calls.begin(request);
    return await create(this.#calls, 'sessions', creation, request, request.signal);
  }

  /** See `SessionService.getSession`. */
  async getSession(request: GetSessionRequest | GetSessionByName): Promise<Session | undefined> {
    checkRequest(request, REQUESTS.getSession);
    const key = checkKey(request);
    const config = checkConfig(request.config);
    this.#calls.begin(request);
    return await getSession(this.#calls, key, config, request.signal);
  }

  /** See `SessionService.getOrCreateSession`. */
  async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    const creation = admitCreation(request);
    this.#calls.begin(request);
    return await create(this.#calls, 'getOrCreateSession', creation, request, request.signal);
  }

  /** See `SessionService.listSessions`. */
  async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    checkRequest(request, REQUESTS.listSessions);
    const plan = checkList(request);
    this.#calls.begin(request);
    return await listSessions(this.#calls, plan, request.signal);
  }

  /** See `SessionService.listApps`. Lists those that the client may see. */
  async listApps(request: ListAppsRequest = {}): Promise<ListAppsResponse> {
    checkRequest(request, REQUESTS.listApps);
    checkNames(request);
    this.#calls.begin(request);
    return await listApps(this.#calls, request);
  }

  /** See `SessionService.listUsers`. Lists those that the client may see. */
  async listUsers(request: ListUsersRequest): Promise<ListUsersResponse> {
    checkRequest(request, REQUESTS.listUsers);
    const appName = admitString(request.appName, 'appName');
    checkNames(request);
    this.#calls.begin(request);
    return await listUsers(this.#calls, { ...request, appName });
  }

  /** See `SessionService.deleteSession`. */
  async deleteSession(request: (SessionKey | SessionName) & Abortable): Promise<void> {
    checkRequest(request, REQUESTS.deleteSession);
    const key = checkKey(request);
    this.#calls.begin(request);
    await remove(this.#calls, request, key, request.signal);
  }

  /** See `SessionService.appendEvent`. The server sets the time of an event that has none. */
  async appendEvent(request: AppendEventRequest): Promise<Event> {
    checkRequest(request, REQUESTS.appendEvent);
    const { session, event, expectedRevision, signal } = request;
    checkSession(session);
    checkObject(event, 'event');
    if (event.partial) {
      this.#calls.begin(request);
      return event as Event;
    }
    checkCount(expectedRevision, 'expectedRevision');
    const draft = admitEvent(event, Date.now, {});
    this.#calls.begin(request);
    return await append(this.#calls, { session, draft, expectedRevision }, signal);
  }

  /** See `SessionService.getAppState`. */
  async getAppState(request: { readonly appName: string } & Abortable): Promise<Record<string, Json>> {
    checkRequest(request, REQUESTS.getAppState);
    const appName = admitString(request.appName, 'appName');
    this.#calls.begin(request);
    return await readScope(this.#calls, { appName }, request.signal);
  }

  /** See `SessionService.getUserState`. */
  async getUserState(
    request: { readonly appName: string; readonly userId: string } & Abortable,
  ): Promise<Record<string, Json>> {
    checkRequest(request, REQUESTS.getUserState);
    const appName = admitString(request.appName, 'appName');
    const userId = admitString(request.userId, 'userId');
    this.#calls.begin(request);
    return await readScope(this.#calls, { appName, userId }, request.signal);
  }

  /** See `SessionService.updateState`. The function runs here; the server compares the values that it has read. */
  async updateState(
    target: UpdateStateTarget | SessionName,
    fn: UpdateFunction,
    options: UpdateStateOptions = {},
  ): Promise<Readonly<Record<string, Json>>> {
    const checked = checkTarget(target);
    checkFunction(fn, 'fn');
    const { attempts = 100, signal } = checkUpdateOptions(options);
    const throughIt = throughHandle(this.#calls.view(target));
    this.#calls.begin(options);
    // Loaded at the first update.
    const { UpdateQueues, remoteTarget, updateState } = await import('./update.js');
    this.#calls.begin(options);
    const queues = (this.#updates ??= new UpdateQueues());
    const plan = { attempts, signal, queues, target: checked };
    return await this.#calls.counted(updateState(remoteTarget(this.#calls, checked, options, throughIt), fn, plan));
  }

  /** See `SessionService.stateAt`. */
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
  async stateAt(
    session: SessionName,
    revision: number,
    options: StateAtOptions = {},
  ): Promise<Readonly<Record<string, Json>> | DetailedState> {
    checkDetailed(options, OPTIONS.stateAt);
    checkSession(session);
    this.#calls.begin(options);
    const answer = await stateAt(this.#calls, session, revision, options.signal);
    return options.detailed ? answer : answer.state;
  }

  /** See `SessionService.history`. */
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
  async history(
    session: SessionName | SharedKey,
    key?: string | HistoryOptions,
    detail: SessionHistoryOptions = {},
  ): Promise<readonly HistoryStep[] | DetailedHistory | SharedHistory> {
    if (isSharedKey(session)) {
      return await this.#sharedHistory(session, (key ?? {}) as HistoryOptions);
    }
    const name = admitString(key, 'key');
    checkDetailed(detail, OPTIONS.sessionHistory);
    checkSession(session);
    checkCount(detail.last, 'last');
    this.#calls.begin(detail);
    const answer = await history(this.#calls, session, name, detail);
    return detail.detailed ? answer : answer.steps;
  }

  /** See `SessionService.trimHistory`. */
  async trimHistory(
    target: { readonly appName: string; readonly userId?: string | undefined },
    options: TrimOptions,
  ): Promise<number> {
    const scope = checkTrim(target, options);
    this.#calls.begin(options);
    return await trimHistory(this.#calls, scope, options);
  }

  /** See `SessionService.sweep`. It takes the right `sweep`, and for all apps `apps: 'all'`. */
  async sweep(request: SweepRequest = {}): Promise<SweepAnswer> {
    checkSweep(request);
    this.#calls.begin(request);
    return await sweep(this.#calls, request);
  }

  /** See `SessionService.rewind`. */
  async rewind(session: SessionName, options: RewindOptions): Promise<Rewound> {
    checkObject(options, 'options');
    checkOptions(options, MARKS.rewind);
    checkSession(session);
    const before = admitString(options.before, 'before');
    this.#calls.begin(options);
    return await mark(this.#calls, 'rewind', session, { before, signal: options.signal });
  }

  /** See `SessionService.redo`. */
  async redo(session: SessionName, options: RedoOptions = {}): Promise<Rewound> {
    checkOptions(options, MARKS.redo);
    checkSession(session);
    this.#calls.begin(options);
    return await mark(this.#calls, 'redo', session, { signal: options.signal });
  }

  /** See `SessionService.fork`. */
  async fork(session: SessionName, options: ForkOptions = {}): Promise<Session> {
    checkOptions(options, OPTIONS.fork);
    checkCount(options.at, 'at');
    admitEnd(options, OF_SERVER);
    checkSession(session);
    const { id, isNew } = sessionIdFrom(options.sessionId);
    this.#calls.begin(options);
    return await fork(this.#calls, session, { ...options, sessionId: isNew ? undefined : id });
  }

  /** See `SessionService.lease`. */
  async lease(session: SessionName, options: LeaseOptions = {}): Promise<Lease> {
    checkOptions(options, OPTIONS.lease);
    checkSession(session);
    this.#calls.begin(options);
    const { takeLease } = await import('./leases.js');
    return await takeLease(this.#calls, session, options);
  }

  /** See `SessionService.leaseOf`. */
  async leaseOf(session: SessionName, options: Abortable = {}): Promise<HeldLease | undefined> {
    checkOptions(options, OPTIONS.abortable);
    checkSession(session);
    this.#calls.begin(options);
    const { leaseOf } = await import('./leases.js');
    return await leaseOf(this.#calls, session, options.signal);
  }

  /** See `SessionService.withLease`. */
  async withLease<T>(
    session: SessionName,
    fn: (lease: Lease) => T | PromiseLike<T>,
    options: WithLeaseOptions = {},
  ): Promise<T> {
    checkFunction(fn, 'fn');
    checkOptions(options, OPTIONS.withLease);
    checkSession(session);
    this.#calls.begin(options);
    const { withLease } = await import('./leases.js');
    return await withLease(this.#calls, session, options, fn);
  }

  /**
   * See `SessionService.watch`. All watches of a client share one connection, and readers of one whole session its
   * changes. A broken connection is renewed, with growing pauses while that fails, and resumes where it broke: no
   * change is lost or repeated. Before the first answer for its target, the iterator throws `STORE_UNAVAILABLE`
   * instead. The server decides the pace: `poll` and `buffer` have no effect.
   */
  watch(target: WholeSessionKey, options?: WholeWatchOptions): AsyncIterableIterator<WholeSessionChange>;
  watch(target: SessionName | SessionKey, options?: WatchOptions): AsyncIterableIterator<SessionChange>;
  watch(
    target: { readonly appName: string; readonly userId?: string | undefined; readonly sessionId?: undefined },
    options?: WatchOptions,
  ): AsyncIterableIterator<SharedChange>;
  watch(target: UpdateStateTarget, options?: WatchOptions): AsyncIterableIterator<WatchedChange>;
  watch(
    target: UpdateStateTarget | SessionName | WholeSessionKey,
    options: WatchOptions | WholeWatchOptions = {},
  ): AsyncIterableIterator<SessionChange & SharedChange & WholeSessionChange> {
    this.#calls.begin({});
    return this.#watches.watch(target, options);
  }

  /** Resolves when every earlier write was answered, or has failed with an error to its caller. */
  async flush(): Promise<void> {
    await this.#calls.flush();
  }

  /**
   * Closes the client: its watches end, later calls throw `CLOSED`, and writes in progress are waited for, `timeout`
   * at most. The server and its sessions stay. May be called more than once.
   */
  async close(): Promise<void> {
    this.#watches.close();
    await this.#calls.close();
  }

  /** As {@link SessionClient.close}: `await using client = connect(url)`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #sharedHistory(key: SharedKey, options: HistoryOptions): Promise<SharedHistory> {
    const checked = checkSharedKey(key);
    checkOptions(options, OPTIONS.history);
    checkCount(options.last, 'last');
    checkCount(options.until, 'until');
    this.#calls.begin(options);
    return await sharedHistory(this.#calls, checked, options);
  }
}

function checkNames({ limit, cursor }: ListAppsRequest): void {
  checkNameLimit(limit);
  if (cursor !== undefined) {
    admitString(cursor, 'cursor');
  }
}
