// ADK's session service, on ours.

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
  type Held,
} from './session-view.js';
import { StatepadPlugin } from './plugin.js';
import { ToolCalls } from './tool-calls.js';
import { WriteOrder, type Writes } from './write-order.js';
import { logOf, showStanding, shownBy, standingOf } from './standing.js';
import { isMarker } from '../engine/rewind.js';
import { throwNotFound } from '../session/append.js';
import { isStatepadError } from '../model/errors.js';
import { isObject } from '../model/kinds.js';
import { viewOf, type View } from '../session/handle.js';
import { warn } from '../model/warnings.js';
import { checkMethods, checkObject } from '../checks/arguments.js';
import { SessionService, type SessionServiceOptions } from '../service/session-service.js';
import type { Lease } from '../model/lease.js';
import type { ForkOptions, RewindOptions, Rewound } from '../model/rewind.js';
import type { Abortable, Event as Stored, Session as Handle, SessionName } from '../model/types.js';

/** Options of a {@link StatepadSessionService}. */
export interface StatepadSessionServiceOptions extends SessionServiceOptions {
  /** That of the runner: `rewind` and `redo` restore the artifacts of the session in it. */
  readonly artifactService?: BaseArtifactService | undefined;
}

/** What a rewind of one of ADK's sessions has come to. */
export interface RewoundSession extends Rewound {
  /** The session as it is now. */
  readonly session: Session;
}

/**
 * ADK's session service on statepad. Its sessions are plain ADK sessions: the state is a record of the caller's own,
 * as ADK's `State`, plugins and code executors write to it and into its values; `events` is a list of the caller's
 * own, as ADK's compactors need it, of frozen events.
 *
 * Beyond ADK's own services: nothing appended is lost or overwritten, `user:` and `app:` keys given at creation are
 * kept, a taken id is an error, `temp:` keys that came by an event's delta or an output key are visible for the rest
 * of the invocation, and `state.set(key, DELETED)` deletes a key.
 */
