// The cached sessions of a service over a store: never ahead of the store, and bounded.

import { differ, isRolledBack, type LogEnd } from './continuity.js';
import { NOT_LOADED, type SessionRecord } from '../../../session/record.js';
import { SessionRegistry } from '../../../session/registry.js';
import { uncachedScopes, SHARED, type KnownPositions, type SentChange } from './positions.js';
import { SharedScopes } from './shared-scopes.js';
import { LruSessions } from './lru-sessions.js';
import { eventsOf, type View } from '../../../session/handle.js';
import { parseEvent } from './stored-event.js';
import type { CreationEvent } from '../../../session/creation-event.js';
import type { ScopeKey } from '../../../engine/sessions.js';
import type { Committed, Known, Loaded, Pos, StoredEvent, Values } from '../../../store/contract.js';
import type { Event, SessionKey } from '../../../model/types.js';
import type { Topics } from '../../../watch/topics.js';

/** A query for a session, with the state of the cache at that time. */
export interface LoadRequest {
  readonly before: SessionRecord | undefined;
  /** The known positions in the query. */
  readonly known: Known;
  /** The record of a handle whose session is not cached: it is cached again. */
  readonly idle?: SessionRecord | undefined;
}

/** Sessions that were loaded from a store, or created in it. */
export class SessionCache {
  /** The cached sessions. Only the cache adds and removes them. */
  readonly registry = new SessionRegistry();
  readonly #shared = new SharedScopes(this.registry);
  readonly #sessions: LruSessions;
  readonly #stale = new WeakSet<SessionRecord>();
  /** Logs that the store does not have: it has gone back since. */
  readonly #diverged = new WeakSet<SessionRecord>();
  /** Receives every change of the cache, once anything is watched. */
  topics: Topics | undefined;

  readonly #now: () => number;

  /** Keeps about `limit` events in sessions that are not in use. `now` is the clock of the service. */
  constructor(limit: number, now: () => number) {
    this.#now = now;
    this.#sessions = new LruSessions(limit, (record) => this.evict(record));
  }

  /**
   * True when a session is not known to have changed since it was loaded, and has not expired by the clock of the
   * service: the store has a clock of its own, and is asked then.
   */
  isCurrent(record: SessionRecord): boolean {
    const isOver = record.expires !== undefined && record.expires <= this.#now();
    return !isOver && record.number !== NOT_LOADED && !this.#stale.has(record) && this.#shared.areKnown(record);
  }

  /** Marks a session that others may have changed: it is loaded before its next use. */
  markStale(record: SessionRecord): void {
    this.#stale.add(record);
    this.topics?.movedSession(record.key);
  }

  /** The parts of a session that need not be loaded again. */
  known(key: SessionKey, record: SessionRecord | undefined): Known {
    if (record === undefined) {
      return this.knownPositions(key);
    }
    const { created, revision: rev, last, number } = record;
    const { pos, marks } = number === NOT_LOADED ? this.knownPositions(key) : this.#shared.knownPositionsOf(record);
    return last === undefined ? { created, rev, pos, marks } : { created, rev, last, pos, marks };
  }

  /** The positions of an app, and of a user in it, where they are known. */
  knownPositions(key: ScopeKey): KnownPositions {
    return this.#shared.knownPositions(key);
  }

  /**
   * Merges an answer of the store. Returns `undefined` when the cache has changed meanwhile, or differed from the
   * store: the store has to be asked again.
   */
  mergeLoaded(key: SessionKey, loaded: Loaded, { before, known, idle }: LoadRequest): SessionRecord | undefined {
    const now = this.registry.find(key);
    if (now !== before) {
      return undefined;
    }
    if (now !== undefined && now.created !== loaded.created) {
      this.markDeleted(now);
      return undefined;
    }
    const isIdle = idle?.created === loaded.created && idle.number === NOT_LOADED;
    const old = now ?? (isIdle && !this.#diverged.has(idle) ? idle : undefined);
    if (old !== undefined && isReplaced(old, loaded, known)) {
      this.markDiverged(old);
      return undefined;
    }
    const record = old ?? this.registry.newRecord(key, loaded.created);
    try {
      if (!this.#mergeEvents(record, loaded, old === undefined)) {
        return undefined;
      }
      this.#stale.delete(record);
      if (loaded.rev === record.revision) {
        record.expires = loaded.expires;
      }
      this.#reportLoadedScopes(key, loaded.pos, known.pos);
      return this.#shared.mergeLoaded(record, loaded, known) ? record : undefined;
    } catch (error) {
      // The core had no memory for all of it: a part of it is no session.
      this.evict(record);
      throw error;
    }
  }

  /** Merges the events and the session scope of an answer. Returns true if they fit the cached ones. */
  #mergeEvents(record: SessionRecord, { rev, time, state, events, last }: Loaded, isNew: boolean): boolean {
    const first = events[0]?.rev ?? rev + 1;
    if (isNew) {
      record.base = record.revision = first - 1;
    }
    const isMoved = record.number === NOT_LOADED || rev > record.revision;
    if (isMoved && (first > record.revision + 1 || state.session === undefined)) {
      return false;
    }
    const parse = (stored: StoredEvent): Event => parseEvent(record, stored);
    const older = events.filter((stored) => stored.rev <= record.base).map(parse);
    const newer = events.filter((stored) => stored.rev > record.revision).map(parse);
    this.#prepend(record, older);
    if (isMoved) {
      if (this.registry.restore(record, rev, time)) {
        this.#sessions.grow(1 + record.events.length);
      }
      newer.forEach((event) => record.events.push(event));
      record.revision = rev;
      record.updateTime = time;
      this.#sessions.grow(newer.length);
      this.registry.replaceScope(record.scopes[0], state.session as Values);
    }
    if (rev === record.revision) {
      record.last = last ?? record.events.at(-1)?.id;
    }
    if (isMoved) {
      this.#reportMoved(record);
    }
    this.touch(record);
    return true;
  }

