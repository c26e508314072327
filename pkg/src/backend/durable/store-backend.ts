// Sessions over a store: every write waits for it, and memory follows it.

import { Cache } from './session-cache.js';
import { Commits } from './commit-queue.js';
import { Connection } from './connection.js';
import { StatepadError, isStatepadError } from '../../model/errors.js';
import { thaw } from '../../model/json.js';
import { OUT, type SessionRecord, type View } from '../../session/handle.js';
import { unknown } from './retry.js';
import { Queues } from '../../async/queue.js';
import { checkKey, type ListPlan } from '../../input/requests.js';
import { isStoreError } from '../../store/store-error.js';
import { callbackStore } from '../../stores/journal/callback-store.js';
import { writeEvent } from './append.js';
import { createStored } from './create.js';
import { parseEvent } from './loaded-event.js';
import { listPage } from './list.js';
import { wholeLog } from './full-log.js';
import { Reservations } from './reservations.js';
import { scopeTarget, sessionTarget } from './update.js';
import { ALL, NONE, firstOf, notHere, type Wanted } from './event-range.js';
import { orAborted } from '../../async/abort.js';
import { isSessionTarget, type Reservation, type UpdateTarget } from '../update-target.js';
import type { Ticket } from '../../session/registry.js';
import type { AppendPlan, Creation, SessionName, Sessions } from '../backend.js';
import type { StoredOptions } from './options.js';
import type { Change, Committed, Hint, LoadedScope, LoadQuery } from '../../store/contract.js';
import type {
  Event,
  GetSessionConfig,
  ListSessionsResponse,
  Session,
  SessionKey,
  UpdateStateOptions,
  UpdateStateTarget,
} from '../../model/types.js';
import type { Signal } from '../../async/abort.js';

/** How often memory may move while a session is loaded. */
const ROUNDS = 100;

/** Sessions that a store keeps. */
export class StoredSessions implements Sessions {
  readonly now: () => number;
  readonly cache: Cache;
  readonly connection: Connection;
  readonly #commits: Commits;
  readonly #reservations: Reservations | undefined;
  /** Changes of one session are made one after the other. */
  readonly #queues = new Queues();

  constructor(options: StoredOptions) {
    const store = 'persist' in options.store ? callbackStore(options.store) : options.store;
    this.now = options.now;
    this.cache = new Cache(options.cachedEvents);
    this.connection = new Connection(store, options, options.migrate, (hints) => this.#hinted(hints));
    this.#commits = new Commits(store, options);
    this.#reservations = store.reserve && new Reservations(this.connection);
  }

  async create(creation: Creation, signal?: Signal): Promise<Session> {
    return await this.inTurn(creation.key, signal, async (begin) => await createStored(this, creation, begin));
  }

  async get(key: SessionKey, config: GetSessionConfig | undefined, signal?: Signal): Promise<Session | undefined> {
    const { numRecentEvents: last, afterTimestamp: since } = config ?? {};
    if (since === undefined) {
      return await this.load(key, last === undefined ? ALL : { last }, (record) => this.cache.read(record, config), { signal });
    }
    for (let round = 0; round < ROUNDS; round++) {
      const record = await this.load(key, NONE, (loaded) => this.cache.hold(loaded), { signal });
      if (record === undefined) {
        return undefined;
      }
      try {
        const given = record.base === 0 ? undefined : await this.#eventsSince(record, since, last, signal);
        if (!this.cache.isLost(record)) {
          return record.number === OUT ? undefined : this.cache.read(record, config, given);
        }
      } finally {
        this.cache.release(record);
      }
    }
    return unfit(key);
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
      if (loaded.diverged || loaded.rev < to) {
        this.cache.lose(record);
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
    await this.inTurn(key, signal, async (begin) => {
      const guard = await this.#guardOfRemoval(key, signal);
      if (guard === 'gone') {
        return;
      }
      begin(key.sessionId);
      try {
        await this.connection.ask(async (store, context) => await store.remove(key, context, guard), undefined, key.sessionId);
      } catch (error) {
        // It may be there, or not.
        this.#forgotten(key, (record) => this.cache.forget(record));
        throw error;
      }
      this.#forgotten(key, (record) => this.cache.drop(record));
    });
  }

  #forgotten(key: SessionKey, forget: (record: SessionRecord) => void): void {
    const record = this.cache.find(key);
    if (record !== undefined) {
      forget(record);
    }
  }

  /**
   * Which session is to be deleted: a second try must not delete one that was created anew in between. Only where the store
   * looks at it. `'gone'` when there is none.
   */
  async #guardOfRemoval(key: SessionKey, signal: Signal | undefined): Promise<{ readonly created: string } | 'gone' | undefined> {
    const { keeps, exclusive } = this.connection.store;
    if (!keeps?.includes('creations')) {
      return undefined;
    }
    const found = this.cache.find(key);
    if (found !== undefined && exclusive) {
      return { created: found.created };
    }
    const query: LoadQuery = { events: { last: 0 }, known: this.cache.known(key, found) };
    try {
      const loaded = await this.connection.ask(async (store, context) => await store.load(key, query, context), signal);
      if (loaded === null) {
        this.#forgotten(key, (record) => this.cache.drop(record));
        return 'gone';
      }
      return { created: loaded.created };
    } catch (error) {
      if (isStatepadError(error) && error.code === 'STORE_CORRUPT') {
        // What cannot be read can be deleted all the same.
        return undefined;
      }
      throw error;
    }
  }

