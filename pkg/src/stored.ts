// Sessions over a store: every write waits for it, and memory follows it.

import { missing, notFound, prepareAppend, repeated, type Append } from './append.js';
import { Cache, parseEvent } from './cache.js';
import { Commits } from './commits.js';
import { Connection } from './connection.js';
import { creationEvent } from './creation.js';
import { StatepadError } from './errors.js';
import { thaw } from './freeze.js';
import { OUT, type SessionRecord, type View } from './handle.js';
import { newId } from './ids.js';
import { orAborted, unknown } from './policy.js';
import { Queues } from './queue.js';
import { checkKey, type ListPlan } from './requests.js';
import type { AppendPlan, Creation, SessionName, Sessions } from './sessions.js';
import { isStoreError } from './store-error.js';
import { callbackStore } from './stores/lib/callbacks.js';
import { listPage } from './stored-list.js';
import { wholeLog } from './stored-past.js';
import { scopeTarget, sessionTarget } from './stored-update.js';
import { isSessionTarget, type UpdateTarget } from './update.js';
import { ALL, NONE, firstOf, notHere, shownBy, type Wanted } from './wanted.js';
import type { Draft } from './draft.js';
import type { Ticket } from './memory.js';
import type { StoredOptions } from './store-options.js';
import type { Change, Committed, Guard, Hint, Loaded, LoadedScope, LoadQuery } from './store.js';
import type {
  Event,
  GetSessionConfig,
  ListSessionsResponse,
  Session,
  SessionKey,
  UpdateStateOptions,
  UpdateStateTarget,
} from './types.js';
import type { Signal } from './signal.js';

/** How often memory may move while a session is loaded. */
const ROUNDS = 100;

/** Sessions that a store keeps. */
export class StoredSessions implements Sessions {
  readonly now: () => number;
  readonly cache: Cache;
  readonly connection: Connection;
  readonly #commits: Commits;
  /** Changes of one session are made one after the other. */
  readonly #queues = new Queues();

  constructor(options: StoredOptions) {
    const store = 'persist' in options.store ? callbackStore(options.store) : options.store;
    this.now = options.now;
    this.cache = new Cache(options.cachedEvents);
    this.connection = new Connection(store, options, options.migrate, (hints) => this.#hinted(hints));
    this.#commits = new Commits(store, options);
  }

  async create({ key, state }: Creation, signal?: Signal): Promise<Session> {
    return await this.inTurn(nameOf(key), signal, async (begin) => {
      if (this.cache.find(key) !== undefined) {
        // Somebody else may have deleted it; otherwise the core refuses.
        await this.load(key, NONE, () => undefined);
      }
      const time = this.now();
      const id = newId();
      const creation = creationEvent(time, state);
      const ticket = this.cache.prepareCreate(key, time, state);
      let committed: Committed;
      try {
        const event = { id, time, data: JSON.stringify(creation) };
        committed = await this.commit({ id, kind: 'create', key, time, event, delta: this.cache.scopedDelta(ticket) }, ticket, begin);
      } catch (error) {
        if (isStoreError(error)) {
          const { sessionId: id } = key;
          throw new StatepadError(error.code === 'exists' ? 'SESSION_EXISTS' : 'STATE_CONFLICT', `session "${id}" exists already`, { id, cause: error });
        }
        throw error;
      }
      const record = this.cache.settleCreate(key, creation, id, ticket, committed);
      if (record !== undefined) {
        return this.cache.read(record);
      }
      const session = await this.load(key, ALL, (loaded) => (loaded.created === id ? this.cache.read(loaded) : undefined));
      return session ?? missing(key);
    });
  }

  async get(key: SessionKey, config: GetSessionConfig | undefined, signal?: Signal): Promise<Session | undefined> {
    const { numRecentEvents: last, afterTimestamp: since } = config ?? {};
    if (since === undefined) {
      return await this.load(key, last === undefined ? ALL : { last }, (record) => this.cache.read(record, config), { signal });
    }
    const record = await this.load(key, NONE, (loaded) => this.cache.hold(loaded), { signal });
    if (record === undefined) {
      return undefined;
    }
    try {
      const given = record.base === 0 ? undefined : await this.#eventsSince(record, since, last, signal);
      return record.number === OUT ? undefined : this.cache.read(record, config, given);
    } finally {
      this.cache.release(record);
    }
  }

  /** The events of a window by time, as far as the session is in memory. Times are in no order: the store finds them. */
  async #eventsSince(record: SessionRecord, since: number, last: number | undefined, signal: Signal | undefined): Promise<Event[]> {
    for (;;) {
      const { key, revision: to } = record;
      const query: LoadQuery = { events: { since, to, ...(last === undefined ? {} : { last }) }, known: this.cache.known(key, record) };
      const loaded = await this.connection.ask(async (store, context) => await store.load(key, query, context), signal);
      if (loaded?.created !== record.created) {
        return [];
      }
      if (record.revision === to) {
        return loaded.events.map((event) => parseEvent(record, event));
      }
    }
  }

