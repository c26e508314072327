// The session service: checks requests, and hands them to sessions in memory or over a store.

import { type AdmitOptions } from '../input/admit.js';
import { admitEvent } from '../input/event-draft.js';
import { checkedClock } from '../input/clock.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { InvocationContext, type InvocationOptions } from '../context/invocation.js';
import { watchChanges } from './watch.js';
import { MemoryBackend } from '../backend/memory-backend.js';
import {
  checkCount,
  checkFunction,
  checkObject,
  checkOptionalString,
  checkOptions,
  admitString,
} from '../checks/arguments.js';
import {
  OPTIONS,
  REQUESTS,
  checkConfig,
  checkDetailed,
  checkKey,
  checkList,
  checkRequest,
  checkSession,
  checkTarget,
  checkUpdateOptions,
  isSharedKey,
} from '../input/requests.js';
import { admitCreation, type SessionBackend } from '../backend/backend.js';
import { checkServiceOptions, checkStoreOptions, type StoreOptions } from './options.js';
import type { LogRetention } from '../session/shared-logs.js';
import type { StoredOptions } from '../backend/durable/options.js';
import type { UpdateQueues } from './update-state.js';
import { isReady, ready, refuseAfterFailure, requireReady } from '../engine/wasm.js';
import { type UpdateFunction } from '../backend/update-target.js';
import { foreignHandle } from '../session/other-services.js';
import type { ForkOptions, RedoOptions, RewindOptions, Rewound } from '../model/rewind.js';
import type { ServiceComponents } from './current-log.js';
import type { LogWriter } from './log-writer.js';
import type { Lease, LeaseOptions, WithLeaseOptions } from '../model/lease.js';
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
  ListSessionsRequest,
  ListSessionsResponse,
  Session,
  SessionKey,
  SessionName,
  UpdateStateOptions,
  UpdateStateTarget,
} from '../model/types.js';
import type {
  DetailedHistory,
  DetailedState,
  SessionHistoryOptions,
  SharedHistory,
  SharedKey,
  StateAtOptions,
  TrimOptions,
} from '../model/past.js';
import type {
  SessionChange,
  SharedChange,
  WatchedChange,
  WatchOptions,
  WholeSessionChange,
  WholeSessionKey,
  WholeWatchOptions,
} from '../model/watch.js';

/** Options of a {@link SessionService}. */
export interface SessionServiceOptions extends StoreOptions {
  /** The clock, in milliseconds since the epoch; `Date.now` unless told otherwise. */
  readonly now?: (() => number) | undefined;
  /** @internal How events are admitted. */
  readonly admit?: AdmitOptions | undefined;
}

/**
 * Keeps sessions: scoped state and an append-only log of events. In memory; or, with a `store` or the callbacks
 * `persist` and `restore`, wherever they keep them.
 *
 * A write is never dropped silently: it resolves when it is durable, or it throws a {@link StatepadError}. It has not
 * happened then, unless the code is `COMMIT_UNKNOWN`: then it may have happened. Every method throws `CLOSED` after
 * `close()`, and over a store also `STORE_UNAVAILABLE` and `STORE_CORRUPT`.
 *
 * @example
 * const service = new SessionService();
 * const session = await service.createSession({ appName: 'tutor', userId: 'ana', state: { 'user:visits': 1 } });
 * await service.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { topic: 'tides' } } } });
 * session.state; // { topic: 'tides', 'user:visits': 1 }
 */
export class SessionService {
  #sessions: SessionBackend | undefined;
  #starting: Promise<SessionBackend> | undefined;
  readonly #storeOptions: StoredOptions | undefined;
  readonly #now: () => number;
  readonly #admit: AdmitOptions;
  readonly #log: LogRetention;
  #updates: UpdateQueues | undefined;
  #isClosed = false;

