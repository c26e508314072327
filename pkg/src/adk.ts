/**
 * statepad under ADK's agents: `new Runner({ appName, agent, sessionService: new StatepadSessionService() })`.
 *
 * @packageDocumentation
 */

import {
  BaseSessionService,
  type AppendEventRequest,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
} from '@google/adk';
import { viewOf, type View } from './handle.js';
import { isDeleted } from './deleted.js';
import { sameJson } from './freeze.js';
import { isTemp } from './scope.js';
import { SessionService, type SessionServiceOptions } from './service.js';
import { State } from './state.js';
import type { Event as Stored, EventInit, Session as Handle } from './types.js';

export { DELETED } from './deleted.js';
export { instruction, type Instruction } from './instruction.js';

/** What is remembered of a session that ADK holds. */
interface Held {
  readonly handle: Handle;
  /** The values that the service has put into the session's state. What differs from them was written by others. */
  readonly shown: Map<string, unknown>;
  /** A session of ADK's own making that takes the same events: it knows which of two writes was made later. */
  readonly order: Session;
}

/**
 * ADK's session service on statepad. Its sessions are plain ADK sessions: `state` may be written at the top level, as
 * ADK's `State` and compactors do, while the values in it are frozen; `events` is an array of frozen events.
 *
 * Beyond ADK's own services: nothing appended is lost or overwritten, `user:` and `app:` keys given at creation are
 * kept, a taken id is an error, `temp:` keys that came by an event's delta or an output key are visible for the rest of
 * the invocation, and `state.set(key, DELETED)` deletes a key.
 */
export class StatepadSessionService extends BaseSessionService {
  /** The service underneath, for what ADK has no name for: `updateState`, `getUserState`, `getAppState`. */
  readonly service: SessionService;
  readonly #held = new WeakMap<Session, Held>();

  constructor(options: SessionServiceOptions = {}) {
    super();
    this.service = new SessionService({ ...options, admit: { instances: true } });
  }

  /** Creates a session. Throws `SESSION_EXISTS` when the id is taken. */
  override async createSession(request: CreateSessionRequest): Promise<Session> {
    return this.#hold(await this.service.createSession(request));
  }

  /** Gets a session as it is now, or `undefined` when there is none. */
  override async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const handle = await this.service.getSession(request);
    return handle && this.#hold(handle);
  }

  /** Gets a session, or creates it when there is none. */
  override async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    return this.#hold(await this.service.getOrCreateSession(request));
  }

  /** Lists sessions with their state, by the time of their last event. */
  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { sessions, ...page } = await this.service.listSessions(request);
    return { ...page, sessions: sessions.map((handle) => toSession(handle)) };
  }

  /** Deletes a session. It need not be there. */
  override async deleteSession(request: DeleteSessionRequest): Promise<void> {
    await this.service.deleteSession(request);
  }

  /**
   * Appends an event and brings the session up to date. The event that was given stays as it is; the one that is
   * stored is a frozen copy. Throws as `SessionService.appendEvent`; nothing has changed then.
   */
  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    if (event.partial) {
      return event;
    }
    const held = this.#held.get(session);
    if (held === undefined) {
      return (await this.service.appendEvent({ session, event: event as unknown as EventInit })) as unknown as Event;
    }
    const view = viewOf(held.handle) as View;
    const before = snapshot(view);
    const effective = await this.#withoutOvertaken(held, event);
    const stored = await this.service.appendEvent({ session: held.handle, event: effective as unknown as EventInit });
    await super.appendEvent({ session: { ...session, events: [] }, event: copyOf(effective) });
    update(session, held, view, before, effective);
    return stored as unknown as Event;
  }

  /**
   * The event without the keys that were written again later, by an event that has been appended already: of two writes
   * the later one wins, whatever order parallel branches append in. ADK stamps each write, and applies a delta by them.
   */
  async #withoutOvertaken({ order }: Held, event: Event): Promise<Event> {
    const delta = event.actions?.stateDelta;
    if (delta === undefined || Object.keys(delta).length === 0) {
      return event;
    }
    await super.appendEvent({ session: order, event: copyOf(event) });
    order.events.length = 0;
    const overtaken = Object.keys(delta).filter((key) => !isTemp(key) && order.state[key] !== delta[key]);
    if (overtaken.length === 0) {
      return event;
    }
    const copy = copyOf(event);
    copy.actions.stateDelta = Object.fromEntries(Object.entries(delta).filter(([key]) => !overtaken.includes(key)));
    return copy;
  }

  #hold(handle: Handle): Session {
    const session = toSession(handle);
    const order = { ...session, state: Object.create(null) as Record<string, unknown>, events: [] };
    this.#held.set(session, { handle, shown: new Map(Object.entries(session.state)), order });
    return session;
  }
}

