// ADK's session service, over the package's.

import {
  BaseSessionService,
  type AppendEventRequest,
  type BaseArtifactService,
  type CreateSessionRequest,
  type DeleteSessionRequest,
  type Event,
  type GetSessionRequest,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type Session,
} from '@google/adk';
import { restoredArtifacts } from './artifacts.js';
import { copyOf, deltaOf, fromStored, toInit, without } from './events.js';
import {
  isAlone,
  showEvents,
  showNews,
  showOthers,
  showState,
  snapshot,
  takeNews,
  toSession,
  type TrackedSession,
} from './session-view.js';
import { StatepadPlugin } from './plugin.js';
import { ToolCalls } from './tool-calls.js';
import { WriteOrder, type Writes } from './write-order.js';
import { logOf, showCurrentEvents, requestedWindow, currentOf } from './current-events.js';
import { isMarker } from '../engine/rewind.js';
import { throwNotFound } from '../session/append.js';
import { isStatepadError } from '../model/errors.js';
import { isObject } from '../model/value-types.js';
import { viewOf, type View } from '../session/handle.js';
import { warn } from '../model/warnings.js';
import { checkMethods, checkObject } from '../checks/arguments.js';
import { SessionService, type SessionServiceOptions } from '../service/session-service.js';
import type { Lease } from '../model/lease.js';
import type { ForkOptions, RewindOptions, Rewound } from '../model/rewind.js';
import type { Abortable, Event as Stored, Session as Handle, SessionEnd, SessionName } from '../model/types.js';

/** Options of a {@link StatepadSessionService}. */
export interface StatepadSessionServiceOptions extends SessionServiceOptions {
  /** The runner's: `rewind` and `redo` restore the artifacts of the session in it. */
  readonly artifactService?: BaseArtifactService | undefined;
}

/** The result of a rewind of an ADK session. */
export interface RewoundSession extends Rewound {
  /** The current session. */
  readonly session: Session;
}

/**
 * ADK's session service on statepad. Its sessions are plain ADK sessions: the state is a mutable record of the
 * caller's, because ADK's `State`, plugins and code executors write to it and into its values; `events` is a mutable
 * list, as ADK's compactors need it, of frozen events.
 *
 * Beyond ADK's own services: no appended event is lost or overwritten, `user:` and `app:` keys of the creation are
 * kept, a duplicate id is an error, `temp:` keys of an event's delta or an output key are visible for the rest of the
 * invocation, and `state.set(key, DELETED)` deletes a key.
 */
export class StatepadSessionService extends BaseSessionService {
  /** The underlying service, for operations that ADK does not have: `updateState`, `getUserState`, `getAppState`. */
  readonly service: SessionService;
  /** By the session and by its state, which a copy of the session shares. */
  readonly #tracked = new WeakMap<object, TrackedSession>();

  readonly #artifacts: BaseArtifactService | undefined;
  #plugin: StatepadPlugin | undefined;

  constructor({ artifactService, ...options }: StatepadSessionServiceOptions = {}) {
    super();
    if (artifactService !== undefined) {
      checkMethods(artifactService, 'artifactService', ['loadArtifact', 'saveArtifact']);
    }
    this.#artifacts = artifactService;
    this.service = new SessionService({ ...options, admit: { instances: true } });
  }

