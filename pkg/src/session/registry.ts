// All sessions that a backend has in the core, with their event bodies and the values that their handles show.

import { ALL_SCOPES, SessionEngine } from '../engine/sessions.js';
import { ALL_EVENTS, NO_EVENTS, type EventWindow } from './event-window.js';
import { makeHandle, viewOf, type View } from './handle.js';
import { NOT_LOADED, newRecord, type SessionRecord } from './record.js';
import { ScopeSnapshots, type SessionSnapshots } from './scope-snapshot.js';
import { SessionIndex } from './session-index.js';
import { StatepadError } from '../model/errors.js';
import type { CreationEvent } from './creation.js';
import type { DuplicateEvent, PreparedChange, ScopeKey, ScopeSet, SessionPageQuery } from '../engine/sessions.js';
import type { Event, Json, Session, SessionKey } from '../model/types.js';

/** What the core can be asked without a change of what handles show. */
export type EngineQueries = Pick<
  SessionEngine,
  'prepareCreate' | 'prepareAppend' | 'prepareUpdate' | 'scopedDelta' | 'discard' | 'scopeOf'
>;

/**
 * A change goes in in two steps, so that it can be stored in between: the engine prepares it, and the registry applies
 * it, unless it is discarded.
 */
export class SessionRegistry {
  readonly #engine = new SessionEngine();
  readonly #snapshots = new ScopeSnapshots(this.#engine);
  readonly #sessions = new SessionIndex();
  /** By the session's number. */
  readonly #records: (SessionRecord | undefined)[] = [];

  /** The core. What changes the values that handles show goes through the registry. */
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

  /** A record of a session that is not in the core. */
  newRecord(key: SessionKey, created: string): SessionRecord {
    return newRecord(this, key, created);
  }

  /**
   * A new handle of a session as it is now. `given` are the events of the window, where they had to be read for it
   * alone; `snapshots` the values that it shows, where they are not those in the core.
   */
  read(
    record: SessionRecord,
    window: EventWindow = ALL_EVENTS,
    given?: readonly Event[],
    snapshots: SessionSnapshots = this.#snapshots.take(record.scopes),
  ): Session {
    const length = record.base + record.events.length;
    return makeHandle({
      record,
      window,
      readLength: length,
      given,
      snapshots,
      length,
      revision: record.revision,
      updateTime: record.updateTime,
      temp: undefined,
      invocations: undefined,
      invocation: undefined,
      state: undefined,
      events: undefined,
    });
  }

  /** The view behind a handle that this registry made. */
  view(session: unknown): View | undefined {
    const view = viewOf(session);
    return view?.record.owner === this ? view : undefined;
  }

  /** Brings a handle up to date, but for its `temp:` keys. */
  refresh(view: View): void {
    const { record } = view;
    this.#snapshots.update(view.snapshots, record.scopes);
    view.length = record.base + record.events.length;
    view.revision = record.revision;
    view.updateTime = record.updateTime;
    view.state = undefined;
    view.events = undefined;
  }

  /** Applies a creation, in those of its `parts` that are not here already. */
  applyCreate(
    key: SessionKey,
    creation: CreationEvent,
    change: PreparedChange,
    created = '',
    parts: ScopeSet = ALL_SCOPES,
  ): SessionRecord {
    this.#beforeSharedMove(key, change, parts);
    const record = this.newRecord(key, created);
    record.creation = creation;
    record.updateTime = creation.timestamp;
    this.#index(record, this.#engine.apply(change, parts) ?? missing());
    return record;
  }

  /** The event that the session has already. */
  eventOf({ events, base }: SessionRecord, { duplicateOf }: DuplicateEvent): Event {
    return events[duplicateOf - base] ?? missing();
  }

