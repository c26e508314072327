/**
 * statepad under ADK's agents: `new Runner({ appName, agent, sessionService: new StatepadSessionService() })`.
 *
 * @packageDocumentation
 */

import {
  BaseSessionService,
  State as AdkState,
  type AppendEventRequest,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
} from '@google/adk';
import { isDeleted } from './deleted.js';
import { isStatepadError } from './errors.js';
import { sameJson, thaw } from './freeze.js';
import { viewOf, type View } from './handle.js';
import { APP_PREFIX, USER_PREFIX } from './scope.js';
import { SessionService, type SessionServiceOptions } from './service.js';
import type { Event as Stored, EventInit, Session as Handle } from './types.js';

export { DELETED } from './deleted.js';
export { instruction, type Instruction } from './instruction.js';

/** What is remembered of a session that ADK holds. */
interface Held {
  readonly handle: Handle;
  /** How many of the stored events the session's list has taken over. */
  taken: number;
  /** The values that the service has put into the session's state. What differs from them was written by others. */
  readonly shown: Map<string, unknown>;
  /** A session of ADK's own making that takes the same events: it knows which of two writes was made later. */
  readonly order: Session;
}

/**
 * ADK's session service on statepad. Its sessions are plain ADK sessions: the state is a record of the caller's own, as
 * ADK's `State`, plugins and code executors write to it and into its values; `events` is a list of the caller's own, as
 * ADK's compactors need it, of frozen events.
 *
 * Beyond ADK's own services: nothing appended is lost or overwritten, `user:` and `app:` keys given at creation are
 * kept, a taken id is an error, `temp:` keys that came by an event's delta or an output key are visible for the rest of
 * the invocation, and `state.set(key, DELETED)` deletes a key.
 */
export class StatepadSessionService extends BaseSessionService {
  /** The service underneath, for what ADK has no name for: `updateState`, `getUserState`, `getAppState`. */
  readonly service: SessionService;
  /** By the session and by its state, which a copy of the session shares. */
  readonly #held = new WeakMap<object, Held>();

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
   *
   * A compactor of ADK puts a changed copy of a stored event into the session's list and yields it again. The run sees
   * the copy; the log, which is never rewritten, keeps the event.
   */
  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    if (event.partial) {
      return event;
    }
    const held = this.#held.get(session) ?? this.#held.get(session.state);
    if (held === undefined) {
      return fromStored(await this.service.appendEvent({ session, event: toInit(event) }));
    }
    const view = viewOf(held.handle) as View;
    const before = snapshot(view);
    const effective = await this.#withoutOvertaken(held, event);
    let stored: Stored;
    try {
      stored = await this.service.appendEvent({ session: held.handle, event: toInit(effective) });
    } catch (error) {
      if (isStatepadError(error) && error.code === 'EVENT_ID_CONFLICT' && session.events.includes(event)) {
        return event;
      }
      throw error;
    }
    await super.appendEvent({ session: { ...session, events: [] }, event: copyOf(effective) });
    showEvents(session, held, view, event, stored);
    showState(session, held, view, before, effective, stored);
    return fromStored(stored);
  }

  /**
   * The event without the keys that were written again later, by an event that has been appended already: of two writes
   * the later one wins, whatever order parallel branches append in. ADK stamps each write, and applies a delta by them.
   */
  async #withoutOvertaken({ order }: Held, event: Event): Promise<Event> {
    const delta = deltaOf(event);
    if (Object.keys(delta).length === 0) {
      return event;
    }
    await withTemp(() => super.appendEvent({ session: order, event: copyOf(event) }));
    order.events.length = 0;
    const overtaken = Object.keys(delta).filter((key) => order.state[key] !== delta[key]);
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
    const { length } = viewOf(handle) as View;
    const held = { handle, taken: length, shown: new Map(Object.entries(session.state)), order };
    this.#held.set(session, held);
    this.#held.set(session.state, held);
    return session;
  }
}

/** A session as ADK knows it: its own record and its own list over what is shared. */
function toSession(handle: Handle): Session {
  const { id, appName, userId, lastUpdateTime } = handle;
  const state = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of Object.entries(handle.state)) {
    state[key] = thaw(value);
  }
  return { id, appName, userId, state, events: handle.events.map(listed), lastUpdateTime };
}