export class StatepadSessionService extends BaseSessionService {
  /** The service underneath, for what ADK has no name for: `updateState`, `getUserState`, `getAppState`. */
  readonly service: SessionService;
  /** By the session and by its state, which a copy of the session shares. */
  readonly #held = new WeakMap<object, Held>();

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
   * For the plugins of ADK's `Runner`, before all others: with it, the operators of several tools count that a model
   * calls in one answer. Without it an event is refused with `INVALID_ARGUMENT` when an operator in it may be one of
   * several. `LeasedRunner` has it by itself.
   *
   * @example
   * const runner = new Runner({ appName, agent, sessionService, plugins: [sessionService.plugin] });
   */
  get plugin(): StatepadPlugin {
    return (this.#plugin ??= new StatepadPlugin((session, id, actions) => {
      this.#heldOf(session)?.calls.called(id, actions);
    }));
  }

  /** Creates a session. Throws `SESSION_EXISTS` when the id is taken. */
  override async createSession(request: CreateSessionRequest): Promise<Session> {
    return await this.#open(await this.service.createSession(request));
  }

  /** Gets a session as it is now, or `undefined` when there is none. */
  override async getSession(request: GetSessionRequest): Promise<Session | undefined> {
    const handle = await this.service.getSession(request);
    return handle && (await this.#open(handle, request.config));
  }

  /** Gets a session, or creates it when there is none. */
  override async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
    return await this.#open(await this.service.getOrCreateSession(request));
  }

  /** Lists sessions with their state, by the time of their last event. */
  override async listSessions(request: ListSessionsRequest): Promise<ListSessionsResponse> {
    const { sessions, ...page } = await this.service.listSessions(request);
    return { ...page, sessions: sessions.map((handle) => toSession(handle, [])) };
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
    const held = this.#heldOf(session);
    if (held === undefined || event.partial) {
      return fromStored(await this.service.appendEvent({ session, event: toInit(event) }));
    }
    // An event without stamps counts as written now, not when its turn comes.
    const whole = held.calls.combined(event, session.events);
    const writes = held.order.written(deltaOf(whole));
    const appended = held.turn.then(async () => await this.#append(held, session, event, whole, await writes));
    held.turn = appended.catch(() => undefined);
    return await appended;
  }

  /**
   * Appends an event without the keys that were written again later, by an event that is stored already: of two writes
   * the later one wins, whatever order parallel branches append in. `whole` is the event with the writes of all tools
   * that it answers.
   */
  async #append(held: Held, session: Session, event: Event, whole: Event, writes: Writes): Promise<Event> {
    const view = viewOf(held.handle) as View;
    const before = snapshot(view);
    const looked = await this.#lookUpDoubtful(held);
    const overtaken = await held.order.overtaken(writes);
    // An event that is given once more says what it said.
    const log = looked ?? (overtaken.lost.length > 0 ? view.record.events : []);
    const repeated = log.find(({ id }) => id === event.id)?.actions.stateDelta;
    const effective = without(
      whole,
      overtaken.lost.filter((key) => repeated === undefined || !Object.hasOwn(repeated, key)),
    );
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
    held.calls.stored(event);
    const { taken } = held;
    const news = takeNews(held, view);
    const isNew = news.includes(stored);
    if (isNew && repeated === undefined) {
      held.order.stored(writes, overtaken);
    }
    try {
      showEvents(session, news, view, event, stored);
      await this.#showRewinds(session, held, news, taken);
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

  /**
   * Goes back in a session, see `SessionService.rewind`: the session's own keys become what they were before the
   * invocation, and the events from then on do not show any more, so that an agent is sent what it would have been
   * sent without them. Answers with the session: the one that was given, brought up to date, if this service gave it.
   *
   * With the option `artifactService` of the service, the session's artifacts are saved once more as they were then,
   * before the rewind is written: one that did not exist becomes empty. Without it they stay as they are.
   */
  async rewind(session: Session | SessionName, options: RewindOptions): Promise<RewoundSession> {
    checkObject(session, 'session');
    const asked = { ...options, artifacts: this.#restoring(session) };
    const [rewound, now] = await this.#change(session, async (of) => await this.service.rewind(of, asked));
    return { ...rewound, session: now };
  }

  /** Takes the last rewind back, see `SessionService.redo`: the events that it had undone show again. */
  async redo(session: Session | SessionName, options: Abortable = {}): Promise<RewoundSession> {
    checkObject(session, 'session');
    const asked = { ...options, artifacts: this.#restoring(session) };
    const [rewound, now] = await this.#change(session, async (of) => await this.service.redo(of, asked));
    return { ...rewound, session: now };
  }

  /** What restores the artifacts of a session, where they are known. */
  #restoring({ appName, userId, id: sessionId }: Session | SessionName): RewindOptions['artifacts'] {
    const artifacts = this.#artifacts;
    const key = { appName, userId, sessionId };
    return artifacts && (async (events, to) => await restoredArtifacts(artifacts, key, events, to));
  }

  /** Creates a session that goes on from a moment of another one, see `SessionService.fork`. */
  async fork(session: Session | SessionName, options: ForkOptions = {}): Promise<Session> {
    checkObject(session, 'session');
    return await this.#open(await this.service.fork(this.#heldOf(session)?.handle ?? session, options));
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

  /** A session with the events that stand, of those that its reader has asked for. */
  async #open(handle: Handle, config?: GetSessionRequest['config']): Promise<Session> {
    const { length: taken } = viewOf(handle) as View;
    const window = shownBy(config, handle);
    const session = toSession(handle, await standingOf(this.service, handle, window));
    const held = {
      handle,
      taken,
      window,
      shown: new Map(Object.entries(session.state)),
      order: this.#newOrder(),
      calls: new ToolCalls(),
      doubtful: new Map<string, Writes>(),
      turn: Promise.resolve(),
    };
    this.#held.set(session, held);
    this.#held.set(session.state, held);
    return session;
  }

  #newOrder(): WriteOrder {
    return new WriteOrder((request) => super.appendEvent(request));
  }

  /** Where the session was rewound since its list had `taken` events: what stands now shows. */
  async #showRewinds(session: Session, held: Held, news: readonly Stored[], taken: number): Promise<void> {
    if (news.some(isMarker)) {
      const { length } = viewOf(held.handle) as View;
      showStanding(session, await logOf(this.service, held.handle, length), taken, held.window);
      // What was written last may not stand.
      held.order = this.#newOrder();
    }
  }

  /** Does something to the session behind one that ADK holds, in turn, and brings that up to date. */
  async #change<T>(given: Session | SessionName, run: (session: SessionName) => Promise<T>): Promise<[T, Session]> {
    const held = this.#heldOf(given);
    if (held === undefined) {
      const { appName, userId, id: sessionId } = given;
      const done = await run({ appName, userId, id: sessionId });
      return [
        done,
        (await this.getSession({ appName, userId, sessionId })) ?? throwNotFound({ appName, userId, sessionId }),
      ];
    }
    const session = given as Session;
    const changed = held.turn.then(async (): Promise<[T, Session]> => {
      const done = await run(held.handle);
      const view = viewOf(held.handle) as View;
      const { taken } = held;
      const news = takeNews(held, view);
      showNews(session, news, view);
      await this.#showRewinds(session, held, news, taken);
      showOthers(session, held);
      return [done, session];
    });
    held.turn = changed.catch(() => undefined);
    return await changed;
  }

  #heldOf(session: object): Held | undefined {
    const { state } = session as { readonly state?: unknown };
    return this.#held.get(session) ?? (isObject(state) ? this.#held.get(state) : undefined);
  }

  /** @internal What is written through a session that this service gave carries a lease. */
  carry(session: Session, lease: Lease): void {
    const held = this.#held.get(session);
    if (held !== undefined) {
      (viewOf(held.handle) as View).lease = viewOf(lease.session)?.lease;
    }
  }
}
