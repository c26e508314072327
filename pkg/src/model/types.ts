// The shapes of arguments and answers. JSON members are those of the Agent Development Kit (ADK).

import type { Signal } from '../async/abort.js';

/** A JSON value. The values that statepad returns are deeply frozen. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** The full key of a session. Every operation on a session needs all of it. */
export interface SessionKey {
  /** The app. */
  readonly appName: string;
  /** The user. */
  readonly userId: string;
  /** The session, unique for this user in this app. */
  readonly sessionId: string;
}

/**
 * A session as one reader holds it. It stays as it was read; only the handle that is passed to `appendEvent` is
 * brought up to date. Everything in it is frozen: state is written by events.
 */
export interface Session {
  /** The session's id. */
  readonly id: string;
  /** The app. */
  readonly appName: string;
  /** The user. */
  readonly userId: string;
  /**
   * All values under their full keys: the session's, then `app:`, then `user:` keys, each in the order of writing,
   * then the `temp:` keys of the current invocation. An ordinary object: use `Object.hasOwn` to distinguish keys from
   * inherited members.
   */
  readonly state: Readonly<Record<string, Json>>;
  /** The events in the order of appending. */
  readonly events: readonly Event[];
  /** The timestamp of the last event, or of creation, in milliseconds since the epoch. */
  readonly lastUpdateTime: number;
  /** The number of changes since the creation. */
  readonly revision: number;
  /**
   * The time at which the session expires, in milliseconds since the epoch; absent where it does not. Where it moves
   * with each write, a handle shows that of the last write that it knows.
   */
  readonly expireTime?: number | undefined;
}

/** The name of a session: the session itself, or the three members of it that make up its key. */
export type SessionName = Pick<Session, 'appName' | 'userId' | 'id'>;

/** One piece of a content. */
export interface Part {
  readonly text?: string | undefined;
  /** A thought of the model, which is not part of its answer. */
  readonly thought?: boolean | undefined;
  readonly functionCall?: unknown;
  readonly functionResponse?: unknown;
  readonly executableCode?: unknown;
  readonly codeExecutionResult?: unknown;
  readonly inlineData?: unknown;
  readonly fileData?: unknown;
}

/** The text, files and calls of a message. */
export interface Content {
  readonly role?: string | undefined;
  readonly parts?: readonly Part[] | undefined;
}

/**
 * The effects of an event. Members without a type here are kept, too; but a near miss of a known name (`stateDetla`,
 * `state_delta`) is refused.
 */
export interface EventActions extends AdkActions {
  /** Keys to set, with their prefix. A value replaces the old one whole; `null` is a value; `DELETED` deletes. */
  readonly stateDelta: Readonly<Record<string, unknown>>;
  /** The versions of saved artifacts. */
  readonly artifactDelta: Readonly<Record<string, number>>;
  readonly requestedAuthConfigs: Readonly<Record<string, unknown>>;
  readonly requestedToolConfirmations: Readonly<Record<string, unknown>>;
  readonly skipSummarization?: boolean | undefined;
  readonly transferToAgent?: string | undefined;
  readonly escalate?: boolean | undefined;
}

/** Further members that ADK puts into the actions of events. They are kept unchanged. */
export interface AdkActions {
  readonly agentState?: unknown;
  readonly compaction?: unknown;
  readonly deletedArtifactIds?: unknown;
  readonly endInvocation?: unknown;
  readonly endOfAgent?: unknown;
  readonly renderUiWidgets?: unknown;
  readonly rewindBeforeInvocationId?: unknown;
  readonly route?: unknown;
  readonly setModelResponse?: unknown;
  readonly transferReason?: unknown;
}

