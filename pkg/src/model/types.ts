// The shapes that go in and out. JSON members are those of the Agent Development Kit (ADK).

import type { Signal } from '../async/abort.js';

/** A JSON value. What statepad hands out is frozen, through and through. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** The full key of a session. No operation finds a session by less. */
export interface SessionKey {
  /** The app. */
  readonly appName: string;
  /** The user. */
  readonly userId: string;
  /** The session, unique for this user in this app. */
  readonly sessionId: string;
}

/**
 * A session as one reader holds it. It stays as it was read; only the handle that is given to `appendEvent` is brought
 * up to date. Everything in it is frozen: state is written by events.
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
   * then the `temp:` keys of the current invocation. An ordinary object: `Object.hasOwn` tells a key from what every
   * object inherits.
   */
  readonly state: Readonly<Record<string, Json>>;
  /** The events in the order of appending. */
  readonly events: readonly Event[];
  /** The timestamp of the last event, or of creation, in milliseconds since the epoch. */
  readonly lastUpdateTime: number;
  /** One more for each change, 0 at creation. */
  readonly revision: number;
}

/** What names a session: the session itself, or the three members of it that make up its key. */
export type SessionName = Pick<Session, 'appName' | 'userId' | 'id'>;

/** One piece of what was said. */
export interface Part {
  readonly text?: string | undefined;
  /** A thought of the model: no part of its answer. */
  readonly thought?: boolean | undefined;
  readonly functionCall?: unknown;
  readonly functionResponse?: unknown;
  readonly executableCode?: unknown;
  readonly codeExecutionResult?: unknown;
  readonly inlineData?: unknown;
  readonly fileData?: unknown;
}

/** What was said. */
export interface Content {
  readonly role?: string | undefined;
  readonly parts?: readonly Part[] | undefined;
}

/**
 * What an event does besides being said. Members that have no type here are kept, too; but those whose name misses one
 * of these by a little (`stateDetla`, `state_delta`) are refused.
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

/** What ADK has besides in the actions of events. It is kept as it is. */
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

/** What ADK has besides in events: most of it says how a model came to an answer. It is kept as it is. */
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
 * Something that happened in a session. Members that have no type here are kept, too; but those whose name misses one
 * of these by a little are refused.
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
  /** A piece of a streamed answer: it is handed back and changes nothing. */
  readonly partial?: boolean;
  readonly longRunningToolIds?: readonly string[];
  readonly branch?: string;
  /** Further data. The member `statepad` is this package's own: `{ deleted: [keys] }`. */
  readonly customMetadata?: Readonly<Record<string, unknown>>;
}

/** An event as it may be given: what is missing is filled in. */
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

/** What every request may have. */
export interface Abortable {
  /**
   * Ends the operation when it is aborted: with the signal's reason, and nothing has changed; or, when a write was on
   * its way to the store already, with `COMMIT_UNKNOWN`.
   */
  readonly signal?: Signal | undefined;
}

/** The request of `createSession` and `getOrCreateSession`. */
export interface CreateSessionRequest extends Abortable {
  readonly appName: string;
  readonly userId: string;
  /** `app:` and `user:` keys reach every session they belong to; `temp:` keys are dropped. */
  readonly state?: Readonly<Record<string, unknown>> | undefined;
  /** Generated (a UUID) when absent or blank; any other is taken as it is. */
  readonly sessionId?: string | undefined;
}

/** Which events a read session shows. Its state never depends on this. */
export interface GetSessionConfig {
  /** Only the last so many; 0 means none. */
  readonly numRecentEvents?: number | undefined;
  /** Only those with this timestamp or a later one, in milliseconds since the epoch; then the last ones of them. */
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
  /** How many at most; all, when absent. */
  readonly limit?: number | undefined;
  /** How many to pass over. Not looked at when there is a `page`. */
  readonly offset?: number | undefined;
  /** The page's number, from 1. Needs a `limit`. */
  readonly page?: number | undefined;
  /** By `lastUpdateTime`, ascending unless `'desc'`; ids break ties, ascending either way. */
  readonly order?: 'asc' | 'desc' | undefined;
  /** Goes on after an earlier page, even if sessions came and went since. Not together with `page` or `offset`. */
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
  /** How many sessions there are in all. */
  readonly totalItems: number;
  /** How many pages there are in all. */
  readonly totalPages: number;
  /** Where the next page begins, when there is one. */
  readonly cursor?: string;
  /** Sessions of this page that the store cannot read. They are not among `sessions`. */
  readonly corrupt?: readonly SessionKey[];
}

/** The request of `appendEvent`. */
export interface AppendEventRequest extends Abortable {
  /** The handle to bring up to date; or anything that names a session. */
  readonly session: SessionName;
  readonly event: EventInit;
  /** Append only if the session is at this revision: `SESSION_STALE` otherwise. */
  readonly expectedRevision?: number | undefined;
}

/** One write of a key: what `history` tells. */
export interface HistoryStep {
  /** The revision that the session came to with it; 0 is its creation. */
  readonly revision: number;
  /** The event's, or that of creation, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The event that wrote it, with its `author`. Absent at the creation. */
  readonly event?: Event;
  /** The value before, where the session's log has one. */
  readonly from?: Json;
  /** The value after. Absent when the key was deleted. */
  readonly to?: Json;
}

/** Options of `history`. */
export interface HistoryOptions extends Abortable {
  /** Only writes up to this revision; the handle's unless told otherwise. */
  readonly until?: number | undefined;
  /** Only the last so many of them; all, when absent. */
  readonly last?: number | undefined;
}

/** What `updateState` updates: a session, or a user's and the app's keys, or the app's keys alone. */
export interface UpdateStateTarget {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Options of `updateState`. */
export interface UpdateStateOptions extends Abortable {
  /** How often the function may run before `STATE_CONFLICT`; 100 unless told otherwise. */
  readonly attempts?: number | undefined;
  /** The author of the event that a session gets; `system` unless told otherwise. */
  readonly author?: string | undefined;
  /** The invocation of that event. */
  readonly invocationId?: string | undefined;
}