  /**
   * Applies an append, in those of its `parts` that are not here already. The handle that it came `through` is
   * refreshed next: the values that it shows need not be kept.
   */
  applyAppend(
    record: SessionRecord,
    event: Event,
    change: PreparedChange,
    through: View | undefined,
    parts: ScopeSet = ALL_SCOPES,
  ): void {
    const { scopes } = change;
    const [own, app, user] = record.scopes;
    if (scopes.session && parts.session) {
      this.#snapshots.beforeMove(own, through?.snapshots[0]);
    }
    if (scopes.app && parts.app) {
      this.#snapshots.beforeMove(app, through?.snapshots[1]);
    }
    if (scopes.user && parts.user) {
      this.#snapshots.beforeMove(user, through?.snapshots[2]);
    }
    this.#engine.apply(change, parts);
    if (parts.session) {
      record.events.push(event);
      record.revision += 1;
      record.updateTime = event.timestamp;
    }
  }

  /** Applies a change of app and user state, in those of its `parts` that are not here already. */
  applyUpdate(scope: ScopeKey, change: PreparedChange, parts: ScopeSet = ALL_SCOPES): void {
    this.#beforeSharedMove(scope, change, parts);
    this.#engine.apply(change, parts);
  }

  /** Deletes a session. Handles keep showing what they show. */
  remove(record: SessionRecord): void {
    const {
      number,
      scopes: [own, app, user],
      key: { appName, userId },
    } = record;
    this.#snapshots.beforeMove(own);
    this.#engine.remove(number);
    this.#unindex(record);
    record.deleted = true;
    // The core keeps no user, and no app, without sessions and state: the numbers of their scopes name others next.
    if (this.#engine.scopeOf(appName) === undefined) {
      this.#snapshots.beforeMove(app);
    }
    if (this.#engine.scopeOf(appName, userId) === undefined) {
      this.#snapshots.beforeMove(user);
    }
  }

  /** Takes over a session as its store has it, without its values. Whether it was not in the core before. */
  restore(record: SessionRecord, revision: number, time: number): boolean {
    const number = this.#engine.restore(record.key, revision, time);
    const isNew = record.number === NOT_LOADED;
    if (isNew) {
      this.#index(record, number);
    }
    return isNew;
  }

  /**
   * Takes a session out of the core. Handles keep showing what they show. Answers with the scopes that went with it.
   */
  unload(record: SessionRecord): readonly number[] {
    const {
      number,
      scopes: [own, app, user],
      key: { appName, userId },
    } = record;
    this.#unindex(record);
    const left = [own];
    if (!this.#sessions.has(appName)) {
      left.push(app);
    }
    if (!this.#sessions.has(appName, userId)) {
      left.push(user);
    }
    left.forEach((scope) => this.#snapshots.beforeMove(scope));
    this.#engine.forget(number);
    return left;
  }

  /** Replaces the values of a scope by these, which go under full keys. */
  replaceScope(scope: number, values: Readonly<Record<string, Json>>): void {
    this.#snapshots.beforeMove(scope);
    this.#engine.replaceScope(scope, values);
  }

  /** The values of an app, or of a user in it, as JSON text: under full keys or under names. */
  scopeText({ appName, userId }: ScopeKey, fullKeys: boolean): string {
    const scope = this.#engine.scopeOf(appName, userId);
    return scope === undefined ? '{}' : this.#engine.scopeText(scope, fullKeys);
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

  /** A session that the core knows under a number can be found from now on. */
  #index(record: SessionRecord, number: number): void {
    record.number = number;
    record.scopes = this.#engine.scopesOf(number) ?? missing();
    this.#records[number] = record;
    this.#sessions.add(record);
  }

  /** A session cannot be found any more. */
  #unindex(record: SessionRecord): void {
    const { history, number } = record;
    record.history = undefined;
    record.number = NOT_LOADED;
    this.#records[number] = undefined;
    this.#sessions.remove(record);
    history?.free();
  }

  #beforeSharedMove({ appName, userId }: ScopeKey, { scopes }: PreparedChange, parts: ScopeSet): void {
    const app = scopes.app && parts.app ? this.#engine.scopeOf(appName) : undefined;
    if (app !== undefined) {
      this.#snapshots.beforeMove(app);
    }
    const user = scopes.user && parts.user ? this.#engine.scopeOf(appName, userId) : undefined;
    if (user !== undefined) {
      this.#snapshots.beforeMove(user);
    }
  }
}

/** The core and this side disagree: a fault of this package. */
function missing(): never {
  throw new StatepadError('SESSION_NOT_FOUND', 'the core does not know a session that it should know');
}
