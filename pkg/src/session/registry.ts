// The sessions of a backend that are in the core, with their event bodies and their values.

import { ALL_SCOPES, SessionEngine } from '../engine/sessions.js';
import { ALL_EVENTS, NO_EVENTS, type EventWindow } from './event-window.js';
import { Growth, type ScopesOfChange } from './growth.js';
import { makeHandle, viewOf, type View } from './handle.js';
import { NOT_LOADED, newRecord, type SessionRecord } from './record.js';
import { ScopeTable, trimEnd } from './scope-table.js';
import { SessionIndex } from './session-index.js';
import { StatepadError } from '../model/errors.js';
import { deepFreeze } from '../model/json.js';
import { nameOf } from '../model/scope.js';
import type { ScopeValues } from './scope-values.js';
import type { CreationEvent } from './creation-event.js';
import type { SessionVersions, ValueList } from './scope-version.js';
import type {
  DroppedScopes,
  DuplicateEvent,
  PreparedChange,
  ScopeKey,
  ScopeSet,
  SessionPageQuery,
  SessionNumbers,
} from '../engine/sessions.js';
import type { Limits } from '../model/limits.js';
import type { Event, Json, Session, SessionKey, UpdateStateTarget } from '../model/types.js';

/** The calls to the core that do not change the values of handles. */
export type EngineQueries = Pick<
  SessionEngine,
  'prepareCreate' | 'prepareAppend' | 'prepareUpdate' | 'discard' | 'scopeOf'
>;

/** What a change writes. */
interface GrownBy {
  /** The most bytes of its delta. */
  readonly bound: number;
  /** The results of its operators, under full keys. */
  readonly results?: Readonly<Record<string, Json>> | undefined;
  /** The session that it appends to. */
  readonly record?: SessionRecord | undefined;
}

/**
 * A change takes two steps, so that it can be stored in between: the engine prepares it, and the registry applies it,
 * unless it is discarded.
 */
export class SessionRegistry {
  readonly #engine = new SessionEngine();
  readonly #scopes = new ScopeTable();
  readonly #sessions = new SessionIndex();
  /** By the session's number. */
  readonly #records: (SessionRecord | undefined)[] = [];

  /** The core. Calls that change the values of handles go through the registry. */
  get engine(): EngineQueries {
    return this.#engine;
  }

  /** Finds a session by its full key. */
  find(key: SessionKey): SessionRecord | undefined {
    return this.#sessions.find(key);
  }

  /** Any session of an app, of a user in it, or the one of a full key. */
  findAny(key: Partial<SessionKey> & Pick<SessionKey, 'appName'>): SessionRecord | undefined {
    return this.#sessions.findAny(key);
  }

  /** The users of an app that have a session with this id, in no order. */
  owners(appName: string, sessionId: string): Iterable<string> {
    return this.#sessions.owners(appName, sessionId);
  }

  /** The apps that have a session, in no order; the users of an app that have one. */
  names(appName?: string): Iterable<string> {
    return this.#sessions.names(appName);
  }

  /** Creates the record of a session that is not in the core. */
  newRecord(key: SessionKey, created: string): SessionRecord {
    return newRecord(this, key, created);
  }

  /**
   * Creates a handle of a session. `windowEvents` are the events of the window, where they were read for it alone;
   * `versions` the values that it shows, where they are not the current ones.
   */
  read(
    record: SessionRecord,
    window: EventWindow = ALL_EVENTS,
    windowEvents?: readonly Event[],
    versions: SessionVersions = versionsOf(record),
  ): Session {
    const length = record.base + record.events.length;
    return makeHandle({
      record,
      window,
      readLength: length,
      windowEvents,
      versions,
      length,
      revision: record.revision,
      updateTime: record.updateTime,
      expires: record.expires,
      temp: undefined,
      invocations: undefined,
      invocation: undefined,
      lease: undefined,
      state: undefined,
      events: undefined,
    });
  }

  /** The view behind a handle that this registry created. */
  view(session: unknown): View | undefined {
    const view = viewOf(session);
    return view?.record.owner === this ? view : undefined;
  }

  /** Brings a handle up to date, except for its `temp:` keys. */
  refresh(view: View): void {
    const { record } = view;
    view.versions = versionsOf(record);
    view.length = record.base + record.events.length;
    view.revision = record.revision;
    view.updateTime = record.updateTime;
    view.expires = record.expires;
    view.state = undefined;
    view.events = undefined;
  }

  /** Applies a creation to the `selected` scopes, those that do not have it yet. */
  applyCreate(
    key: SessionKey,
    creation: CreationEvent,
    change: PreparedChange,
    created = '',
    selected: ScopeSet = ALL_SCOPES,
  ): SessionRecord {
    const numbers = this.#engine.applyCreate(change, selected, this.#scopes);
    const record = this.newRecord(key, created);
    record.creation = creation;
    record.updateTime = creation.timestamp;
    this.#index(record, numbers);
    return record;
  }

  /** The stored event of a duplicate. */
  eventOf({ events, base }: SessionRecord, { duplicateOf }: DuplicateEvent): Event {
    return events[duplicateOf - base] ?? missing();
  }

  /** Applies an append to the `selected` scopes, those that do not have it yet. */
  applyAppend(record: SessionRecord, event: Event, change: PreparedChange, selected: ScopeSet = ALL_SCOPES): void {
    this.#engine.apply(change, selected, this.#scopes);
    if (selected.session) {
      record.events.push(event);
      record.revision += 1;
      record.updateTime = event.timestamp;
    }
  }

  /** Applies a change of app and user state to the `selected` scopes, those that do not have it yet. */
  applyUpdate(change: PreparedChange, selected: ScopeSet = ALL_SCOPES): void {
    this.#engine.apply(change, selected, this.#scopes);
  }