  async append({ session, draft, expectedRevision }: AppendPlan, signal?: Signal): Promise<Event> {
    const guard = expectedRevision === undefined ? {} : { rev: expectedRevision };
    return (await writeEvent(this, { session, draft, guard, signal })).event;
  }

  async scope(appName: string, userId: string | undefined, signal?: Signal): Promise<Record<string, unknown>> {
    const { state } = await this.loadScope(appName, userId, signal);
    return thaw(state) as Record<string, unknown>;
  }

  target(target: UpdateStateTarget, options: UpdateStateOptions): UpdateTarget {
    return isSessionTarget(target) ? sessionTarget(this, checkKey(target), options) : scopeTarget(this, target, options.signal);
  }

  reservation(target: UpdateStateTarget, signal?: Signal): Reservation | undefined {
    return this.#reservations?.of(target, signal);
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

  /** Loads what others have written. When that fails, what is here stays behind until it is needed. */
  async reload(record: SessionRecord): Promise<void> {
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
      const here = before ?? (idle?.number === OUT && !this.cache.isLost(idle) ? idle : undefined);
      const known = this.cache.known(key, before);
      const query = { events: notHere(here, wanted), known };
      const loaded = await this.connection.ask(async (store, context) => await store.load(key, query, context), signal);
      const record = loaded === null ? this.#none(key, before) : (this.cache.take(key, loaded, before, known, idle) ?? 'again');
      if (record !== 'again') {
        return record && use(record);
      }
    }
    return unfit(key);
  }

  /** The store has no such session. */
  #none(key: SessionKey, before: SessionRecord | undefined): undefined | 'again' {
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
   * Runs a task after all earlier ones of its session, or of its name. Until it has begun to write, `signal` ends it; after that it goes on,
   * and the caller is told that the outcome is unknown.
   */
  async inTurn<T>(of: SessionKey | string, signal: Signal | undefined, task: (begin: Begin) => Promise<T>): Promise<T> {
    let begun: string | undefined;
    const run = async (): Promise<T> => {
      signal?.throwIfAborted();
      await this.connection.open();
      return await task((id) => {
        signal?.throwIfAborted();
        begun = id;
      });
    };
    return await orAborted(this.#queues.run(typeof of === 'string' ? of : nameOf(of), run), signal, () => begun && unknown(begun, signal?.reason));
  }

  /** Others have written: what is in memory of it is brought up to date. */
  #hinted(hints: readonly Hint[]): void {
    const records = new Set(hints.map((hint) => this.cache.findAny(hint)));
    records.forEach((record) => void (record && this.reload(record)));
  }
}

/** Says that a change is about to be sent. Throws when nobody wants it any more. */
export type Begin = (id: string) => void;

function unfit({ sessionId: id }: SessionKey): never {
  throw new StatepadError('STORE_CORRUPT', `the store's answers for session "${id}" do not fit together`, { id });
}

function nameOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}