/** Further members that ADK puts into events, most of them about the model's answer. They are kept unchanged. */
export interface AdkEvent {
  readonly avgLogprobs?: unknown;
  readonly cacheMetadata?: unknown;
  readonly citationMetadata?: unknown;
  readonly environmentId?: unknown;
  readonly errorCode?: unknown;
  readonly errorMessage?: unknown;
  readonly finishReason?: unknown;
  readonly goAway?: unknown;
  readonly groundingMetadata?: unknown;
  readonly inputTranscription?: unknown;
  readonly interactionId?: unknown;
  readonly interactionStatus?: unknown;
  readonly interrupted?: unknown;
  readonly isolationScope?: unknown;
  readonly liveSessionId?: unknown;
  readonly liveSessionResumptionUpdate?: unknown;
  readonly logprobsResult?: unknown;
  readonly modelVersion?: unknown;
  readonly nodeInfo?: unknown;
  readonly output?: unknown;
  readonly outputTranscription?: unknown;
  readonly turnComplete?: unknown;
  readonly turnCompleteReason?: unknown;
  readonly usageMetadata?: unknown;
  readonly voiceActivity?: unknown;
}

/**
 * Something that happened in a session. Members without a type here are kept, too; but a near miss of a known name is
 * refused.
 */
export interface Event extends AdkEvent {
  /** Unique in the session. */
  readonly id: string;
  /** All events from one user input to the final answer share it. */
  readonly invocationId: string;
  /** `user`, or the agent's name. */
  readonly author?: string;
  /** In milliseconds since the epoch. */
  readonly timestamp: number;
  readonly content?: Content;
  readonly actions: EventActions;
  /** A piece of a streamed answer: it is returned and changes nothing. */
  readonly partial?: boolean;
  readonly longRunningToolIds?: readonly string[];
  readonly branch?: string;
  /** Further data. The member `statepad` is this package's own: `{ deleted: [keys] }`. */
  readonly customMetadata?: Readonly<Record<string, unknown>>;
}

/** An event as an argument: missing members are filled in. */
export interface EventInit extends AdkEvent {
  /** Generated when absent or empty. */
  readonly id?: string | undefined;
  /** Empty when absent. */
  readonly invocationId?: string | undefined;
  readonly author?: string | undefined;
  /** Now, when absent; in milliseconds since the epoch. */
  readonly timestamp?: number | undefined;
  readonly content?: Content | undefined;
  readonly actions?: Partial<EventActions> | undefined;
  readonly partial?: boolean | undefined;
  readonly longRunningToolIds?: readonly string[] | undefined;
  readonly branch?: string | undefined;
  readonly customMetadata?: Readonly<Record<string, unknown>> | undefined;
}

/** The options of every request. */
export interface Abortable {
  /**
   * Ends the operation when it is aborted: with the signal's reason, and without an effect; or, once a write was sent
   * to the store, with `COMMIT_UNKNOWN`.
   */
  readonly signal?: Signal | undefined;
}

/** The end of a session that a request creates: one of both, or neither for the default of the service. */
export interface SessionEnd {
  /** The session expires so many milliseconds after its last write. `Infinity`: it does not expire. */
  readonly ttl?: number | undefined;
  /** The session expires at this time, in milliseconds since the epoch, whatever is written to it. */
  readonly expireTime?: number | undefined;
}

/** The request of `createSession` and `getOrCreateSession`. */
export interface CreateSessionRequest extends Abortable, SessionEnd {
  readonly appName: string;
  readonly userId: string;
  /** `app:` and `user:` keys are shared with every session of the app or user; `temp:` keys are dropped. */
  readonly state?: Readonly<Record<string, unknown>> | undefined;
  /** Generated (a UUID) when absent or blank; any other is used unchanged. */
  readonly sessionId?: string | undefined;
}

/** The window over the events that a read session shows. Its state never depends on this. */
export interface GetSessionConfig {
  /** The last events, at most this many; 0 means none. */
  readonly numRecentEvents?: number | undefined;
  /**
   * The events with this timestamp or a later one, in milliseconds since the epoch; `numRecentEvents` counts among
   * these.
   */
  readonly afterTimestamp?: number | undefined;
}

/** The request of `getSession`. */
export interface GetSessionRequest extends SessionKey, Abortable {
  readonly config?: GetSessionConfig | undefined;
}

/** A session in the place of a request: its `id` is the session's. */
export interface GetSessionByName extends SessionName, Abortable {
  readonly config?: GetSessionConfig | undefined;
}