  /** Reports that a cached session has changed. */
  #reportMoved({ key, created, revision: rev, last }: SessionRecord): void {
    this.topics?.movedSession(key, last === undefined ? { created, rev } : { created, rev, last });
  }

  /** Reports that others have changed the scopes of a loaded session. */
  #reportLoadedScopes({ appName, userId }: SessionKey, { app, user }: Pos, known: Known['pos']): void {
    if (this.topics !== undefined) {
      if (known?.app !== undefined && known.app !== app) {
        this.topics.movedScope(appName, undefined);
      }
      if (known?.user !== undefined && known.user !== user) {
        this.topics.movedScope(appName, userId);
      }
    }
  }

  /** Puts events before the cached ones. */
  #prepend(record: SessionRecord, older: Event[]): void {
    if (older.length > 0) {
      record.events = older.concat(record.events);
      record.base -= older.length;
      record.list = undefined;
      this.#sessions.grow(record.number === NOT_LOADED ? 0 : older.length);
    }
  }

  /**
   * Applies a stored append. Returns the cached event, or `undefined` when the cache does not lead up to it: the
   * session is left as it was, and has to be loaded.
   */
  applyCommittedAppend(
    record: SessionRecord,
    event: Event,
    sentChange: SentChange,
    committed: Committed,
  ): Event | undefined {
    const { rev } = committed;
    this.topics?.writtenScopes(record.key, sentChange.prepared.scopes);
    const isNext = this.#follows(record, event.id, sentChange.known, committed);
    const steps = record.number === NOT_LOADED ? undefined : this.#shared.steps(record.scopes, sentChange, committed);
    if (steps === undefined) {
      this.registry.engine.discard(sentChange.prepared);
      this.markStale(record);
      return undefined;
    }
    const isNew = isNext && rev > record.revision;
    this.#shared.applyConcurrent(record.key, steps, committed);
    // If only the session has to be loaded, its app and its user continue from the cached values.
    this.registry.applyAppend(record, event, sentChange.prepared, uncachedScopes(steps, sentChange, isNew));
    this.#shared.advance(record.scopes, steps, sentChange, committed);
    if (!isNext) {
      this.markStale(record);
      return undefined;
    }
    if (isNew) {
      record.last = event.id;
      record.expires = committed.expires;
      this.#sessions.grow(1);
      this.#reportMoved(record);
    }
    return isNew ? event : record.events[rev - record.base - 1];
  }

  /**
   * True when the cached session leads up to a stored append. Marks it as diverged when the store does not have its
   * log.
   */
  #follows(record: SessionRecord, id: string, known: Known, { rev, prev, before }: Committed): boolean {
    if (record.number === NOT_LOADED) {
      return false;
    }
    const previous: LogEnd = { rev: prev ?? rev - 1, last: before?.session };
    const isAhead = rev <= record.revision;
    const cached = isAhead ? record.events[rev - record.base - 1] : undefined;
    const isOtherEvent =
      (previous.rev === record.revision && differ(previous.last, record.last)) ||
      (cached !== undefined && cached.id !== id);
    if (isRolledBack(previous, { rev: known.rev ?? 0, last: known.last }) || isOtherEvent) {
      this.markDiverged(record);
      return false;
    }
    return isAhead ? cached !== undefined : previous.rev === record.revision;
  }

  /** Applies a stored creation, as {@link SessionCache.applyCommittedAppend} does an append. */
  applyCommittedCreate(
    key: SessionKey,
    creation: CreationEvent,
    sentChange: SentChange,
    committed: Committed,
  ): SessionRecord | undefined {
    const { pos, duplicate, created = sentChange.change.id } = committed;
    this.topics?.written(key, sentChange.prepared.scopes);
    const scopes = this.#shared.scopesOf(key);
    const steps = this.#shared.steps(scopes, sentChange, committed);
    // A scope that is not cached is known when this change is its first one.
    const isKnown = SHARED.every(
      ({ scope, index }) => scopes[index] !== NOT_LOADED || pos[scope] === (sentChange.prepared.scopes[scope] ? 1 : 0),
    );
    if (duplicate || steps === undefined || !isKnown || this.registry.find(key) !== undefined) {
      this.registry.engine.discard(sentChange.prepared);
      return undefined;
    }
    this.#shared.applyConcurrent(key, steps, committed);
    const record = this.registry.applyCreate(
      key,
      creation,
      sentChange.prepared,
      created,
      uncachedScopes(steps, sentChange, true),
    );
    this.#shared.advance(record.scopes, steps, sentChange, committed);
    record.expires = committed.expires;
    this.#sessions.grow(1);
    this.touch(record);
    return record;
  }

  /** Applies a stored change of app and user state, if it continues the known positions. */
  applyCommittedUpdate(key: ScopeKey, sentChange: SentChange, committed: Committed): void {
    this.topics?.writtenScopes(key, sentChange.prepared.scopes);
    const scopes = this.#shared.scopesOf(key);
    const steps = committed.duplicate ? undefined : this.#shared.steps(scopes, sentChange, committed);
    if (steps === undefined) {
      this.registry.engine.discard(sentChange.prepared);
      this.invalidatePositions(key);
      return;
    }
    this.#shared.applyConcurrent(key, steps, committed);
    const { app, user } = uncachedScopes(steps, sentChange, false);
    const selected = { session: false, app: app && scopes[1] !== NOT_LOADED, user: user && scopes[2] !== NOT_LOADED };
    if (selected.app || selected.user) {
      this.registry.applyUpdate(sentChange.prepared, selected);
    } else {
      this.registry.engine.discard(sentChange.prepared);
    }
    this.#shared.advance(scopes, steps, sentChange, committed);
  }

  /** Invalidates the positions of an app, and of a user in it: their values are loaded before their next use. */
  invalidatePositions(key: ScopeKey): void {
    this.#shared.invalidate(key);
  }

  /** Puts the events of a handle before those of a cached session, if both are known to be of one log. */
  mergeEventsOf({ record: old }: View, record: SessionRecord): void {
    const overlap = record.events[0];
    const isSame = overlap !== undefined && old.events[record.base - old.base]?.id === overlap.id;
    if (old !== record && record.base > old.base && isSame && !this.#diverged.has(old)) {
      this.#prepend(record, old.events.slice(0, record.base - old.base));
    }
  }

  /** True when a handle was read from another log than that of a cached session, which it shows from then on. */
  showsOtherLog({ record: old, readLength }: View, record: SessionRecord): boolean {
    return old !== record && (this.#diverged.has(old) || record.revision < readLength);
  }

  /** Binds a handle to a cached session, in place of the record that it was read from. */
  rebind(view: View, record: SessionRecord): void {
    if (this.showsOtherLog(view, record)) {
      // It shows these events until it is refreshed.
      view.events ??= eventsOf(view);
      view.readLength = record.revision;
      view.windowEvents = undefined;
    }
    view.record = record;
  }

  /** True when the store is known not to have a log. */
  isDiverged(record: SessionRecord): boolean {
    return this.#diverged.has(record);
  }

  /**
   * Marks a cached session whose log is not the store's, and evicts it. Its handles keep their values until their next
   * use.
   */
  markDiverged(record: SessionRecord): void {
    this.#diverged.add(record);
    this.topics?.movedSession(record.key);
    this.evict(record);
  }

  /** Keeps a session in the cache while it is in use. */
  pin(record: SessionRecord): SessionRecord {
    this.#sessions.pin(record);
    return record;
  }

  /** Undoes one {@link SessionCache.pin}. */
  unpin(record: SessionRecord): void {
    this.#sessions.unpin(record);
  }

  /** Marks a session as used: others are evicted first. */
  touch(record: SessionRecord): void {
    this.#sessions.touch(record);
  }

  /** Marks a session that others have deleted, and evicts it. */
  markDeleted(record: SessionRecord): void {
    this.evict(record);
    record.deleted = true;
    this.topics?.movedSession(record.key);
  }

  /** Takes a session out of the cache. Its handles keep their values, and may bring it back. */
  evict(record: SessionRecord): void {
    if (record.number !== NOT_LOADED) {
      this.registry.unload(record).forEach((scope) => this.#shared.evicted(scope));
      this.#sessions.remove(record);
    }
  }
}

function headOf({ revision, last }: SessionRecord): LogEnd {
  return { rev: revision, last };
}

/** True when a cached log is not the store's. */
function isReplaced(record: SessionRecord, { rev, last, events, diverged }: Loaded, known: Known): boolean {
  const knownEnd = record.number === NOT_LOADED ? headOf(record) : { rev: known.rev ?? 0, last: known.last };
  if (diverged || isRolledBack({ rev, last }, knownEnd) || (rev === record.revision && differ(last, record.last))) {
    return true;
  }
  return events.some((stored) => {
    const cached = record.events[stored.rev - record.base - 1];
    return cached !== undefined && cached.id !== (stored.id ?? parseEvent(record, stored).id);
  });
}
