// The session service: prepare in the core, commit to the store, apply in the core. Memory follows the store.

import { admitDelta, admitString, type AdmitOptions, type AdmittedDelta } from './admit.js';
import { applyAppend, notFound, prepareAppend } from './append.js';
import { admitEvent, type Draft } from './draft.js';
import { StatepadError, isStatepadError } from './errors.js';
import { newId } from './ids.js';
import { InvocationContext, type InvocationOptions } from './invocation.js';
import { Memory, type Guard, type Ticket } from './memory.js';
import { Queue } from './queue.js';
import { checkConfig, checkCount, checkKey, checkList, checkObject } from './requests.js';
import { updateState, type UpdateFunction } from './update.js';
import { isReady, ready, requireReady } from './wasm.js';
import type { SessionRecord, View } from './handle.js';
import type { Change } from './store.js';
import type {
  AppendEventRequest,
  CreateSessionRequest,
  Event,
  EventInit,
  GetSessionRequest,
  Json,
  ListSessionsRequest,
  ListSessionsResponse,
  Session,
  SessionKey,
  UpdateStateOptions,
  UpdateStateTarget,
} from './types.js';

/** Makes a change durable, all or nothing. When it throws, nothing has changed anywhere. */
type Commit = (change: Change) => Promise<unknown>;

/** Options of a {@link SessionService}. */
export interface SessionServiceOptions {
  /** The clock, in milliseconds since the epoch; `Date.now` unless told otherwise. */
  readonly now?: (() => number) | undefined;
  /** @internal Where stores attach: makes a change durable before anybody sees it. */
  readonly commit?: Commit | undefined;
  /** @internal How events are admitted. */
  readonly admit?: AdmitOptions | undefined;
}

/**
 * Keeps sessions: scoped state and an append-only log of events. Everything is in memory.
 *
 * A write is never dropped silently: it resolves, or it throws a {@link StatepadError} and nothing has changed.
 *
 * @example
 * const service = new SessionService();
 * const session = await service.createSession({ appName: 'tutor', userId: 'ana', state: { 'user:visits': 1 } });
 * await service.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { topic: 'tides' } } } });
 * session.state; // { topic: 'tides', 'user:visits': 1 }
 */
export class SessionService {
  #memory: Memory | undefined;
  readonly #now: () => number;
  readonly #commit: Commit | undefined;
  readonly #admit: AdmitOptions;
  /** One queue for each session that waits for a store, so that its changes keep their order. */
  readonly #queues = new WeakMap<SessionRecord, Queue>();
  readonly #creations = new Queue();
  /** One queue for each app: what is written over what was read must find it as it was. */
  readonly #updates = new Map<string, Queue>();

  constructor(options: SessionServiceOptions = {}) {
    this.#now = options.now ?? Date.now;
    this.#commit = options.commit;
    this.#admit = options.admit ?? {};
  }

  /**
   * Creates a session, at revision 0. The keys of `state` go where their prefix says: `app:` and `user:` keys reach
   * every session they belong to, also earlier ones; `temp:` keys are dropped.
   *
   * Throws `SESSION_EXISTS` when the id is taken, `VALUE_NOT_JSON`, `INVALID_ARGUMENT`; nothing is applied then.
   */
  async createSession(request: CreateSessionRequest): Promise<Session> {
    const creation = admitCreation(request);
    const memory = this.#memory ?? (await this.#load());
    return await this.#create(memory, creation);
  }

