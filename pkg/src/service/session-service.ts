// The session service: checks requests, and passes them to sessions in memory or over a store.

import { type AdmitOptions } from '../input/admit.js';
import { admitEvent } from '../input/event-draft.js';
import { isStatepadError } from '../model/errors.js';
import { InvocationContext, type InvocationOptions } from '../context/invocation.js';
import { watchChanges, type AnyChanges } from './watch.js';
import { Lifetime } from './lifetime.js';
import { SessionDirectory } from './session-directory.js';
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
  checkKey,
  checkList,
  checkRequest,
  checkSession,
  checkTarget,
  checkUpdateOptions,
} from '../input/requests.js';
import { admitCreation } from '../input/creation.js';
import type { StoreOptions } from './options.js';
import type { UpdateQueues } from '../update/update-state.js';
import { requireReady } from '../engine/wasm.js';
import { foreignHandle } from '../session/other-services.js';
import type { ServiceComponents } from './current-log.js';
import type { HeldLease, Lease, LeaseOptions, WithLeaseOptions } from '../model/lease.js';
import type {
  Abortable,
  AppendEventRequest,
  CreateSessionRequest,
  Event,
  GetSessionByName,
  GetSessionRequest,
  Json,
  ListSessionsRequest,
  ListSessionsResponse,
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

/** Options of a {@link SessionService}. */
export interface SessionServiceOptions extends StoreOptions {
  /** The clock, in milliseconds since the epoch; `Date.now` by default. */
  readonly now?: (() => number) | undefined;
  /** @internal The admission of events. */
  readonly admit?: AdmitOptions | undefined;
}

/**
 * A service for sessions: scoped state and an append-only log of events. In memory; or, with a `store` or the
 * callbacks `persist` and `restore`, wherever they keep it.
 *
 * A write is never dropped silently: it resolves when it is durable, or throws a {@link StatepadError}. It has not
 * happened then, unless the code is `COMMIT_UNKNOWN`: then it may have. Every method throws `CLOSED` after `close()`,
 * and over a store also `STORE_UNAVAILABLE` and `STORE_CORRUPT`.
 *
 * @example
 * const service = new SessionService();
 * const session = await service.createSession({ appName: 'tutor', userId: 'ana', state: { 'user:visits': 1 } });
 * await service.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { topic: 'tides' } } } });
 * session.state; // { topic: 'tides', 'user:visits': 1 }
 */
export class SessionService extends SessionDirectory {
  readonly #lifetime: Lifetime;
  readonly #admit: AdmitOptions;
  #updates: UpdateQueues | undefined;

  /** Throws `INVALID_ARGUMENT` for options that exclude each other. */
  constructor(options: SessionServiceOptions = {}) {
    const lifetime = new Lifetime(options);
    super(lifetime);
    this.#lifetime = lifetime;
    this.#admit = options.admit ?? {};
  }

  /**
   * Creates a session, at revision 0. The prefix of each key of `state` chooses its scope: `app:` and `user:` keys
   * reach every session they belong to, earlier ones as well; `temp:` keys are dropped.
   *
   * Throws `SESSION_EXISTS` when the id is taken, `VALUE_NOT_JSON`, `INVALID_ARGUMENT`; nothing is applied then.
   */
  async createSession(request: CreateSessionRequest): Promise<Session> {
    const creation = admitCreation(request, this.#lifetime);
    const sessions = this.#lifetime.started(request) ?? (await this.#lifetime.begin(request));
    return sessions.create(creation, request.signal);
  }

  /**
   * Returns the current session, or `undefined` when it is missing. A session may stand in place of its key. Throws
   * `INVALID_ARGUMENT`.
   */
  async getSession(request: GetSessionRequest | GetSessionByName): Promise<Session | undefined> {
    checkRequest(request, REQUESTS.getSession);
    const key = checkKey(request);
    const config = checkConfig(request.config);
    const sessions = this.#lifetime.started(request) ?? (await this.#lifetime.begin(request));
    return sessions.get(key, config, request.signal);
  }

  /** Returns a session, and creates it when it is missing. Throws as `createSession`, but never `SESSION_EXISTS`. */
  async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    const creation = admitCreation(request, this.#lifetime);
    const sessions = await this.#lifetime.begin(request);
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
    const sessions = this.#lifetime.started(request) ?? (await this.#lifetime.begin(request));
    return await sessions.list(plan, request.signal);
  }

  /**
   * Deletes a session with its events and its own state; app and user state stay. It may be missing. A session may
   * stand in place of its key. Through the handle of a lease it is a write as any other: it throws `LEASE_LOST` once
   * another has taken the lease, and `INVALID_ARGUMENT` over a store that cannot compare the lease.
   */
  async deleteSession(request: (SessionKey | SessionName) & Abortable): Promise<void> {
    checkRequest(request, REQUESTS.deleteSession);
    const key = checkKey(request);
    const view = this.#lifetime.view(request);
    const lease = view?.lease;
    const sessions = await this.#lifetime.begin(request);
    await sessions.remove(key, request.signal, lease && { lease, created: view.record.created });
  }

  /**
   * Appends an event, writes its delta, and brings the handle up to date with everything written since. Resolves to
   * the stored event, frozen. A partial event is returned as it is, and changes nothing.
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
      this.#lifetime.started(request);
      return event as Event;
    }
    checkCount(expectedRevision, 'expectedRevision');
    const draft = admitEvent(event, this.#lifetime.now, this.#admit);
    const sessions = this.#lifetime.started(request) ?? (await this.#lifetime.begin(request));
    return sessions.append({ session, draft, expectedRevision }, request.signal);
  }

  /** Returns the state of an app, under names without prefix, as a copy of the caller's own. */
  async getAppState(request: { readonly appName: string } & Abortable): Promise<Record<string, Json>> {
    checkRequest(request, REQUESTS.getAppState);
    return await this.#readScope(request, admitString(request.appName, 'appName'));
  }

  /** Returns the state of a user in an app, under names without prefix, as a copy of the caller's own. */
  async getUserState(
    request: { readonly appName: string; readonly userId: string } & Abortable,
  ): Promise<Record<string, Json>> {
    checkRequest(request, REQUESTS.getUserState);
    const appName = admitString(request.appName, 'appName');
    return await this.#readScope(request, appName, admitString(request.userId, 'userId'));
  }

  /**
   * Reads, computes and writes without losing the concurrent writes of others. `fn` receives the current values and
   * returns a delta, both under full keys; it runs again when its values no longer hold. With a `sessionId`, or for a
   * session, the values are those of the session and the delta becomes an event of it; otherwise they are the `user:`
   * and `app:` keys, and without a `userId` the `app:` keys. Resolves to the values right after the update, frozen:
   * every key that it read or wrote, also by an operator, has the value of this call, even when an answer of the store
   * was lost and others have written since.
   *
   * `fn` may return a promise. `undefined` writes nothing, as `{}` does; but in development a process warning reports
   * the first one, because a function that changes the values in place ends in the same way.
   *
   * Throws `STATE_CONFLICT` after `attempts` runs, `SESSION_NOT_FOUND`, `VALUE_NOT_JSON`, `INVALID_ARGUMENT` for keys
   * outside of the target and for any answer but a plain object, and the errors of `fn`.
   *
   * @example
   * await service.updateState({ appName, userId }, (state) => {
   *   return { 'user:visits': Number(state['user:visits'] ?? 0) + 1 };
   * });
   */
  async updateState(
    target: UpdateStateTarget | SessionName,
    fn: UpdateFunction,
    options: UpdateStateOptions = {},
  ): Promise<Readonly<Record<string, Json>>> {
    const checked = checkTarget(target);
    checkFunction(fn, 'fn');
    const { attempts = 100, signal } = checkUpdateOptions(options);
    const lease = this.#lifetime.view(target)?.lease;
    const sessions = await this.#lifetime.begin(options);
    // Loaded at the first update.
    const { UpdateQueues, updateState } = await import('../update/update-state.js');
    this.#lifetime.refuseWhenClosed();
    const reservation = sessions.reservation?.(checked, signal);
    const queues = (this.#updates ??= new UpdateQueues());
    const plan = { attempts, signal, queues, target: checked, reservation };
    return await updateState(await sessions.target(checked, options, lease), fn, plan);
  }

  /**
   * Takes the lease of a session, so that one runner at a time works on it: writes through the lease's handle are
   * refused once another has taken the lease (`LEASE_LOST`), in other processes as well. Callers that ask for no lease
   * are not kept from writing. It lasts for `ttl` by the store's clock, and after that until another takes it.
   *
   * Throws `LEASE_HELD` while another holder has it, `SESSION_NOT_FOUND`, `INVALID_ARGUMENT` over a store without
   * leases, `LEASE_LOST` for a handle that has lost one: get the session again.
   *
   * @example
   * await using lease = await service.lease(session, { ttl: 10_000 });
   * await service.appendEvent({ session: lease.session, event });
   */
  async lease(session: SessionName, options: LeaseOptions = {}): Promise<Lease> {
    checkOptions(options, OPTIONS.lease);
    const [{ takeLease }, components] = await this.#loadLeases(session, options);
    return await takeLease(components, session, options);
  }

  /**
   * The lease of a session that somebody has, which need not be one of this process; `undefined` when nobody has one,
   * or its time is over. It takes nothing, and says nothing about the next moment.
   *
   * Throws `SESSION_NOT_FOUND`, and `INVALID_ARGUMENT` over a store whose leases cannot be read.
   */
  async leaseOf(session: SessionName, options: Abortable = {}): Promise<HeldLease | undefined> {
    checkOptions(options, OPTIONS.abortable);
    const [{ leaseOf }, components] = await this.#loadLeases(session, options);
    return await leaseOf(components, session, options.signal);
  }

  /**
   * Runs a function under the lease of a session, which is renewed while it runs and released after that. While
   * another holder has it, waits for it for `wait` milliseconds. Throws as `lease`, the errors of the function, and
   * otherwise `LEASE_LOST` when another has taken the lease before the function was done.
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
    const [{ withLease }, components] = await this.#loadLeases(session, options);
    return await withLease(components, session, options, fn);
  }

  /**
   * Iterates over the changes of a session, event by event, or of the values of an app or of a user in it. With
   * `whole: true` it iterates over all of a session: first the current session, then its events and the values of its
   * app and its user, by which `applyChange` keeps it up to date.
   *
   * It reads on demand: a slow reader holds no memory and no writer, and continues from its place. Writes of this
   * service wake it at once; others do by the hints of the store, and every `poll` milliseconds.
   *
   * It ends when the loop is left, when `signal` is aborted, which throws its reason, when the session is deleted, or
   * when the service is closed. Throws `INVALID_ARGUMENT`; reading throws `SESSION_NOT_FOUND` and the errors of the
   * store: begin again with `since` then.
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
  ): AnyChanges {
    return watchChanges(this.#lifetime, target, options);
  }

  /**
   * Begins an invocation: a context whose state shows pending writes at once and puts them into the next event. Throws
   * `INVALID_ARGUMENT` for anything but a handle of this service, `NOT_READY` in a browser before the module is
   * loaded.
   */
  invocation(session: Session, options: InvocationOptions = {}): InvocationContext {
    requireReady('invocation()');
    checkOptions(options, OPTIONS.invocation);
    checkOptionalString(options.invocationId, 'invocationId');
    checkOptionalString(options.author, 'author');
    this.#lifetime.refuseWhenClosed();
    const view = this.#lifetime.view(session);
    if (view === undefined) {
      throw foreignHandle(session);
    }
    return new InvocationContext(
      {
        session,
        append: async (event, context, shown) => {
          const draft = admitEvent(event, this.#lifetime.now, this.#admit, context);
          const sessions = this.#lifetime.started({}) ?? (await this.#lifetime.begin({}));
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

  /** Resolves when every earlier write is durable, or has failed with an error to its caller. */
  async flush(): Promise<void> {
    await this.#lifetime.flush();
  }

  /**
   * Closes the service: writes in progress are made durable, later calls throw `CLOSED`, and the store releases what
   * it has opened itself. A store that does not answer within `timeout` is not waited for: the remaining writes throw
   * `COMMIT_UNKNOWN`, or `STORE_UNAVAILABLE` if they are certainly not stored. May be called more than once.
   */
  async close(): Promise<void> {
    await this.#lifetime.close();
  }

  /** As {@link SessionService.close}: `await using service = new SessionService({ store })`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #readScope(request: Abortable, appName: string, userId?: string): Promise<Record<string, Json>> {
    const sessions = await this.#lifetime.begin(request);
    return (await sessions.scope(appName, userId, request.signal)) as Record<string, Json>;
  }

  /** Loads the code of leases at the first call that needs it. */
  async #loadLeases(
    session: SessionName,
    options: Abortable,
  ): Promise<[typeof import('./lease.js'), ServiceComponents]> {
    const components = await this.#lifetime.components(session, options);
    return [await import('./lease.js'), components];
  }
}

/** {@link SessionService} under the name that ADK's users know. */
export class InMemorySessionService extends SessionService {}
