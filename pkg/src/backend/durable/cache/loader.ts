// Reading from a store: what is loaded is merged into the cache, and used from there.

import { ALL, NONE, missingRange, rangeOf, startOf, type EventRange } from './event-range.js';
import { windowOf, type EventWindow } from '../../../session/event-window.js';
import { parseCreation, type CreationEvent } from '../../../session/creation-event.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import { StatepadError } from '../../../model/errors.js';
import { throwNotFound } from '../../../session/append.js';
import { parseEvent } from './stored-event.js';
import { isUnfinished } from './unfinished.js';
import type { Connection } from '../commit/connection.js';
import type { SessionCache } from './session-cache.js';
import type { ScopeKey } from '../../../engine/sessions.js';
import type { Hint, Loaded, LoadedScope, LoadQuery } from '../../../store/contract.js';
import type { Event, GetSessionConfig, Session, SessionKey } from '../../../model/types.js';
import type { Topics } from '../../../watch/topics.js';
import type { Signal } from '../../../async/abort.js';

/** How often the cache may move while a session is loaded. */
const MAX_ROUNDS = 100;

/** How a session is loaded. */
interface LoadOptions {
  readonly signal?: Signal | undefined;
  /** What a handle remembers of a session that is not cached. */
  readonly idle?: SessionRecord | undefined;
}

/**
 * Loads sessions and scopes. Everything here throws `STORE_UNAVAILABLE`, `STORE_CORRUPT` and the reason of a `signal`.
 */
export class SessionLoader {
  readonly #connection: Connection;
  readonly #cache: SessionCache;

  constructor(connection: Connection, cache: SessionCache) {
    this.#connection = connection;
    this.#cache = cache;
  }