/** A session as ADK knows it: its own record and its own list over what is frozen and shared. */
function toSession(handle: Handle): Session {
  const { id, appName, userId, lastUpdateTime } = handle;
  const state = Object.assign(Object.create(null) as Record<string, unknown>, handle.state);
  return { id, appName, userId, state, events: [...handle.events] as unknown as Event[], lastUpdateTime };
}

/** What may be changed without the caller's event changing. */
function copyOf(event: Event): Event {
  return { ...event, actions: { ...event.actions } };
}

/** Where a view stood. */
interface Snapshot {
  readonly length: number;
  readonly versions: readonly number[];
  readonly temp: readonly string[];
}

function snapshot(view: View): Snapshot {
  return { length: view.length, versions: view.cells.map((cell) => cell.version), temp: [...(view.temp?.keys() ?? [])] };
}

/** Brings ADK's session up to date after an append. Values that agents have set and not appended yet stay. */
function update(session: Session, held: Held, view: View, before: Snapshot, event: Event): void {
  const { record, temp, length } = view;
  session.events.push(...(record.events.slice(before.length, length) as unknown as Event[]));
  session.lastUpdateTime = view.updateTime;

  const stored = record.events[length - 1];
  const given = event.actions?.stateDelta ?? {};
  for (const [key, value] of Object.entries(stored?.actions.stateDelta ?? {})) {
    show(session, held, key, isGone(stored, key) ? undefined : { value }, given[key]);
  }
  before.temp.filter((key) => !temp?.has(key)).forEach((key) => show(session, held, key, undefined, given[key]));
  temp?.forEach((value, key) => Object.hasOwn(given, key) && show(session, held, key, { value }, given[key]));
  if (!isAlone(view, before, stored)) {
    showOthers(session, held);
  }
}

/** Whether nothing but the one event has moved the session and its scopes. */
function isAlone(view: View, before: Snapshot, stored: Stored | undefined): boolean {
  const keys = Object.keys(stored?.actions.stateDelta ?? {});
  const [app, user] = [State.APP_PREFIX, State.USER_PREFIX].map((prefix) => keys.filter((key) => key.startsWith(prefix)).length);
  const touched = [keys.length > (app ?? 0) + (user ?? 0), app !== 0, user !== 0];
  const moved = view.cells.map((cell, index) => cell.version - (before.versions[index] ?? 0));
  return view.length === before.length + 1 && moved.every((count, index) => count === Number(touched[index]));
}

function isGone(event: { readonly customMetadata?: unknown } | undefined, key: string): boolean {
  const own = (event?.customMetadata as { statepad?: { deleted?: readonly string[] } } | undefined)?.statepad;
  return own?.deleted?.includes(key) ?? false;
}

/** Puts a committed value into the session's state, unless somebody has written another one that waits for its event. */
function show(session: Session, { shown }: Held, key: string, committed: { readonly value: unknown } | undefined, given: unknown): void {
  const there = Object.hasOwn(session.state, key);
  const current = session.state[key];
  const isPending = there && current !== given && !isDeleted(current) && current !== shown.get(key);
  if (committed === undefined) {
    shown.delete(key);
  } else {
    shown.set(key, committed.value);
  }
  if (isPending) {
    return;
  }
  if (committed === undefined) {
    delete session.state[key];
  } else {
    session.state[key] = committed.value;
  }
}

/** Others have written meanwhile: their keys show, too. */
function showOthers(session: Session, held: Held): void {
  const state = held.handle.state;
  for (const [key, value] of Object.entries(state)) {
    if (!sameJson(value, held.shown.get(key))) {
      show(session, held, key, { value }, undefined);
    }
  }
  for (const key of held.shown.keys()) {
    if (!Object.hasOwn(state, key)) {
      show(session, held, key, undefined, undefined);
    }
  }
}