  async list(plan: ListPlan, signal?: Signal): Promise<ListSessionsResponse> {
    return await listPage(this, plan, signal);
  }

  async remove(key: SessionKey, signal?: Signal): Promise<void> {
    await this.inTurn(nameOf(key), signal, async (begin) => {
      begin(key.sessionId);
      try {
        await this.connection.ask(async (store, context) => await store.remove(key, context));
      } finally {
        // Also when it is not known whether it is still there.
        const record = this.cache.find(key);
        if (record !== undefined) {
          this.cache.drop(record);
        }
      }
    });
  }

  async append({ session, draft, expectedRevision }: AppendPlan, signal?: Signal): Promise<Event> {
    const guard = expectedRevision === undefined ? {} : { rev: expectedRevision };
    return await this.write(session, draft, guard, signal);
  }

  async scope(appName: string, userId: string | undefined, signal?: Signal): Promise<Record<string, unknown>> {
    const { state } = await this.loadScope(appName, userId, signal);
    return Object.assign(Object.create(null) as Record<string, unknown>, thaw(state));
  }

  target(target: UpdateStateTarget, options: UpdateStateOptions): UpdateTarget {
    return isSessionTarget(target) ? sessionTarget(this, checkKey(target), options) : scopeTarget(this, target, options.signal);
  }

  view(session: unknown): View | undefined {
    return this.cache.view(session);
  }

  async past(session: SessionName, signal?: Signal): Promise<View> {
    return await wholeLog(this, session, signal);
  }

  async flush(): Promise<void> {
    await this.#queues.idle();
  }

  async close(): Promise<void> {
    await this.flush();
    await this.connection.close();
  }

  /** Appends an event under a guard. */
  async write(session: AppendPlan['session'], draft: Draft, guard: Guard, signal?: Signal): Promise<Event> {
    const { appName, userId, id: sessionId } = session;
    const view = this.cache.view(session);
    const key = view?.record.key ?? checkKey({ appName, userId, sessionId });
    return await this.inTurn(nameOf(key), signal, async (begin) => {
      const record = await this.#writable(key, view);
      try {
        const append = prepareAppend(this.cache, record, draft, {});
        const event = append.ticket === undefined ? append.event : await this.#store(record, append, draft, guard, begin, view);
        if (view !== undefined && record.number !== OUT) {
          this.cache.refresh(view);
        }
        if (view !== undefined && append.ticket !== undefined) {
          this.cache.showTemp(view, event, append.temp);
        }
        return event;
      } finally {
        this.cache.release(record);
      }
    });
  }