  /**
   * Uses a session as the store has it, with the events of a range; the cached one where no other process can have
   * moved it. It may leave the cache as soon as `use` has returned. Answers `undefined` when there is none.
   */
  async load<T>(
    key: SessionKey,
    range: EventRange,
    use: (record: SessionRecord) => T,
    { signal, idle }: LoadOptions = {},
  ): Promise<T | undefined> {
    const cache = this.#cache;
    const { exclusive } = this.#connection.store;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const before = cache.registry.find(key);
      if (before !== undefined && exclusive && cache.isCurrent(before) && before.base <= startOf(range, before)) {
        cache.touch(before);
        return use(before);
      }
      const fallback = before ?? (idle?.number === NOT_LOADED && !cache.isDiverged(idle) ? idle : undefined);
      const known = cache.known(key, before);
      const loaded = await this.#ask(key, { events: missingRange(fallback, range), known }, signal);
      const record =
        loaded === null
          ? this.#recordMissing(key, before)
          : (cache.mergeLoaded(key, loaded, { before, known, idle }) ?? 'again');
      if (record !== 'again') {
        return record && use(record);
      }
    }
    return throwInconsistent(key);
  }

  /** The store has no such session. */
  #recordMissing(key: SessionKey, before: SessionRecord | undefined): undefined | 'again' {
    if (this.#cache.registry.find(key) !== before) {
      return 'again';
    }
    if (before !== undefined) {
      this.#cache.markDeleted(before);
    }
    return undefined;
  }

  /** A handle of a session with the events that a caller has asked for. Answers `undefined` when there is none. */
  async read(key: SessionKey, config: GetSessionConfig | undefined, signal?: Signal): Promise<Session | undefined> {
    const { registry } = this.#cache;
    const window = windowOf(config);
    return window.since === undefined
      ? await this.load(key, rangeOf(window), (record) => registry.read(record, window), { signal })
      : await this.#readSince(key, window, signal);
  }

  /** A handle with a window by time. The events of the window are not cached. */
  async #readSince(key: SessionKey, window: EventWindow, signal: Signal | undefined): Promise<Session | undefined> {
    const cache = this.#cache;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const record = await this.load(key, NONE, (loaded) => cache.pin(loaded), { signal });
      if (record === undefined) {
        return undefined;
      }
      try {
        const windowEvents = record.base === 0 ? undefined : await this.#eventsSince(record, window, signal);
        if (!cache.isDiverged(record)) {
          return record.number === NOT_LOADED ? undefined : cache.registry.read(record, window, windowEvents);
        }
      } finally {
        cache.unpin(record);
      }
    }
    return throwInconsistent(key);
  }

  /** The events of a window by time, up to the cached revision. Times are in no order: the store finds them. */
  async #eventsSince(
    record: SessionRecord,
    { since, last }: EventWindow,
    signal: Signal | undefined,
  ): Promise<Event[]> {
    for (;;) {
      const { key, revision: to } = record;
      const events = { ...(since === undefined ? {} : { since }), to, ...(last === Infinity ? {} : { last }) };
      const loaded = await this.#ask(key, { events, known: this.#cache.known(key, record) }, signal);
      if (loaded?.created !== record.created) {
        return [];
      }
      if (loaded.diverged || loaded.rev < to) {
        this.#cache.markDiverged(record);
        return [];
      }
      if (record.revision === to) {
        return loaded.events.map((event) => parseEvent(record, event));
      }
    }
  }

  /**
   * Loads what other processes have written. When that fails, the session stays stale and is loaded before it is used.
   */
  async reload(record: SessionRecord): Promise<void> {
    this.#cache.markStale(record);
    try {
      await this.load(record.key, NONE, () => undefined);
    } catch {
      // The next operation that needs the session loads it, and reports what fails.
    }
  }

  /**
   * Other processes have written: what is cached of it is brought up to date. Of what is watched its readers hear.
   */
  handleHints(hints: readonly Hint[], topics: Topics | undefined): void {
    const records = new Set(hints.map((hint) => this.#cache.registry.findAny(hint)));
    for (const record of records) {
      if (record !== undefined && topics?.isWaitedFor(record.key)) {
        // Those who wait have it loaded.
        this.#cache.markStale(record);
      } else if (record !== undefined) {
        void this.reload(record);
      }
    }
    hints.forEach((hint) => topics?.hinted(hint));
  }

  /** Loads all events of a session, and keeps it in the cache until it is unpinned. */
  async pinWhole(key: SessionKey, options: LoadOptions): Promise<SessionRecord | undefined> {
    return await this.load(key, ALL, (loaded) => this.#cache.pin(loaded), options);
  }

  /** What a session began with. Throws `SESSION_NOT_FOUND`. */
  async loadCreation(record: SessionRecord, signal: Signal | undefined): Promise<CreationEvent | 'unknown'> {
    const { key, created } = record;
    const query = { events: { from: 0, to: 0 }, known: this.#cache.known(key, record) };
    const loaded = await this.#ask(key, query, signal);
    return loaded?.created === created ? parseCreation(loaded.events[0]) : throwNotFound(key);
  }

  /**
   * The `created` of a session, for one that is to be deleted, whole or not; `undefined` when there is none.
   */
  async loadCreationId(key: SessionKey, signal: Signal | undefined): Promise<string | undefined> {
    const known = this.#cache.known(key, this.#cache.registry.find(key));
    return (await this.#askAny(key, { events: { last: 0 }, known }, signal))?.created;
  }

  /** A session that is not whole yet, with its creation; `null` when there is none. */
  async loadUnfinished(key: SessionKey): Promise<Loaded | null> {
    const loaded = await this.#askAny(key, { events: { from: 0, to: 0 } });
    return loaded !== null && isUnfinished(loaded) ? loaded : null;
  }

  /** The values of an app, or of a user in it. */
  async loadScope({ appName: app, userId: user }: ScopeKey, signal?: Signal): Promise<LoadedScope> {
    const scope = user === undefined ? { app } : { app, user };
    return await this.#connection.ask(async (store, context) => await store.loadScope(scope, context), signal);
  }

  /** A part of a session as the store has it, for a reader: nothing of it is cached. */
  async loadRange(key: SessionKey, query: LoadQuery, signal?: Signal): Promise<Loaded | null> {
    return await this.#ask(key, query, signal);
  }

  /** A session that is not whole yet is not there. */
  async #ask(key: SessionKey, query: LoadQuery, signal: Signal | undefined): Promise<Loaded | null> {
    const loaded = await this.#askAny(key, query, signal);
    return loaded !== null && isUnfinished(loaded) ? null : loaded;
  }

  async #askAny(key: SessionKey, query: LoadQuery, signal?: Signal): Promise<Loaded | null> {
    return await this.#connection.ask(async (store, context) => await store.load(key, query, context), signal);
  }
}

function throwInconsistent({ sessionId: id }: SessionKey): never {
  throw new StatepadError('STORE_CORRUPT', `the store's answers for session "${id}" do not fit together`, { id });
}