  /** Deletes a session. Its handles keep their values. */
  remove(record: SessionRecord): void {
    const dropped = this.#engine.remove(record.number);
    this.#removeScopes(record, dropped);
    this.#unindex(record);
    record.deleted = true;
  }

  /** Puts a session of a store into the core, without its values. Returns true if it was not there before. */
  restore(record: SessionRecord, revision: number, time: number): boolean {
    const numbers = this.#engine.restore(record.key, revision, time);
    const isNew = record.number === NOT_LOADED;
    if (isNew) {
      this.#index(record, numbers);
    }
    return isNew;
  }

  /** Takes a session out of the core. Its handles keep their values. Returns the scopes that were removed with it. */
  unload(record: SessionRecord): readonly number[] {
    const unloaded = this.#removeScopes(record, this.#engine.unload(record.number));
    this.#unindex(record);
    return unloaded;
  }

  /** Replaces the values of a scope. The new ones have full keys, and are frozen. */
  replaceScope(scope: number, values: Readonly<Record<string, Json | undefined>>): void {
    const keys = Object.keys(values).filter((key) => values[key] !== undefined);
    this.#engine.replaceScope(scope, keys);
    this.#scopes.valuesOf(scope).replace(
      keys,
      keys.map((key) => deepFreeze(values[key] as Json)),
    );
  }

  /** The values of an app, or of a user in it. They change: a caller must not retain them. */
  valuesOf({ appName, userId }: ScopeKey): ValueList {
    const scope = this.#engine.scopeOf(appName, userId);
    return scope === undefined ? NO_VALUES : this.#scopes.valuesOf(scope).head.list();
  }

  /** The scopes of a session, or of a user and an app, as far as they have values. */
  scopesOf({ appName, userId }: ScopeKey, record: SessionRecord | undefined): ScopesOfChange {
    if (record?.values !== undefined) {
      const [session, app, user] = record.values;
      return { session, app, user };
    }
    const valuesOf = (user: string | undefined): ScopeValues | undefined => {
      const scope = this.#engine.scopeOf(appName, user);
      return scope === undefined ? undefined : this.#scopes.valuesOf(scope);
    };
    return { session: undefined, app: valuesOf(undefined), user: userId === undefined ? undefined : valuesOf(userId) };
  }

  /**
   * Compares what a prepared change comes to with the limits: see {@link Growth}. It is discarded on failure, and
   * noted once it is applied.
   */
  checkGrowth(
    limits: Limits,
    target: UpdateStateTarget & ScopeKey,
    change: PreparedChange,
    { bound, results, record }: GrownBy,
  ): Growth {
    const growth = new Growth(limits, target, change, bound);
    try {
      if (record !== undefined) {
        growth.checkEvents(record.revision + 1);
      }
      growth.check(this.scopesOf(target, record), results);
      return growth;
    } catch (error) {
      this.#engine.discard(change);
      throw error;
    }
  }

  /** The current value of a full key in a session. */
  valueOf({ values }: SessionRecord, key: string): Json | undefined {
    const [scope] = nameOf(key);
    return (values ?? missing())[scope === 'session' ? 0 : scope === 'app' ? 1 : 2].get(key);
  }

  /** The full keys that an app has, or a user in it. */
  keysOf(scope: ScopeKey): string[] {
    const { keys, values } = this.valuesOf(scope);
    return keys.filter((_, slot) => values[slot] !== undefined);
  }

  /** The version of an app's scope, or of a user's in it. */
  scopeVersion({ appName, userId }: ScopeKey): number {
    const scope = this.#engine.scopeOf(appName, userId);
    return scope === undefined ? 0 : this.#engine.scopeVersion(scope);
  }

  /** One page of sessions, in the core's order. */
  list(query: SessionPageQuery): { sessions: Session[]; offset: number; total: number; cursor: string | undefined } {
    const { sessions: numbers, ...page } = this.#engine.list(query);
    const sessions = numbers.map((number) => this.read(this.#records[number] ?? missing(), NO_EVENTS));
    return { sessions, ...page };
  }

  /** Adds a session to the index under the core's number. */
  #index(record: SessionRecord, { number, scopes }: SessionNumbers): void {
    const [own, app, user] = scopes;
    record.number = number;
    record.scopes = scopes;
    record.values = [this.#scopes.valuesOf(own), this.#scopes.valuesOf(app), this.#scopes.valuesOf(user)];
    this.#records[number] = record;
    this.#sessions.add(record);
  }

  /** Removes a session from the index. */
  #unindex(record: SessionRecord): void {
    const { history, number } = record;
    record.history = undefined;
    record.number = NOT_LOADED;
    this.#records[number] = undefined;
    trimEnd(this.#records);
    this.#sessions.remove(record);
    history?.free();
  }

  /** Removes the scopes that the core dropped with a session, and returns them. */
  #removeScopes({ scopes: [own, app, user] }: SessionRecord, dropped: DroppedScopes): readonly number[] {
    const removed = [own, ...(dropped.app ? [app] : []), ...(dropped.user ? [user] : [])];
    removed.forEach((scope) => this.#scopes.remove(scope));
    return removed;
  }
}

const NO_VALUES: ValueList = { keys: [], values: [] };

/** The current versions of a session's scopes. */
function versionsOf({ values }: SessionRecord): SessionVersions {
  if (values === undefined) {
    return missing();
  }
  const [own, app, user] = values;
  return [own.head, app.head, user.head];
}

/** The core and this side disagree: a fault of this package. */
function missing(): never {
  throw new StatepadError('SESSION_NOT_FOUND', 'the core does not know a session that it should know');
}