  /**
   * The session that an append goes to, with all events that the handle shows. It stays in memory until it is released.
   * Throws `SESSION_NOT_FOUND`.
   */
  async #writable(key: SessionKey, view: View | undefined): Promise<SessionRecord> {
    const { created, deleted } = view?.record ?? {};
    const found = this.cache.find(key);
    const hold = (record: SessionRecord): SessionRecord => this.cache.hold(record);
    const isFound = found !== undefined && this.cache.isCurrent(found);
    const record = deleted ? undefined : isFound ? hold(found) : await this.load(key, NONE, hold, { idle: view?.record });
    if (record === undefined) {
      return missing(key);
    }
    try {
      if (created !== undefined && record.created !== created) {
        return missing(key);
      }
      if (view !== undefined) {
        const wanted = shownBy(view);
        this.cache.rebind(view, record);
        if (record.base > firstOf(wanted, record)) {
          await this.load(key, wanted, () => undefined);
        }
      }
      return record.number === OUT ? missing(key) : record;
    } catch (error) {
      this.cache.release(record);
      throw error;
    }
  }

  /** Has an append stored, and takes it over. */
  async #store(record: SessionRecord, append: Append, draft: Draft, guard: Guard, begin: Begin, view: View | undefined): Promise<Event> {
    const { id, timestamp: time } = draft;
    const { key, created } = record;
    const ticket = append.ticket as Ticket;
    const event = { id, time, data: JSON.stringify(append.event) };
    let committed: Committed;
    try {
      const delta = this.cache.scopedDelta(ticket);
      const change: Change = { id, kind: 'append', key, time, event, delta, guard: { created, ...guard } };
      committed = await this.commit(change, ticket, begin);
    } catch (error) {
      throw await this.#refusal(error, record, guard);
    }
    if (committed.duplicate) {
      this.cache.discard(ticket);
      await this.#reload(record);
      return repeated(record, draft, append.event, parseEvent(record, { rev: committed.rev, data: committed.data ?? 'null' }));
    }
    const settled = this.cache.settle(record, append, committed, view);
    if (settled === undefined) {
      await this.#reload(record);
    }
    return settled ?? append.event;
  }

  /** Makes a change durable. When that fails, it is forgotten. */
  async commit(change: Change, ticket: Ticket, begin: Begin): Promise<Committed> {
    try {
      begin(change.id);
      return await this.#commits.commit(change);
    } catch (error) {
      this.cache.discard(ticket);
      if (!isStoreError(error)) {
        // It may be written: nobody knows where its scopes are.
        this.cache.forgetPositions(change.key.appName, change.key.userId);
      }
      throw error;
    }
  }

  /** What the caller is told of an append that failed; and what is here is looked at again before it is used. */
  async #refusal(error: unknown, record: SessionRecord, guard: Guard): Promise<unknown> {
    const { sessionId: id } = record.key;
    if (!isStoreError(error)) {
      this.cache.doubt(record);
      return error;
    }
    if (error.code === 'not-found') {
      this.cache.drop(record);
      return notFound(id);
    }
    await this.#reload(record);
    const { rev: expected } = guard;
    if (expected === undefined || guard.keys !== undefined) {
      return new StatepadError('STATE_CONFLICT', `the state of session "${id}" changed since it was read`, { id, cause: error });
    }
    const actual = error.actual ?? record.revision;
    const message = `session "${id}" is at revision ${actual}, not at the expected ${expected}`;
    return new StatepadError('SESSION_STALE', message, { id, expected, actual, cause: error });
  }

  /** Loads what others have written. When that fails, what is here stays behind until it is needed. */
  async #reload(record: SessionRecord): Promise<void> {
    this.cache.doubt(record);
    try {
      await this.load(record.key, NONE, () => undefined);
    } catch {
      // It is doubted: whoever needs it next loads it, and is told.
    }
  }

  /**
   * Uses a session as the store has it, with the events that are wanted; from memory when nobody else can have moved it. It
   * may leave memory as soon as `use` has returned. `idle` is what a handle remembers of it. Answers `undefined` when there is
   * none. Throws `STORE_UNAVAILABLE`, `STORE_CORRUPT`.
   */
  async load<T>(
    key: SessionKey,
    wanted: Wanted,
    use: (record: SessionRecord) => T,
    { signal, idle }: { readonly signal?: Signal | undefined; readonly idle?: SessionRecord | undefined } = {},
  ): Promise<T | undefined> {
    const { exclusive } = this.connection.store;
    for (let round = 0; round < ROUNDS; round++) {
      const before = this.cache.find(key);
      if (before !== undefined && exclusive && this.cache.isCurrent(before) && before.base <= firstOf(wanted, before)) {
        this.cache.touch(before);
        return use(before);
      }
      const known = before ?? (idle?.number === OUT ? idle : undefined);
      const query = { events: notHere(known, wanted), known: this.cache.known(key, before) };
      const loaded = await this.connection.ask(async (store, context) => await store.load(key, query, context), signal);
      const record = this.#take(key, loaded, before, idle);
      if (record !== 'again') {
        return record && use(record);
      }
    }
    const { sessionId: id } = key;
    throw new StatepadError('STORE_CORRUPT', `the store's answers for session "${id}" do not fit together`, { id });
  }

  #take(key: SessionKey, loaded: Loaded | null, before: SessionRecord | undefined, idle: SessionRecord | undefined): SessionRecord | undefined | 'again' {
    if (loaded !== null) {
      return this.cache.take(key, loaded, before, idle) ?? 'again';
    }
    if (this.cache.find(key) !== before) {
      return 'again';
    }
    if (before !== undefined) {
      this.cache.drop(before);
    }
    return undefined;
  }

  /** The values of an app, or of a user in it, as the store has them. */
  async loadScope(app: string, user: string | undefined, signal?: Signal): Promise<LoadedScope> {
    const scope = user === undefined ? { app } : { app, user };
    return await this.connection.ask(async (store, context) => await store.loadScope(scope, context), signal);
  }

  /**
   * Runs a task after all earlier ones of its name. Until it has begun to write, `signal` ends it; after that it goes on,
   * and the caller is told that the outcome is unknown.
   */
  async inTurn<T>(name: string, signal: Signal | undefined, task: (begin: Begin) => Promise<T>): Promise<T> {
    let begun: string | undefined;
    const run = async (): Promise<T> => {
      signal?.throwIfAborted();
      await this.connection.open();
      return await task((id) => {
        signal?.throwIfAborted();
        begun = id;
      });
    };
    return await orAborted(this.#queues.run(name, run), signal, () => begun && unknown(begun, signal?.reason));
  }

  /** Others have written: what is in memory of it is brought up to date. */
  #hinted(hints: readonly Hint[]): void {
    const records = new Set(hints.map((hint) => this.cache.findAny(hint)));
    records.forEach((record) => void (record && this.#reload(record)));
  }
}

/** Says that a change is about to be sent. Throws when nobody wants it any more. */
export type Begin = (id: string) => void;

function nameOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}