  /** Throws `INVALID_ARGUMENT` when the options do not go together. */
  constructor(options: SessionServiceOptions = {}) {
    checkServiceOptions(options);
    const now = options.now === undefined ? Date.now : checkedClock(options.now);
    this.#now = now;
    this.#storeOptions = checkStoreOptions(options, now);
    this.#admit = options.admit ?? {};
    this.#log = options.log ?? 'last';
  }

  /**
   * Creates a session, at revision 0. The keys of `state` go where their prefix says: `app:` and `user:` keys reach
   * every session they belong to, also earlier ones; `temp:` keys are dropped.
   *
   * Throws `SESSION_EXISTS` when the id is taken, `VALUE_NOT_JSON`, `INVALID_ARGUMENT`; nothing is applied then.
   */
  async createSession(request: CreateSessionRequest): Promise<Session> {
    const creation = admitCreation(request);
    const sessions = this.#started(request) ?? (await this.#begin(request));
    return sessions.create(creation, request.signal);
  }

  /**
   * Gets a session as it is now, or `undefined` when there is none. A session may be given in the place of its key.
   * Throws `INVALID_ARGUMENT`.
   */
  async getSession(request: GetSessionRequest | GetSessionByName): Promise<Session | undefined> {
    checkRequest(request, REQUESTS.getSession);
    const key = checkKey(request);
    const config = checkConfig(request.config);
    const sessions = this.#started(request) ?? (await this.#begin(request));
    return sessions.get(key, config, request.signal);
  }

