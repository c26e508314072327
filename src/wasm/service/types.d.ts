// The types of requests and answers: those of the npm package, as far as this service has them.

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
  /**
   * The time at which the session expires, in milliseconds since the epoch; absent where it does not. Where it moves
   * with each write, a handle shows that of the last write that it knows.
   */
  readonly expireTime?: number | undefined;
}

/** The name of a session: the session itself, or the three members of it that make up its key. */
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

/** The content of an event: its role and its parts. */
export interface Content {
  readonly role?: string | undefined;
  readonly parts?: readonly Part[] | undefined;
}

/**
 * The effects of an event besides its content. Members that have no type here are stored, too; but those whose name
 * misses one of these by a little (`stateDetla`, `state_delta`) are refused.
 */
export interface EventActions extends AdkActions {
  /** Keys to set, with their prefix. A value replaces the old one whole; `null` is a value; `deleted()` deletes. */
  readonly stateDelta: Readonly<Record<string, unknown>>;
  /** The versions of saved artifacts. */
  readonly artifactDelta: Readonly<Record<string, number>>;
  readonly requestedAuthConfigs: Readonly<Record<string, unknown>>;
  readonly requestedToolConfirmations: Readonly<Record<string, unknown>>;
  readonly skipSummarization?: boolean | undefined;
  readonly transferToAgent?: string | undefined;
  readonly escalate?: boolean | undefined;
}

/** Further members that ADK has in the actions of events. They are stored as they are. */
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

/**
 * Further members that ADK has in events: most of them say how a model came to an answer. They are stored as they are.
 */
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
  /** Further data. The member `statepad` is this package's own: `{ deleted: [keys], operators: { key: operator } }`. */
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

/** The members that every request may have. */
export interface Abortable {
  /**
   * Ends the operation when it is aborted before it begins: with the signal's reason, and nothing has changed. A write
   * that is on its way to `persist` goes on.
   */
  readonly signal?: AbortSignal | undefined;
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
  /** `app:` and `user:` keys reach every session they belong to; `temp:` keys are dropped. */
  readonly state?: Readonly<Record<string, unknown>> | undefined;
  /** Generated (a UUID) when absent or blank; any other is taken as it is. */
  readonly sessionId?: string | undefined;
}

/** The events that a read session shows. Its state never depends on this. */
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
  /** The maximum number of sessions; all, when absent. */
  readonly limit?: number | undefined;
  /** The number of sessions to skip. Ignored when there is a `page`. */
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
  /** The number of sessions in all. */
  readonly totalItems: number;
  /** The number of pages in all. */
  readonly totalPages: number;
  /** The cursor at which the next page begins, when there is one. */
  readonly cursor?: string;
  /** Sessions that cannot be read. They are not among `sessions`, and come with the first page. */
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