/**
 * An event as it stands in the list. One with thoughts has a delta of its own: the compactor that prunes them makes a
 * copy that shares it, and an agent with an output key writes into that copy.
 */
function listed(event: Stored): Event {
  const { content, actions } = event;
  const isLoose = content?.parts?.some(({ thought }) => thought) ?? false;
  return fromStored(isLoose ? { ...event, actions: { ...actions, stateDelta: { ...actions.stateDelta } } } : event);
}

/** ADK's types for the same JSON: theirs may be written to. */
function fromStored(event: Stored): Event {
  return event as unknown as Event;
}

function toInit(event: Event): EventInit {
  return event;
}

/** An event that was read from elsewhere may lack what ADK's types promise. */
function deltaOf(event: Event): Readonly<Record<string, unknown>> {
  return (event as { actions?: { stateDelta?: Record<string, unknown> } }).actions?.stateDelta ?? {};
}

/**
 * ADK passes over `temp:` keys when it compares writes. What `compare` does before it first waits, it does for them, too.
 */
function withTemp<T>(compare: () => T): T {
  const { TEMP_PREFIX } = AdkState;
  try {
    Reflect.set(AdkState, 'TEMP_PREFIX', '\0');
    return compare();
  } finally {
    Reflect.set(AdkState, 'TEMP_PREFIX', TEMP_PREFIX);
  }
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

/** Puts what has been stored since into ADK's list. The event may stand there already, put there by ADK. */
function showEvents(session: Session, held: Held, view: View, event: Event, stored: Stored): void {
  const place = session.events.lastIndexOf(event);
  const { events, base } = view.record;
  for (const news of events.slice(held.taken - base, view.length - base)) {
    if (news === stored && place >= 0) {
      session.events[place] = listed(news);
    } else {
      session.events.push(listed(news));
    }
  }
  held.taken = view.length;
  session.lastUpdateTime = view.updateTime;
}

/** Brings ADK's state up to date. Values that agents have set and not appended yet stay. */
function showState(session: Session, held: Held, view: View, before: Snapshot, event: Event, stored: Stored): void {
  const { temp } = view;
  const given = deltaOf(event);
  for (const [key, value] of Object.entries(stored.actions.stateDelta)) {
    show(session, held, key, isGone(stored, key) ? undefined : { value }, given[key]);
  }
  before.temp.filter((key) => !temp?.has(key)).forEach((key) => show(session, held, key, undefined, given[key]));
  temp?.forEach((value, key) => Object.hasOwn(given, key) && show(session, held, key, { value }, given[key]));
  if (!isAlone(view, before, stored)) {
    showOthers(session, held);
  }
}

/** Whether nothing but the one event has moved the session and its scopes. */
function isAlone(view: View, before: Snapshot, stored: Stored): boolean {
  const keys = Object.keys(stored.actions.stateDelta);
  const app = keys.filter((key) => key.startsWith(APP_PREFIX)).length;
  const user = keys.filter((key) => key.startsWith(USER_PREFIX)).length;
  const touched = [keys.length > app + user, app > 0, user > 0];
  const moved = view.cells.map((cell, index) => cell.version - (before.versions[index] ?? 0));
  return view.length === before.length + 1 && moved.every((count, index) => count === Number(touched[index]));
}

function isGone(event: Stored, key: string): boolean {
  const own = (event.customMetadata as { statepad?: { deleted?: readonly string[] } } | undefined)?.statepad;
  return own?.deleted?.includes(key) ?? false;
}

/** Puts a committed value into the session's state, unless somebody has written another one that waits for its event. */
function show(session: Session, { shown }: Held, key: string, committed: { readonly value: unknown } | undefined, given: unknown): void {
  const current = session.state[key];
  const isGiven = current === given || (isDeleted(current) && isDeleted(given));
  const isPending = Object.hasOwn(session.state, key) && !isGiven && current !== shown.get(key);
  if (committed === undefined) {
    shown.delete(key);
  } else {
    shown.set(key, thaw(committed.value));
  }
  if (isPending) {
    return;
  }
  if (committed === undefined) {
    delete session.state[key];
  } else {
    session.state[key] = shown.get(key);
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