/** The request of `listSessions`. */
export interface ListSessionsRequest extends Abortable {
  readonly appName: string;
  /** All users, when absent. */
  readonly userId?: string | undefined;
  /** The largest number of sessions; all, when absent. */
  readonly limit?: number | undefined;
  /** The number of sessions to skip. Ignored when there is a `page`. */
  readonly offset?: number | undefined;
  /** The page's number, from 1. Needs a `limit`. */
  readonly page?: number | undefined;
  /** By `lastUpdateTime`, ascending unless `'desc'`; ids break ties, ascending either way. */
  readonly order?: 'asc' | 'desc' | undefined;
  /**
   * Continues after an earlier page, even if sessions were created or deleted since. Not together with `page` or
   * `offset`.
   */
  readonly cursor?: string | undefined;
}

/** The answer of `listSessions`. */
export interface ListSessionsResponse {
  /** The sessions with their current state and without events. */
  readonly sessions: Session[];
  /** The page's number, from 1. */
  readonly page: number;
  /** The limit, or `totalItems` without one. */
  readonly limit: number;
  /** The number of sessions in all. */
  readonly totalItems: number;
  /** The number of pages in all. */
  readonly totalPages: number;
  /** The cursor of the next page, when there is one. */
  readonly cursor?: string;
  /** Sessions of this page that the store cannot read. They are not among `sessions`. */
  readonly corrupt?: readonly SessionKey[];
}

/** The request of `listApps`. */
export interface ListAppsRequest extends Abortable {
  /** The most names of the page, from 1; all when it is absent. */
  readonly limit?: number | undefined;
  /** The cursor of the page before: the page begins behind it. */
  readonly cursor?: string | undefined;
}

/** The answer of `listApps`. */
export interface ListAppsResponse {
  readonly apps: string[];
  /** The cursor of the next page, when there is one. */
  readonly cursor?: string;
}

/** The request of `listUsers`. */
export interface ListUsersRequest extends ListAppsRequest {
  readonly appName: string;
}

/** The answer of `listUsers`. */
export interface ListUsersResponse {
  readonly users: string[];
  /** The cursor of the next page, when there is one. */
  readonly cursor?: string;
}

/** The request of `appendEvent`. */
export interface AppendEventRequest extends Abortable {
  /** The handle to bring up to date; or any name of a session. */
  readonly session: SessionName;
  readonly event: EventInit;
  /** Append only if the session is at this revision; otherwise throws `SESSION_STALE`. */
  readonly expectedRevision?: number | undefined;
}

/** One write of a key, in the answer of `history`. */
export interface HistoryStep {
  /** The revision of the session after it; 0 is its creation. */
  readonly revision: number;
  /** The time of the event or of the creation, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The event that wrote it, with its `author`. Absent at the creation. */
  readonly event?: Event;
  /** The value before, if the session's log has one. */
  readonly from?: Json;
  /** The value after. Absent when the key was deleted. */
  readonly to?: Json;
}

/** Options of `history`. */
export interface HistoryOptions extends Abortable {
  /** Only writes up to this revision; by default the handle's. */
  readonly until?: number | undefined;
  /** Only the last writes, at most this many; all, when absent. */
  readonly last?: number | undefined;
}

/** The target of `updateState`: a session, or a user's and the app's keys, or the app's keys alone. */
export interface UpdateStateTarget {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/**
 * Receives the current values, read-only, and returns a delta, both under full keys, or a promise of it: anything with
 * a callable `then`. With nothing to write it returns `{}`; or `undefined`, which is warned of once in development, as
 * a function that changes its argument in vain looks the same. Any other answer is `INVALID_ARGUMENT`.
 */
export type UpdateFunction = (
  state: Readonly<Record<string, Json>>,
) =>
  | Readonly<Record<string, unknown>>
  | undefined
  | void
  | PromiseLike<Readonly<Record<string, unknown>> | undefined | void>;

/** Options of `updateState`. */
export interface UpdateStateOptions extends Abortable {
  /** The number of times that the function may run before `STATE_CONFLICT`; 100 by default. */
  readonly attempts?: number | undefined;
  /** The author of the event that a session gets; `system` by default. */
  readonly author?: string | undefined;
  /** The invocation of that event. */
  readonly invocationId?: string | undefined;
}