  /**
   * For the plugins of ADK's `Runner`, before all others: with it, the operators of all tools count that a model
   * calls in one answer. Without it an event is refused with `INVALID_ARGUMENT` when an operator in it may be one of
   * several. `LeasedRunner` adds it by itself.
   *
   * @example
   * const runner = new Runner({ appName, agent, sessionService, plugins: [sessionService.plugin] });
   */
  get plugin(): StatepadPlugin {
    return (this.#plugin ??= new StatepadPlugin((session, id, actions) => {
      this.#trackedOf(session)?.calls.called(id, actions);
    }));
  }

  /** Creates a session, which may have an end of its own: `ttl` or `expireTime`. Throws `SESSION_EXISTS`. */
  override async createSession(request: CreateSessionRequest & SessionEnd): Promise<Session> {
    return await this.#open(await this.service.createSession(request));
  }

  /** Gets the current session, or `undefined` when it is missing. */
  override async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const handle = await this.service.getSession(request);
    return handle && (await this.#open(handle, request.config));
  }

  /** Gets a session, or creates it when it is missing. */
  override async getOrCreateSession(request: CreateSessionRequest & SessionEnd): Promise<Session> {
    return await this.#open(await this.service.getOrCreateSession(request));
  }

  /** Lists sessions with their state, by the time of their last event. */
  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { sessions, ...page } = await this.service.listSessions(request);
    return { ...page, sessions: sessions.map((handle) => toSession(handle, [])) };
  }

  /** Deletes a session, if it exists. */
  override async deleteSession(request: DeleteSessionRequest): Promise<void> {
    await this.service.deleteSession(request);
  }

  /**
   * Appends an event and brings the session up to date. The caller's event stays as it is; the stored one is a frozen
   * copy. Throws as `SessionService.appendEvent`, without an effect.
   *
   * A compactor of ADK puts a changed copy of a stored event into the session's list and yields it again. The run
   * sees the copy; the log, which is append-only, keeps the event.
   */
  override async appendEvent({ session, event }: AppendEventRequest): Promise<Event> {
    checkObject(session, 'session');
    checkObject(event, 'event');
    const tracked = this.#trackedOf(session);
    if (tracked === undefined || event.partial) {
      return fromStored(await this.service.appendEvent({ session, event: toInit(event) }));
    }
    // An event without stamps counts as written now, not when its turn in the queue comes.
    const whole = tracked.calls.combined(event, session.events);
    const writes = tracked.order.stampsOf(deltaOf(whole));
    const appended = tracked.queue.then(async () => await this.#append(tracked, session, event, whole, await writes));
    tracked.queue = appended.catch(() => undefined);
    return await appended;
  }

  /**
   * Appends an event without the keys that a stored event has overwritten since: of two writes the later one wins, in
   * any order of appending by parallel branches. `whole` is the event with the writes of all tools that it answers.
   */
  async #append(
    tracked: TrackedSession,
    session: Session,
    event: Event,
    whole: Event,
    writes: Writes,
  ): Promise<Event> {
    const view = viewOf(tracked.handle) as View;
    const before = snapshot(view);
    const looked = await this.#lookUpDoubtful(tracked);
    const overtaken = await tracked.order.overtaken(writes);
    // An event that is appended again has its original delta.
    const log = looked ?? (overtaken.dropped.length > 0 ? view.record.events : []);
    const repeated = log.find(({ id }) => id === event.id)?.actions.stateDelta;
    const effective = without(
      whole,
      overtaken.dropped.filter((key) => repeated === undefined || !Object.hasOwn(repeated, key)),
    );
    let stored: Stored;
    try {
      stored = await this.service.appendEvent({ session: tracked.handle, event: toInit(effective) });
    } catch (error) {
      const code = isStatepadError(error) ? error.code : undefined;
      if (code === 'EVENT_ID_CONFLICT' && session.events.includes(event)) {
        return event;
      }
      if (code === 'COMMIT_UNKNOWN') {
        tracked.doubtful.set(event.id, writes);
      }
      throw error;
    }
    tracked.calls.stored(event);
    const { eventCount } = tracked;
    const news = takeNews(tracked, view);
    const isNew = news.includes(stored);
    if (isNew && repeated === undefined) {
      tracked.order.stored(writes, overtaken);
    }
    try {
      showEvents(session, news, view, event, stored);
      await this.#showRewinds(session, tracked, news, eventCount);
      if (isNew) {
        await super.appendEvent({ session: { ...session, events: [] }, event: copyOf(effective) });
        showState(session, tracked, view, before, effective, stored);
      }
      if (!isAlone(view, before, stored)) {
        showOthers(session, tracked);
      }
    } catch (error) {
      // The event is stored: an exception would say that it is not.
      const message = `session "${session.id}" could not be brought up to date, although its event is stored: ${String(error)}`;
      warn('STATEPAD_SESSION_BEHIND', message);
    }
    return fromStored(stored);
  }

  /**
   * Rewinds a session, see `SessionService.rewind`: the session's own keys become as they were before the invocation,
   * and the events from then on are no longer shown, so that an agent is sent the same as without them. Answers the
   * session: the caller's, brought up to date, if this service made it.
   *
   * With the option `artifactService` of the service, the session's artifacts are saved again in their versions of
   * that time, before the rewind is written: one that did not exist becomes empty. Without it they stay as they are.
   */
  async rewind(session: Session | SessionName, options: RewindOptions): Promise<RewoundSession> {
    checkObject(session, 'session');
    const rewindOptions = { ...options, artifacts: this.#restoring(session) };
    const [rewound, now] = await this.#change(session, async (of) => await this.service.rewind(of, rewindOptions));
    return { ...rewound, session: now };
  }

  /** Takes the last rewind back, see `SessionService.redo`: the events that it had undone are shown again. */
  async redo(session: Session | SessionName, options: Abortable = {}): Promise<RewoundSession> {
    checkObject(session, 'session');
    const redoOptions = { ...options, artifacts: this.#restoring(session) };
    const [rewound, now] = await this.#change(session, async (of) => await this.service.redo(of, redoOptions));
    return { ...rewound, session: now };
  }

  /** Restores the artifacts of a session, if there is a service for them. */
  #restoring({ appName, userId, id: sessionId }: Session | SessionName): RewindOptions['artifacts'] {
    const artifacts = this.#artifacts;
    const key = { appName, userId, sessionId };
    return artifacts && (async (events, to) => await restoredArtifacts(artifacts, key, events, to));
  }

  /** Creates a session that continues from a moment of another one, see `SessionService.fork`. */
  async fork(session: Session | SessionName, options: ForkOptions = {}): Promise<Session> {
    checkObject(session, 'session');
    return await this.#open(await this.service.fork(this.#trackedOf(session)?.handle ?? session, options));
  }

  /** Looks up the events whose outcome is unknown. Answers the log if it had to be read. */
  async #lookUpDoubtful({ handle, doubtful, order }: TrackedSession): Promise<readonly Stored[] | undefined> {
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

  /** A session with the current events in the window that its reader has requested. */
  async #open(handle: Handle, config?: GetSessionRequest['config']): Promise<Session> {
    const { length: eventCount } = viewOf(handle) as View;
    const window = requestedWindow(config, handle);
    const session = toSession(handle, await currentOf(this.service, handle, window));
    const tracked = {
      handle,
      eventCount,
      window,
      shown: new Map(Object.entries(session.state)),
      order: this.#newOrder(),
      calls: new ToolCalls(),
      doubtful: new Map<string, Writes>(),
      queue: Promise.resolve(),
    };
    this.#tracked.set(session, tracked);
    this.#tracked.set(session.state, tracked);
    return session;
  }

  #newOrder(): WriteOrder {
    return new WriteOrder((request) => super.appendEvent(request));
  }

  /** Shows the current events after the session was rewound since its list had `eventCount` events. */
  async #showRewinds(
    session: Session,
    tracked: TrackedSession,
    news: readonly Stored[],
    eventCount: number,
  ): Promise<void> {
    if (news.some(isMarker)) {
      const { length } = viewOf(tracked.handle) as View;
      showCurrentEvents(session, await logOf(this.service, tracked.handle, length), eventCount, tracked.window);
      // The last writes may be rewound.
      tracked.order = this.#newOrder();
    }
  }

  /** Changes the session behind an ADK session, in its queue, and brings that up to date. */
  async #change<T>(target: Session | SessionName, run: (session: SessionName) => Promise<T>): Promise<[T, Session]> {
    const tracked = this.#trackedOf(target);
    if (tracked === undefined) {
      const { appName, userId, id: sessionId } = target;
      const done = await run({ appName, userId, id: sessionId });
      return [
        done,
        (await this.getSession({ appName, userId, sessionId })) ?? throwNotFound({ appName, userId, sessionId }),
      ];
    }
    const session = target as Session;
    const changed = tracked.queue.then(async (): Promise<[T, Session]> => {
      const done = await run(tracked.handle);
      const view = viewOf(tracked.handle) as View;
      const { eventCount } = tracked;
      const news = takeNews(tracked, view);
      showNews(session, news, view);
      await this.#showRewinds(session, tracked, news, eventCount);
      showOthers(session, tracked);
      return [done, session];
    });
    tracked.queue = changed.catch(() => undefined);
    return await changed;
  }

  #trackedOf(session: object): TrackedSession | undefined {
    const { state } = session as { readonly state?: unknown };
    return this.#tracked.get(session) ?? (isObject(state) ? this.#tracked.get(state) : undefined);
  }

  /** @internal Writes through a session of this service carry a lease. */
  carry(session: Session, lease: Lease): void {
    const tracked = this.#tracked.get(session);
    if (tracked !== undefined) {
      (viewOf(tracked.handle) as View).lease = viewOf(lease.session)?.lease;
    }
  }
}