  /** Gets a session, or creates it when there is none. Throws as `createSession`, but never `SESSION_EXISTS`. */
  async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    const creation = admitCreation(request);
    const sessions = await this.#begin(request);
    const { signal } = request;
    const existing = await sessions.get(creation.key, undefined, signal);
    if (existing !== undefined) {
      return existing;
    }
    try {
      return await sessions.create(creation, signal);
    } catch (error) {
      // Another caller has created it meanwhile.
      const isTaken = isStatepadError(error) && error.code === 'SESSION_EXISTS';
      const created = isTaken ? await sessions.get(creation.key, undefined, signal) : undefined;
      if (created === undefined) {
        throw error;
      }
      return created;
    }
  }

  /**
   * Lists the sessions of an app, or of one of its users, by the time of their last event. The rows show their current
   * state and no events. Throws `INVALID_ARGUMENT`.
   */
  async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    checkRequest(request, REQUESTS.listSessions);
    const plan = checkList(request);
    const sessions = this.#started(request) ?? (await this.#begin(request));
    return await sessions.list(plan, request.signal);
  }

  /**
   * Deletes a session with its events and its own state; app and user state stay. It need not be there. A session may
   * be given in the place of its key. Through the handle of a lease it is a write as any other: it throws `LEASE_LOST`
   * once another has taken the lease, and over a store that cannot compare that, `INVALID_ARGUMENT`.
   */
  async deleteSession(request: (SessionKey | SessionName) & Abortable): Promise<void> {
    checkRequest(request, REQUESTS.deleteSession);
    const key = checkKey(request);
    const view = this.#sessions?.view(request);
    const lease = view?.lease;
    const sessions = await this.#begin(request);
    await sessions.remove(key, request.signal, lease && { lease, record: view.record });
  }

  /**
   * Appends an event, writes its delta, and brings the handle up to date with everything that has happened since.
   * Resolves to the stored event, frozen. A partial event is handed back and changes nothing.
   *
   * Throws `SESSION_NOT_FOUND`, `SESSION_STALE` (with `expectedRevision`), `EVENT_ID_CONFLICT`, `VALUE_NOT_JSON`,
   * `INVALID_ARGUMENT`; nothing has changed then.
   */
  async appendEvent(request: AppendEventRequest): Promise<Event> {
    checkRequest(request, REQUESTS.appendEvent);
    const { session, event, expectedRevision } = request;
    checkSession(session);
    checkObject(event, 'event');
    if (event.partial) {
      this.#started(request);
      return event as Event;
    }
    checkCount(expectedRevision, 'expectedRevision');
    const draft = admitEvent(event, this.#now, this.#admit);
    const sessions = this.#started(request) ?? (await this.#begin(request));
    return sessions.append({ session, draft, expectedRevision }, request.signal);
  }

  /** The state of an app, under names without prefix. The copy is the caller's. */
  async getAppState(request: { readonly appName: string } & Abortable): Promise<Record<string, Json>> {
    checkRequest(request, REQUESTS.getAppState);
    const appName = admitString(request.appName, 'appName');
    const sessions = await this.#begin(request);
    return (await sessions.scope(appName, undefined, request.signal)) as Record<string, Json>;
  }

  /** The state of a user in an app, under names without prefix. The copy is the caller's. */
  async getUserState(
    request: { readonly appName: string; readonly userId: string } & Abortable,
  ): Promise<Record<string, Json>> {
    checkRequest(request, REQUESTS.getUserState);
    const appName = admitString(request.appName, 'appName');
    const userId = admitString(request.userId, 'userId');
    const sessions = await this.#begin(request);
    return (await sessions.scope(appName, userId, request.signal)) as Record<string, Json>;
  }

  /**
   * Reads, computes and writes without losing what others write meanwhile. `fn` gets the current values and returns a
   * delta, both under full keys; it runs again when what it read no longer holds. With a `sessionId`, or for a
   * session, the values are those of the session and the delta becomes an event of it; otherwise they are the `user:`
   * and `app:` keys, and without a `userId` the `app:` keys. Resolves to the values right after the update, frozen:
   * for every key that it read or wrote, operators included, they are those of this call, also when an answer of the
   * store was lost and others have written since.
   *
   * `fn` may answer with a promise. An answer of `undefined` writes nothing, as `{}` does; but in development a
   * process warning tells of the first one, because a function that changes the values in place ends in the same way.
   *
   * Throws `STATE_CONFLICT` after `attempts` runs, `SESSION_NOT_FOUND`, `VALUE_NOT_JSON`, `INVALID_ARGUMENT` for keys
   * that do not belong to what is updated and for any other answer than a plain object, and what `fn` throws.
   *
   * @example
   * await service.updateState({ appName, userId }, (state) => ({ 'user:visits': Number(state['user:visits'] ?? 0) + 1
   * }));
   */
  async updateState(
    target: UpdateStateTarget | SessionName,
    fn: UpdateFunction,
    options: UpdateStateOptions = {},
  ): Promise<Readonly<Record<string, Json>>> {
    const checked = checkTarget(target);
    checkFunction(fn, 'fn');
    const { attempts = 100, signal } = checkUpdateOptions(options);
    const lease = this.#sessions?.view(target)?.lease;
    const sessions = await this.#begin(options);
    // Loaded at the first update.
    const { UpdateQueues, updateState } = await import('./update-state.js');
    this.#refuseWhenClosed();
    const reservation = sessions.reservation?.(checked, signal);
    const queues = (this.#updates ??= new UpdateQueues());
    const plan = { attempts, signal, queues, target: checked, reservation };
    return await updateState(await sessions.target(checked, options, lease), fn, plan);
  }

  /**
   * The state of a session as it was at a revision: from 0, the creation, to the revision of the handle. Under full
   * keys, frozen, without `temp:` keys.
   *
   * The session's own keys are exactly as they were. So are `app:` and `user:` keys, just after the event, where what
   * was written to them is kept: without a store, and over a store with a log, as far back as that goes. Elsewhere
   * they are as this session's own log had left them, and those that it never wrote are as the handle shows them;
   * `detailed` tells: the answer is `{ state, exact }` then.
   *
   * Throws `INVALID_ARGUMENT` for a revision that the handle does not have, `SESSION_NOT_FOUND`.
   */
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
    const [past, sessions] = await this.#loadPast(options);
    const answer = await past.stateAt(sessions, session, revision, options.signal);
    return options.detailed ? answer : answer.state;
  }

  /**
   * What wrote a key, oldest first: the revision, the event, when, and the values before and after. Of an `app:` or
   * `user:` key these are the writes of this session; `from` is the value that was there, where what was written to it
   * is kept, and elsewhere what this session wrote before: `detailed` tells, the answer is `{ exact, steps }` then.
   * The handle says up to where.
   *
   * With `{ appName, userId, key }` in the place of a session: all writes of an `app:` or `user:` key, by whichever
   * session, as `{ exact, steps }`; `until` is a position. `exact` is false where some are not known.
   *
   * Throws `INVALID_ARGUMENT`, `SESSION_NOT_FOUND`.
   *
   * @example
   * for (const { revision, event, from, to } of await service.history(session, 'topic')) {
   *   console.log(revision, event?.author, from, to);
   * }
   */
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
      const [past, sessions] = await this.#loadPast({});
      return await past.sharedHistory(sessions, session, (key ?? {}) as HistoryOptions);
    }
    const name = admitString(key, 'key');
    checkDetailed(detail, OPTIONS.sessionHistory);
    checkSession(session);
    const [past, sessions] = await this.#loadPast(detail);
    const answer = await past.history(sessions, session, name, detail);
    return detail.detailed ? answer : answer.steps;
  }

  /**
   * Deletes the oldest part of what is kept of the writes to an app's values, or to a user's: their past is not exact
   * any more before that. The values stay. Answers how many changes were deleted. Throws `INVALID_ARGUMENT`, also
   * where nothing is kept that could be trimmed.
   *
   * @example
   * await service.trimHistory({ appName: 'tutor' }, { before: Date.now() - 30 * 24 * 3600 * 1000 });
   */
  async trimHistory(
    target: { readonly appName: string; readonly userId?: string | undefined },
    options: TrimOptions,
  ): Promise<number> {
    const [past, sessions] = await this.#loadPast({});
    return await past.trimHistory(sessions, target, options);
  }

  /**
   * Goes back in a session: its own keys become what they were right before the first event of an invocation, those of
   * its creation included. Nothing is taken out of the log: one more event, the marker, says so
   * (`actions.rewindBeforeInvocationId`), as ADK's readers understand it. `app:` and `user:` keys stay as they are,
   * because others share them; the answer names those that the undone turns had written.
   *
   * Where others write meanwhile, it is done anew over what they have written. Throws `INVALID_ARGUMENT` when no event
   * of the invocation stands, and over a store that compares no revisions; `SESSION_NOT_FOUND`, `STATE_CONFLICT`.
   *
   * @example
   * const { shared } = await service.rewind(session, { before: invocationId });
   */
  async rewind(session: SessionName, options: RewindOptions): Promise<Rewound> {
    checkObject(options, 'options');
    checkOptions(options, OPTIONS.rewind);
    const lease = this.#sessions?.view(session)?.lease;
    const components = await this.#componentsFor(session, options);
    const { rewind } = await import('./rewind.js');
    return await rewind({ ...components, lease }, session, options);
  }

  /**
   * Takes the last rewind back that has not been taken back yet, as long as no other event was appended since: the
   * session's own keys become what they were before it. Throws `INVALID_ARGUMENT` when there is nothing to take back;
   * otherwise as `rewind`.
   */
  async redo(session: SessionName, options: RedoOptions = {}): Promise<Rewound> {
    checkOptions(options, OPTIONS.redo);
    const lease = this.#sessions?.view(session)?.lease;
    const components = await this.#componentsFor(session, options);
    const { redo } = await import('./rewind.js');
    return await redo({ ...components, lease }, session, options);
  }

  /**
   * Creates a session that goes on from a moment of another one: with what that began with and its events up to a
   * revision, ids and times included, and its own keys as they were there. The two share nothing of what comes later
   * but the `app:` and `user:` keys, which a fork does not write: they are as they are now. The last event says where
   * it comes from: `customMetadata.statepad.forkedFrom`, `{ sessionId, revision }`.
   *
   * Nobody sees it before it is whole. When it fails midway, it goes on when it is asked for again with the same
   * `sessionId`; until then the id is taken for all else. With an id that was made for it, it is removed again.
   *
   * Throws `INVALID_ARGUMENT` for a revision that the session does not have, `SESSION_NOT_FOUND`, `SESSION_EXISTS`.
   */
  async fork(session: SessionName, options: ForkOptions = {}): Promise<Session> {
    checkOptions(options, OPTIONS.fork);
    checkCount(options.at, 'at');
    const components = await this.#componentsFor(session, options);
    const { fork } = await import('./fork.js');
    return await fork(components, session, options);
  }

  /**
   * Takes the lease of a session, so that one runner at a time works on it: what is written through the lease's
   * handle is refused once another has taken the lease (`LEASE_LOST`), in other processes, too. It does not keep those
   * from writing that ask for no lease. It lasts for `ttl` by the store's clock, and after that until another takes
   * it.
   *
   * Throws `LEASE_HELD` while another holder has it, `SESSION_NOT_FOUND`, `INVALID_ARGUMENT` over a store that keeps
   * no leases, `LEASE_LOST` for a handle that has lost one: get the session again.
   *
   * @example
   * await using lease = await service.lease(session, { ttl: 10_000 });
   * await service.appendEvent({ session: lease.session, event });
   */
  async lease(session: SessionName, options: LeaseOptions = {}): Promise<Lease> {
    checkOptions(options, OPTIONS.lease);
    const [{ checkLeaseOptions, takeLease }, keeper] = await this.#loadLeases(session, options);
    return await takeLease(keeper, session, checkLeaseOptions(options));
  }

  /**
   * Runs a function under the lease of a session, which is renewed while it runs and given back after that. While
   * another holder has it, waits for it for `wait` milliseconds. Throws as `lease`, what the function throws, and else
   * `LEASE_LOST` when another has taken the lease before the function was done.
   *
   * @example
   * await service.withLease(session, async ({ session, signal }) => await run(session, signal), { wait: 5_000 });
   */
  async withLease<T>(
    session: SessionName,
    fn: (lease: Lease) => T | PromiseLike<T>,
    options: WithLeaseOptions = {},
  ): Promise<T> {
    checkFunction(fn, 'fn');
    checkOptions(options, OPTIONS.withLease);
    const [{ checkLeaseOptions, runLeased, takeLease }, keeper] = await this.#loadLeases(session, options);
    return await runLeased(await takeLease(keeper, session, checkLeaseOptions(options)), fn);
  }

  /**
   * Tells the changes of a session, event by event, or those of the values of an app or of a user in it; of a session
   * with `whole: true` all of it: first the session as it is, then its events and the values of its app and its user,
   * by which `applyChange` keeps it up to date.
   *
   * It reads when it is asked for the next one: a reader that is slow holds no memory and no writer, and goes on from
   * its place. Writes of this service wake it at once; others do by the hints of the store, and every `poll`
   * milliseconds.
   *
   * It goes on until the loop is left, `signal` is aborted, which throws its reason, the session is deleted, or the
   * service is closed. Throws `INVALID_ARGUMENT`; reading throws `SESSION_NOT_FOUND`, and what a store throws: begin
   * again with `since` then.
   *
   * @example
   * for await (const change of service.watch(session)) {
   *   if (change.type === 'event') console.log(change.revision, change.event.author);
   * }
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
    const changes = watchChanges(
      {
        refuseWhenClosed: () => this.#refuseWhenClosed(),
        begin: async (abortable) => await this.#begin(abortable),
        view: (session) => this.#sessions?.view(session),
      },
      target,
      options,
    );
    return changes as AsyncIterableIterator<SessionChange & SharedChange & WholeSessionChange>;
  }

  /**
   * Begins an invocation: a context whose state sees pending writes at once and puts them into the next event.
   * Throws `INVALID_ARGUMENT` for anything but a handle of this service, `NOT_READY` in a browser before the module
   * is loaded.
   */
  invocation(session: Session, options: InvocationOptions = {}): InvocationContext {
    requireReady('invocation()');
    checkOptions(options, OPTIONS.invocation);
    checkOptionalString(options.invocationId, 'invocationId');
    checkOptionalString(options.author, 'author');
    this.#refuseWhenClosed();
    const view = this.#sessions?.view(session);
    if (view === undefined) {
      throw foreignHandle(session);
    }
    return new InvocationContext(
      {
        session,
        append: async (event, context, shown) => {
          const draft = admitEvent(event, this.#now, this.#admit, context);
          const sessions = this.#started({}) ?? (await this.#begin({}));
          return sessions.append({ session, draft, expectedRevision: undefined, shown });
        },
        find: async (id) => {
          const { appName, userId, id: sessionId } = session;
          return (await this.getSession({ appName, userId, sessionId }))?.events.find((event) => event.id === id);
        },
        dropTemp: () => {
          view.temp = undefined;
          view.state = undefined;
        },
      },
      options,
    );
  }

  /** @internal What is brought over from elsewhere is written through it. */
  async logWriter(options: Abortable): Promise<LogWriter> {
    const sessions = await this.#begin(options);
    // Loaded at the first call that needs it.
    const { logWriter } = await import('./log-writer.js');
    return logWriter({ sessions, now: this.#now });
  }

  /** Resolves when every write that was asked for before is durable, or has failed and told its caller so. */
  async flush(): Promise<void> {
    await this.#sessions?.flush();
  }

  /**
   * Finishes: writes that were asked for are made durable, later calls throw `CLOSED`, and the store lets go of what
   * it has opened itself. A store that does not answer within `timeout` is not waited for: the writes that are left
   * throw `COMMIT_UNKNOWN`, or `STORE_UNAVAILABLE` where they are surely not stored. May be called more than once.
   */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      await this.#sessions?.close();
    }
  }

  /** As {@link SessionService.close}: `await using service = new SessionService({ store })`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** The sessions, if they can be used at once. */
  #started({ signal }: Abortable): SessionBackend | undefined {
    signal?.throwIfAborted();
    this.#refuseWhenClosed();
    return this.#sessions;
  }

  /** The code that tells the past is loaded at the first call that needs it. */
  async #loadPast(options: Abortable): Promise<[typeof import('./past.js'), SessionBackend]> {
    const sessions = await this.#begin(options);
    return [await import('./past.js'), sessions];
  }

  /** The code that leases is loaded at the first call that needs it. */
  async #loadLeases(
    session: SessionName,
    options: Abortable,
  ): Promise<[typeof import('./lease.js'), ServiceComponents]> {
    const components = await this.#componentsFor(session, options);
    return [await import('./lease.js'), components];
  }

  async #componentsFor(session: SessionName, options: Abortable): Promise<ServiceComponents> {
    checkSession(session);
    return { sessions: await this.#begin(options), now: this.#now };
  }

  async #begin(request: Abortable): Promise<SessionBackend> {
    const sessions = this.#started(request);
    if (sessions !== undefined) {
      return sessions;
    }
    const started = await (this.#starting ??= this.#start());
    this.#refuseWhenClosed();
    return started;
  }

  async #start(): Promise<SessionBackend> {
    try {
      if (!isReady()) {
        await ready();
      }
      // What only stores need is loaded when there is one.
      this.#sessions =
        this.#storeOptions === undefined
          ? new MemoryBackend(this.#now, this.#log)
          : new (await import('../backend/durable/store-backend.js')).StoreBackend(this.#storeOptions);
      return this.#sessions;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }

  #refuseWhenClosed(): void {
    refuseAfterFailure();
    if (this.#isClosed) {
      throw new StatepadError('CLOSED', 'the service is closed');
    }
  }
}

/** {@link SessionService} under the name that ADK's users know. */
export class InMemorySessionService extends SessionService {}
