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
import { WriteOrder, type Writes } from './adk/write-order.js';
import { isDeleted } from './model/deletion.js';
import { isStatepadError } from './model/errors.js';
import { sameJson, thaw } from './model/json.js';
import { viewOf, type View } from './session/handle.js';
import { warn } from './model/warnings.js';
import { checkObject } from './checks/arguments.js';
import { APP_PREFIX, USER_PREFIX } from './model/scope.js';
import { SessionService, type SessionServiceOptions } from './service/session-service.js';
import type { Event as Stored, EventInit, Session as Handle } from './model/types.js';

export { DELETED } from './model/deletion.js';
export { instruction, type Instruction } from './adk/instruction.js';

/** What is remembered of a session that ADK holds. */
interface Held {
  readonly handle: Handle;
  /** How many of the stored events the session's list has taken over. */
  taken: number;
  /** The values that the service has put into the session's state. What differs from them was written by others. */
  readonly shown: Map<string, unknown>;
  /** Which of two writes was made later. */
  readonly order: WriteOrder;
  /** By the event's id: the writes of events that are stored or not, nobody knows. */
  readonly doubtful: Map<string, Writes>;
  /** Settles when the append that was asked for last is over: appends take turns. */
  turn: Promise<unknown>;
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
    checkObject(session, 'session');
    checkObject(event, 'event');
    const held = this.#held.get(session) ?? this.#held.get(session.state);
    if (held === undefined || event.partial) {
      return fromStored(await this.service.appendEvent({ session, event: toInit(event) }));
    }
    // An event without stamps counts as written now, not when its turn comes.
    const writes = held.order.written(deltaOf(event));
    const appended = held.turn.then(async () => await this.#append(held, session, event, await writes));
    held.turn = appended.catch(() => undefined);
    return await appended;
  }

  /**
   * Appends an event without the keys that were written again later, by an event that is stored already: of two writes
   * the later one wins, whatever order parallel branches append in.
   */
  async #append(held: Held, session: Session, event: Event, writes: Writes): Promise<Event> {
    const view = viewOf(held.handle) as View;
    const before = snapshot(view);
    const looked = await this.#lookUpDoubtful(held);
    const overtaken = await held.order.overtaken(writes);
    // An event that is given once more says what it said.
    const log = looked ?? (overtaken.length > 0 ? view.record.events : []);
    const repeated = log.find(({ id }) => id === event.id)?.actions.stateDelta;
    const effective = without(event, overtaken.filter((key) => repeated === undefined || !Object.hasOwn(repeated, key)));
    let stored: Stored;
    try {
      stored = await this.service.appendEvent({ session: held.handle, event: toInit(effective) });
    } catch (error) {
      const code = isStatepadError(error) ? error.code : undefined;
      if (code === 'EVENT_ID_CONFLICT' && session.events.includes(event)) {
        return event;
      }
      if (code === 'COMMIT_UNKNOWN') {
        held.doubtful.set(event.id, writes);
      }
      throw error;
    }
    const news = takeNews(held, view);
    const isNew = news.includes(stored);
    if (isNew && repeated === undefined) {
      held.order.stored(writes, overtaken);
    }
    try {
      showEvents(session, news, view, event, stored);
      if (isNew) {
        await super.appendEvent({ session: { ...session, events: [] }, event: copyOf(effective) });
        showState(session, held, view, before, effective, stored);
      }
      if (!isAlone(view, before, stored)) {
        showOthers(session, held);
      }
    } catch (error) {
      // The event is stored: to throw would say that it is not.
      const message = `session "${session.id}" could not be brought up to date, although its event is stored: ${String(error)}`;
      warn('STATEPAD_SESSION_BEHIND', message);
    }
    return fromStored(stored);
  }

  /** Asks what became of the events of which that is not known. Answers with the log when it had to be read. */
  async #lookUpDoubtful({ handle, doubtful, order }: Held): Promise<readonly Stored[] | undefined> {
    if (doubtful.size === 0) {
      return undefined;
    }
    const { appName, userId, id: sessionId } = handle;
    const session = await this.service.getSession({ appName, userId, sessionId });
    const log = session?.events ?? [];
    for (const [id, writes] of doubtful) {
      if (log.some((event) => event.id === id)) {
        order.stored(writes, await order.overtaken(writes));
      }
    }
    doubtful.clear();
    return log;
  }

  #hold(handle: Handle): Session {
    const session = toSession(handle);
    const { length: taken } = viewOf(handle) as View;
    const held = {
      handle,
      taken,
      shown: new Map(Object.entries(session.state)),
      order: new WriteOrder((request) => super.appendEvent(request)),
      doubtful: new Map<string, Writes>(),
      turn: Promise.resolve(),
    };
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
  const delta = (event as { actions?: { stateDelta?: unknown } | null }).actions?.stateDelta;
  return typeof delta === 'object' && delta !== null ? (delta as Record<string, unknown>) : {};
}

/** What may be changed without the caller's event changing. */
function copyOf(event: Event): Event {
  return { ...event, actions: { ...event.actions } };
}

/** An event without some keys of its delta. */
function without(event: Event, keys: readonly string[]): Event {
  if (keys.length === 0) {
    return event;
  }
  const copy = copyOf(event);
  copy.actions.stateDelta = Object.fromEntries(Object.entries(deltaOf(event)).filter(([key]) => !keys.includes(key)));
  return copy;
}

/** Where a view stood. */
interface Snapshot {
  readonly length: number;
  readonly versions: readonly number[];
  readonly temp: readonly string[];
}

function snapshot(view: View): Snapshot {
  return { length: view.length, versions: view.snapshots.map(({ version }) => version), temp: [...(view.temp?.keys() ?? [])] };
}

/** What has been stored since the list was last brought up to date. */
function takeNews(held: Held, { record, length }: View): readonly Stored[] {
  const news = record.events.slice(held.taken - record.base, length - record.base);
  held.taken = length;
  return news;
}

/** Puts what has been stored since into ADK's list. The event may stand there already, put there by ADK. */
function showEvents(session: Session, news: readonly Stored[], view: View, event: Event, stored: Stored): void {
  const place = session.events.lastIndexOf(event);
  for (const added of news) {
    if (added === stored && place >= 0) {
      session.events[place] = listed(added);
    } else {
      session.events.push(listed(added));
    }
  }
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
}

/** Whether nothing but the one event has moved the session and its scopes. */
function isAlone(view: View, before: Snapshot, stored: Stored): boolean {
  const keys = Object.keys(stored.actions.stateDelta);
  const app = keys.filter((key) => key.startsWith(APP_PREFIX)).length;
  const user = keys.filter((key) => key.startsWith(USER_PREFIX)).length;
  const touched = [keys.length > app + user, app > 0, user > 0];
  const moved = view.snapshots.map(({ version }, index) => version - (before.versions[index] ?? 0));
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