/** The target of `updateState`: a session, or a user's and the app's keys, or the app's keys alone. */
export interface UpdateStateTarget {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Options of `updateState`. */
export interface UpdateStateOptions extends Abortable {
  /** The maximum number of runs of the function before `STATE_CONFLICT`; 100 by default. */
  readonly attempts?: number | undefined;
  /** The author of the event that a session gets; `system` by default. */
  readonly author?: string | undefined;
  /** The invocation of that event. */
  readonly invocationId?: string | undefined;
}

/** Options of `history`. */
export interface HistoryOptions extends Abortable {
  /** Only writes up to this revision; by default that of the handle. */
  readonly until?: number | undefined;
  /** Only the last so many. */
  readonly last?: number | undefined;
}

/** One write of a key, in the answer of `history`. */
export interface HistoryStep {
  /** The revision that the session came to with it; 0 is its creation. */
  readonly revision: number;
  /** The time of the event, or of the creation, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The event that wrote it. Absent at the creation. */
  readonly event?: Event;
  /** The value before, where the session's log has one. */
  readonly from?: Json;
  /** The value after. Absent when the key was deleted. */
  readonly to?: Json;
}

/** Options of `rewind`. */
export interface RewindOptions extends Abortable {
  /** The id of the invocation before which the session goes back. */
  readonly before: string;
}

/** The answer of `rewind` and `redo`. */
export interface Rewound {
  /** The marker: the event that says so, and restores the session's own keys. */
  readonly event: Event;
  /** The revision of the session after it. */
  readonly revision: number;
  /** The `app:` and `user:` keys that the turns concerned had written: they stay as they are. */
  readonly shared: readonly string[];
}

/** Options of `fork`. Without an end of its own the fork has the default of the service, and never that of its source. */
export interface ForkOptions extends Abortable, SessionEnd {
  /** The revision that the new session goes on from; the last one by default. */
  readonly at?: number | undefined;
  /** Generated (a UUID) when absent or blank. */
  readonly sessionId?: string | undefined;
}

/** The request of `sweep`. */
export interface SweepRequest extends Abortable {
  /** Only what belongs to this app; all apps when it is absent. */
  readonly appName?: string | undefined;
  /** The most sessions that are removed, from 1; all when it is absent. */
  readonly limit?: number | undefined;
  /** Removes nothing, and counts what would be removed. */
  readonly dryRun?: boolean | undefined;
}

/** The answer of `sweep`. */
export interface SweepAnswer {
  /** The number of sessions that were removed, or would be. */
  readonly sessions: number;
  /** 0: this service keeps the values of users without sessions. */
  readonly users: number;
}

/** Options of `lease`. */
export interface LeaseOptions extends Abortable {
  /** The length of the lease unless it is renewed, in milliseconds; 30,000 by default. */
  readonly ttl?: number | undefined;
}

/** In the place of a value in a delta: see `increment`, `append`, `setOnce` and `compareAndSet`. */
export interface OperatorWrite {
  /** All that is left of it in JSON and in a structured clone, which no delta takes. */
  readonly 'statepad.operator': object;
}

/** The mark of a deletion: see {@link deleted}. */
export interface Deleted {
  /** In JSON it is `null`, which ADK's readers understand. */
  toJSON(): null;
}

/**
 * The most that is stored. Sizes are UTF-8 bytes of JSON text, as `JSON.stringify` writes it; `Infinity` turns a limit
 * off. What does not grow is never refused: a state beyond a limit that was lowered can still be changed and emptied.
 */
export interface LimitOptions {
  /** The most bytes of one value of the state, also of one that an operator comes to; 32 MiB by default. */
  readonly value?: number | undefined;
  /** The most bytes of the keys and the values that one event or update writes; 64 MiB by default. */
  readonly delta?: number | undefined;
  /** The most bytes of an event; 64 MiB by default. */
  readonly event?: number | undefined;
  /**
   * The most bytes of the names and the values of one scope: of a session's own state, of a user's and of an app's;
   * 256 MiB by default.
   */
  readonly state?: number | undefined;
  /** The most keys of one scope; 1,000,000 by default. */
  readonly keys?: number | undefined;
  /** The most events of a session; 10,000,000 by default. */
  readonly events?: number | undefined;
}

/** The name of a limit. */
export type LimitName = keyof LimitOptions;

/** Options of a {@link SessionService}. */
export interface SessionServiceOptions {
  /** The clock, in milliseconds since the epoch; `Date.now` by default. */
  readonly now?: (() => number) | undefined;
  /**
   * Keeps records, in their order, behind all earlier ones; they are durable when it resolves. Not called again before
   * it is done. An error whose `code` is `unavailable` or `rejected` says that none of them is kept; after any other
   * error everything is restored again before the next call: what is kept of them must be there by then.
   *
   * It must not wait for a write of the same service: that one comes after it, and is given up as `STORE_UNAVAILABLE`
   * when its time is over.
   */
  readonly persist?: ((changes: readonly LogRecord[]) => void | PromiseLike<void>) | undefined;
  /**
   * Gives back all records, in order. Records that are there twice, because they were written again, do no harm. One
   * that is damaged makes its session unreadable (`STORE_CORRUPT`), and no other. Called before the first operation
   * that needs a session.
   *
   * Without it nothing is read back: the service begins empty, as a new log does, and goes by what it has in memory. A
   * change whose outcome is unknown counts as not kept then: made again, it is handed over once more.
   */
  readonly restore?: (() => Records | PromiseLike<Records>) | undefined;
  /**
   * The time that one answer of `persist` or `restore` is waited for, and the writes that are in front of one, in
   * milliseconds; 10,000 by default. A write that `persist` has not answered by then is `COMMIT_UNKNOWN`; no other
   * record is handed over before the answer.
   */
  readonly timeout?: number | undefined;
  /** The most that is stored: a write beyond a limit is `LIMIT_EXCEEDED`, and writes nothing. */
  readonly limits?: LimitOptions | undefined;
  /**
   * Sessions expire so many milliseconds after their last write, unless their creation says otherwise: from then on
   * they are not there. They do not expire by default.
   */
  readonly ttl?: number | undefined;
}

/** The answer of `restore`: all records at once or one after the other. */
export type Records = Iterable<LogRecord> | AsyncIterable<LogRecord>;

/** The writes to one scope: names to set and names to delete. */
export interface ScopeDelta {
  readonly set?: Readonly<Record<string, Json>>;
  readonly unset?: readonly string[];
}

/**
 * A record of a log: plain JSON data, that of the npm package, which can go on with it. Store and give back whatever
 * `persist` gets.
 */
export interface LogRecord {
  /** The event's id, unique in its session; of any other record, unique everywhere. */
  readonly id: string;
  readonly kind: 'create' | 'append' | 'update' | 'remove' | 'remove-scope' | 'refusal' | 'version';
  readonly key: { readonly appName: string; readonly userId?: string; readonly sessionId?: string };
  /** In milliseconds since the epoch. */
  readonly time: number;
  /** The event as JSON text. */
  readonly event?: { readonly id: string; readonly time: number; readonly data: string };
  readonly delta?: { readonly app?: ScopeDelta; readonly user?: ScopeDelta; readonly session?: ScopeDelta };
  /** The session just before the change, its revision, and the positions of its scopes: they show missing records. */
  readonly guard?: {
    readonly created?: string;
    readonly rev?: number;
    readonly pos?: { readonly app?: number; readonly user?: number };
  };
  /** Of a creation: the end of the session, so many milliseconds after each write or at a time. */
  readonly expires?: { readonly ttl: number } | { readonly at: number };
  /** The time at which the session expires after the change, in milliseconds since the epoch. */
  readonly ends?: number;
  /** Notes of the package: the position up to which a log of app or user values was trimmed, and the writer of one. */
  readonly trim?: number;
  readonly by?: { readonly userId?: string; readonly sessionId?: string; readonly eventId?: string };
  /**
   * Of the kind `version`: the version of the records, and until the first release the fingerprint of their layout.
   */
  readonly version?: number;
  readonly layout?: string;
}

/**
 * Gets the current values, read-only, and returns a delta, both under full keys, or a promise of it. Nothing to write:
 * `{}` or `undefined`. Any other answer is `INVALID_ARGUMENT`.
 */
export type UpdateFunction = (
  state: Readonly<Record<string, Json>>,
) =>
  | Readonly<Record<string, unknown>>
  | undefined
  | void
  | PromiseLike<Readonly<Record<string, unknown>> | undefined | void>;

/** A place in a template that a value goes into. */
export interface Placeholder {
  /** The source of the value. */
  readonly kind: 'state' | 'artifact';
  /** The state key with its prefix (`user:profile`), or the artifact's name. */
  readonly key: string;
  /** The way into the value: `['city']`, `[0, 'id']`; empty for the whole value. */
  readonly path: readonly (string | number)[];
  /** The value may be missing. */
  readonly optional: boolean;
  /** The line of its brace, from 1. */
  readonly line: number;
  /** The column of its brace, in characters (code points), from 1. */
  readonly column: number;
}

/** The values that a template is rendered with. */
export interface RenderOptions {
  /** A session's state, or any record of values under full keys. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Gives the text of an artifact, or `undefined` when there is none. Each is asked for once. */
  readonly artifact?: ((name: string) => string | undefined) | undefined;
}

/** As {@link RenderOptions}, with artifacts that may take time. */
export interface RenderAsyncOptions extends Pick<RenderOptions, 'state'> {
  /** Gives the text of an artifact, or `undefined` when there is none. Each is asked for once. */
  readonly artifact?: ((name: string) => string | undefined | Promise<string | undefined>) | undefined;
}

/** The kind of an error, in a form that programs can rely on across versions. */
export type ErrorCode =
  | 'INVALID_ARGUMENT'
  | 'VALUE_NOT_JSON'
  | 'SESSION_NOT_FOUND'
  | 'SESSION_EXISTS'
  | 'SESSION_STALE'
  | 'STATE_CONFLICT'
  | 'EVENT_ID_CONFLICT'
  | 'TEMPLATE_KEY_MISSING'
  | 'ARTIFACT_MISSING'
  | 'LIMIT_EXCEEDED'
  | 'STORE_UNAVAILABLE'
  | 'STORE_UNSUITABLE'
  | 'COMMIT_UNKNOWN'
  | 'STORE_CORRUPT'
  | 'LEASE_HELD'
  | 'LEASE_LOST';

/** A required placeholder that found nothing. */
export interface Missing {
  /** The whole key as the template spells it: `user:profile.city`, `artifact.file.txt`. */
  readonly key: string;
  /** The line of its first place in the text, from 1. */
  readonly line: number;
  /** The column there, in characters (code points), from 1. */
  readonly column: number;
  /** The most similar key that the state does have. */
  readonly nearest?: string;
}

/**
 * An error that the service throws: an `Error` with a stable `code`, a message that names the key, id or path, and the
 * details as members. The package's `isStatepadError` knows it.
 */
export interface StatepadError extends Error {
  /** The kind of the error. */
  readonly code: ErrorCode;
  /** The state key concerned. */
  readonly key?: string;
  /** The path of the fault in the argument: `actions.stateDelta["cart"].items[3]`. */
  readonly path?: string;
  /** The id of the session or event concerned. */
  readonly id?: string;
  /** `SESSION_STALE`: the revision that the caller expected. */
  readonly expected?: number;
  /** `SESSION_STALE`: the revision that the session has. */
  readonly actual?: number;
  /** `LEASE_HELD`: the end of the lease, in milliseconds since the epoch. */
  readonly until?: number;
  /** `LIMIT_EXCEEDED`: the member of the option `limits`. Absent where `persist` has refused the change. */
  readonly exceeded?: LimitName;
  /** `LIMIT_EXCEEDED`: the size and the limit, in bytes; of `keys` and `events`, their number. */
  readonly size?: number;
  readonly limit?: number;
  /** `TEMPLATE_KEY_MISSING` and `ARTIFACT_MISSING`: all that is missing, each once, in the order of the text. */
  readonly missing?: readonly Missing[];
}
