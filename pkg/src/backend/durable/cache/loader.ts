// Reads from a store: the answer is merged into the cache, and used from there.

import { defined } from '../../../model/defined.js';
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

/** The most loads of a session while the cache keeps changing. */
const MAX_ROUNDS = 100;

/** The options of a load. */
interface LoadOptions {
  readonly signal?: Signal | undefined;
  /** The record of a handle whose session is not cached. */
  readonly idle?: SessionRecord | undefined;
}

/** Loads sessions and scopes. All methods throw `STORE_UNAVAILABLE`, `STORE_CORRUPT` and the reason of a `signal`. */
export class SessionLoader {
  readonly #connection: Connection;
  readonly #cache: SessionCache;

  constructor(connection: Connection, cache: SessionCache) {
    this.#connection = connection;
    this.#cache = cache;
  }

  /**
   * Uses a session of the store, with the events of a range; the cached one where no other process can have changed
   * it. It may leave the cache as soon as `use` has returned. Returns `undefined` for a missing session.
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
      // The end of a session is decided by the clock of the store.
      const isSure = exclusive === true && before?.expires === undefined;
      if (before !== undefined && isSure && cache.isCurrent(before) && before.base <= startOf(range, before)) {
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

  /** Records that the store has no such session. */
  #recordMissing(key: SessionKey, before: SessionRecord | undefined): undefined | 'again' {
    if (this.#cache.registry.find(key) !== before) {
      return 'again';
    }
    if (before !== undefined) {
      this.#cache.markDeleted(before);
    }
    return undefined;
  }

  /** A handle of a session with the events that a config selects. Returns `undefined` for a missing session. */
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

  /** The events of a window by time, up to the cached revision. Times are in no order, so the store selects them. */
  async #eventsSince(
    record: SessionRecord,
    { since, last }: EventWindow,
    signal: Signal | undefined,
  ): Promise<Event[]> {
    for (;;) {
      const { key, revision: to } = record;
      const events = defined({ since, to, last: last === Infinity ? undefined : last });
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

  /** Loads the writes of other processes. On failure the session stays stale, and is loaded before its next use. */
  async reload(record: SessionRecord): Promise<void> {
    this.#cache.markStale(record);
    try {
      await this.load(record.key, NONE, () => undefined);
    } catch {
      // The next operation on the session loads it, and reports the failure.
    }
  }

  /** Brings the cached sessions of some hints up to date, and notifies the readers of watches. */
  handleHints(hints: readonly Hint[], topics: Topics | undefined): void {
    const records = new Set(hints.map((hint) => this.#cache.registry.findAny(hint)));
    for (const record of records) {
      if (record !== undefined && topics?.isWaitedFor(record.key)) {
        // The waiting readers load it.
        this.#cache.markStale(record);
      } else if (record !== undefined) {
        void this.reload(record);
      }
    }
    hints.forEach((hint) => topics?.hinted(hint));
  }

  /** Loads all events of a session, which stays in the cache until it is unpinned. */
  async pinWhole(key: SessionKey, options: LoadOptions): Promise<SessionRecord | undefined> {
    return await this.load(key, ALL, (loaded) => this.#cache.pin(loaded), options);
  }

  /** The creation of a session. Throws `SESSION_NOT_FOUND`. */
  async loadCreation(record: SessionRecord, signal: Signal | undefined): Promise<CreationEvent | 'unknown'> {
    const { key, created } = record;
    const query = { events: { from: 0, to: 0 }, known: this.#cache.known(key, record) };
    const loaded = await this.#ask(key, query, signal);
    return loaded?.created === created ? parseCreation(loaded.events[0]) : throwNotFound(key);
  }

  /** The creation id of a session to be deleted, complete or unfinished; `undefined` for a missing one. */
  async loadCreationId(key: SessionKey, signal: Signal | undefined): Promise<string | undefined> {
    const known = this.#cache.known(key, this.#cache.registry.find(key));
    return (await this.loadAny(key, { events: { last: 0 }, known }, signal))?.created;
  }

  /** An unfinished session, with its creation; `null` when there is none. */
  async loadUnfinished(key: SessionKey): Promise<Loaded | null> {
    const loaded = await this.loadAny(key, { events: { from: 0, to: 0 } });
    return loaded !== null && isUnfinished(loaded) ? loaded : null;
  }

  /** The values of an app, or of a user in it. */
  async loadScope({ appName: app, userId: user }: ScopeKey, signal?: Signal): Promise<LoadedScope> {
    const scope = defined({ app, user });
    return await this.#connection.ask(async (store, context) => await store.loadScope(scope, context), signal);
  }

  /** A part of a session, for a reader: it is not cached. */
  async loadRange(key: SessionKey, query: LoadQuery, signal?: Signal): Promise<Loaded | null> {
    return await this.#ask(key, query, signal);
  }

  /** Loads a session; an unfinished one counts as missing. */
  async #ask(key: SessionKey, query: LoadQuery, signal: Signal | undefined): Promise<Loaded | null> {
    const loaded = await this.loadAny(key, query, signal);
    return loaded !== null && isUnfinished(loaded) ? null : loaded;
  }

  /** As {@link SessionLoader.loadRange}, also of an unfinished session. */
  async loadAny(key: SessionKey, query: LoadQuery, signal?: Signal): Promise<Loaded | null> {
    return await this.#connection.ask(async (store, context) => await store.load(key, query, context), signal);
  }
}

function throwInconsistent({ sessionId: id }: SessionKey): never {
  throw new StatepadError('STORE_CORRUPT', `the store's answers for session "${id}" do not fit together`, { id });
}