  /** Gets a session as it is now, or `undefined` when there is none. Throws `INVALID_ARGUMENT`. */
  async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const key = checkKey(request);
    const config = checkConfig(request.config);
    const memory = this.#memory ?? (await this.#load());
    const record = memory.find(key);
    return record && memory.read(record, config);
  }

  /** Gets a session, or creates it when there is none. Throws as `createSession`, but never `SESSION_EXISTS`. */
  async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    const creation = admitCreation(request);
    const memory = this.#memory ?? (await this.#load());
    const record = memory.find(creation.key);
    if (record !== undefined) {
      return memory.read(record);
    }
    try {
      return await this.#create(memory, creation);
    } catch (error) {
      // Somebody else has created it while this creation waited for its store.
      const created = isStatepadError(error) && error.code === 'SESSION_EXISTS' ? memory.find(creation.key) : undefined;
      if (created === undefined) {
        throw error;
      }
      return memory.read(created);
    }
  }

  /**
   * Lists the sessions of an app, or of one of its users, by the time of their last event. The rows show their current
   * state and no events. Throws `INVALID_ARGUMENT`.
   */
  async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const plan = checkList(request);
    const memory = this.#memory ?? (await this.#load());
    const { sessions, offset, total, cursor } = memory.list(plan);
    const { limit } = plan;
    const answer = {
      sessions,
      page: limit ? Math.floor((plan.cursor === undefined ? plan.offset : offset) / limit) + 1 : plan.page,
      limit: limit ?? total,
      totalItems: total,
      totalPages: limit === undefined ? Math.min(total, 1) : limit === 0 ? 0 : Math.ceil(total / limit),
    };
    return cursor === undefined ? answer : { ...answer, cursor };
  }

  /** Deletes a session with its events and its own state; app and user state stay. It need not be there. */
  async deleteSession(request: SessionKey): Promise<void> {
    const key = checkKey(request);
    const memory = this.#memory ?? (await this.#load());
    const record = memory.find(key);
    if (record !== undefined) {
      await this.#inTurn(record, async () => {
        if (!record.deleted) {
          memory.remove(record);
        }
      });
    }
  }

  /**
   * Appends an event, writes its delta, and brings the handle up to date with everything that has happened since.
   * Resolves to the stored event, frozen. A partial event is handed back and changes nothing.
   *
   * Throws `SESSION_NOT_FOUND`, `SESSION_STALE` (with `expectedRevision`), `EVENT_ID_CONFLICT`, `VALUE_NOT_JSON`,
   * `INVALID_ARGUMENT`; nothing has changed then.
   */
  async appendEvent(request: AppendEventRequest): Promise<Event> {
    const { session, event, expectedRevision } = request;
    checkObject(session, 'session');
    checkObject(event, 'event');
    if (event.partial) {
      return event as Event;
    }
    checkCount(expectedRevision, 'expectedRevision');
    const { appName, userId, id: sessionId } = session;
    const draft = admitEvent(event, this.#now, this.#admit);
    const memory = this.#memory ?? (await this.#load());
    const view = memory.view(session);
    const record = view?.record ?? memory.find(checkKey({ appName, userId, sessionId }));
    if (record === undefined) {
      throw notFound(sessionId);
    }
    return this.#append(memory, record, draft, { revision: expectedRevision }, view);
  }

  /** The state of an app, under names without prefix. The copy, which has no prototype, is the caller's. */
  async getAppState({ appName }: { readonly appName: string }): Promise<Record<string, Json>> {
    admitString(appName, 'appName');
    const memory = this.#memory ?? (await this.#load());
    return ownRecord(memory.scopeText(appName, undefined, false));
  }

  /** The state of a user in an app, under names without prefix. The copy, which has no prototype, is the caller's. */
  async getUserState({ appName, userId }: { readonly appName: string; readonly userId: string }): Promise<Record<string, Json>> {
    admitString(appName, 'appName');
    admitString(userId, 'userId');
    const memory = this.#memory ?? (await this.#load());
    return ownRecord(memory.scopeText(appName, userId, false));
  }

  /**
   * Reads, computes and writes without losing what others write meanwhile. `fn` gets the current values and returns a
   * delta, both under full keys; it runs again when what it read no longer holds. With a `sessionId` the values are
   * those of the session and the delta becomes an event of it; without one they are the `user:` and `app:` keys, and
   * without a `userId` the `app:` keys. Resolves to the values after the update, frozen.
   *
   * Throws `STATE_CONFLICT` after `attempts` runs, `SESSION_NOT_FOUND`, `VALUE_NOT_JSON`, `INVALID_ARGUMENT` for keys
   * that do not belong to what is updated, and what `fn` throws.
   *
   * @example
   * await service.updateState({ appName, userId }, (state) => ({ 'user:visits': Number(state['user:visits'] ?? 0) + 1 }));
   */
  async updateState(target: UpdateStateTarget, fn: UpdateFunction, options: UpdateStateOptions = {}): Promise<Readonly<Record<string, Json>>> {
    const memory = this.#memory ?? (await this.#load());
    return await updateState(target, fn, options, {
      memory,
      now: this.#now,
      append: (record, event, guard) => this.#append(memory, record, admitEvent(event, this.#now, {}), guard, undefined),
      commit: this.#commit && ((change, ticket) => this.#store(memory, change, ticket)),
      inTurn: (write) => (this.#commit === undefined ? write() : queueOf(this.#updates, target.appName).run(async () => await write())),
    });
  }

  /**
   * Begins an invocation: a context whose state sees pending writes at once and puts them into the next event.
   * Throws `INVALID_ARGUMENT` for anything but a handle of this service, `NOT_READY` in a browser before the module
   * is loaded.
   */
  invocation(session: Session, options: InvocationOptions = {}): InvocationContext {
    requireReady('invocation()');
    this.#memory ??= new Memory();
    const view = this.#memory.view(session);
    if (view === undefined) {
      throw new StatepadError('INVALID_ARGUMENT', 'session must be a handle that this service gave', { path: 'session' });
    }
    return new InvocationContext(
      {
        session,
        append: (event: EventInit) => this.appendEvent({ session, event }),
        dropTemp: () => {
          view.temp = undefined;
          view.state = undefined;
        },
      },
      options,
    );
  }

  async #load(): Promise<Memory> {
    if (!isReady()) {
      await ready();
    }
    return (this.#memory ??= new Memory());
  }

  /** Changes of one session are made one after the other; in memory each is made at once. */
  #inTurn<T>(record: SessionRecord, task: () => Promise<T>): Promise<T> {
    if (this.#commit === undefined) {
      return task();
    }
    return queueOf(this.#queues, record).run(task);
  }

  async #create(memory: Memory, { key, state }: Creation): Promise<Session> {
    const create = async (): Promise<Session> => {
      const time = this.#now();
      const ticket = memory.prepareCreate(key, time, state);
      if (this.#commit !== undefined) {
        await this.#store(memory, { id: key.sessionId, kind: 'create', key, time }, ticket);
      }
      return memory.read(memory.applyCreate(key, time, ticket));
    };
    return await (this.#commit === undefined ? create() : this.#creations.run(create));
  }

  /** Appends in memory at once, or when the store has it. */
  #append(memory: Memory, record: SessionRecord, draft: Draft, guard: Guard, view: View | undefined): Event | Promise<Event> {
    if (this.#commit === undefined) {
      return applyAppend(memory, record, prepareAppend(memory, record, draft, guard), view);
    }
    return this.#inTurn(record, async () => {
      const append = prepareAppend(memory, record, draft, guard);
      if (append.ticket !== undefined) {
        const { id, timestamp: time } = draft;
        const event = { id, time, data: JSON.stringify(append.event) };
        await this.#store(memory, { id, kind: 'append', key: record.key, time, event }, append.ticket);
      }
      return applyAppend(memory, record, append, view);
    });
  }

  /** Waits for the store. When it fails, the change is forgotten and nothing has happened. */
  async #store(memory: Memory, change: Omit<Change, 'delta'>, ticket: Ticket): Promise<void> {
    try {
      await this.#commit?.({ ...change, delta: memory.scopedDelta(ticket) as Change['delta'] });
    } catch (error) {
      memory.discard(ticket);
      throw error;
    }
  }
}

/** {@link SessionService} under the name that ADK's users know. */
export class InMemorySessionService extends SessionService {}

function queueOf<K>(queues: { get(key: K): Queue | undefined; set(key: K, queue: Queue): unknown }, key: K): Queue {
  let queue = queues.get(key);
  if (queue === undefined) {
    queue = new Queue();
    queues.set(key, queue);
  }
  return queue;
}

/** A record of the caller's own, without a prototype. */
function ownRecord(text: string): Record<string, Json> {
  return Object.assign(Object.create(null) as Record<string, Json>, JSON.parse(text) as Record<string, Json>);
}

/** A request to create a session, understood. */
interface Creation {
  readonly key: SessionKey;
  readonly state: AdmittedDelta;
}

function admitCreation({ appName, userId, sessionId, state }: CreateSessionRequest): Creation {
  const isBlank = sessionId === undefined || /^\p{White_Space}*$/u.test(sessionId);
  return { key: checkKey({ appName, userId, sessionId: isBlank ? newId() : sessionId }), state: admitDelta(state, 'state') };
}
