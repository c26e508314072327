// The past of app and user values: what is told of it.

import type { Abortable, HistoryOptions, HistoryStep, Json } from './types.js';

/** Options of `SessionService.stateAt`. */
export interface StateAtOptions extends Abortable {
  /** Whether the answer says, too, how exact it is: `{ state, exact }`. */
  readonly detailed?: boolean | undefined;
}

/** The state of a session at a revision, and how exact it is. */
export interface DetailedState {
  readonly state: Readonly<Record<string, Json>>;
  /** Whether `app:` and `user:` keys are as they were then. Otherwise the session's own log is all that they tell. */
  readonly exact: boolean;
}

/** Options of `SessionService.history` of a session. */
export interface SessionHistoryOptions extends HistoryOptions {
  /** Whether the answer says, too, how exact it is: `{ exact, steps }`. */
  readonly detailed?: boolean | undefined;
}

/** The writes of a key by one session, and how exact they are told. */
export interface DetailedHistory {
  /** Whether each `from` is what the key had, of all writers. Otherwise it is what this session wrote before. */
  readonly exact: boolean;
  readonly steps: readonly HistoryStep[];
}

/** A key of an app, or of a user in it: what `SessionService.history` tells across all sessions. */
export interface SharedKey {
  readonly appName: string;
  /** Needed for a `user:` key. */
  readonly userId?: string | undefined;
  /** With its prefix, `app:` or `user:`. */
  readonly key: string;
}

/** One write of an `app:` or `user:` key, by whichever session. */
export interface SharedStep {
  /** The position that the app, or the user, came to with it. */
  readonly position: number;
  /** The event's, or that of the update, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The session and the event that wrote it. Absent where none did; a creation has no `eventId`. */
  readonly by?: { readonly userId: string; readonly sessionId: string; readonly eventId?: string };
  /** The value before; absent when there was none. */
  readonly from?: Json;
  /** The value after; absent when the key was deleted. */
  readonly to?: Json;
}

/** All writes of an `app:` or `user:` key that are known. */
export interface SharedHistory {
  /** Whether these are all that there ever were: the log was kept from the beginning, and not trimmed. */
  readonly exact: boolean;
  /** Oldest first. */
  readonly steps: readonly SharedStep[];
}

/** How much of the log of app or user values `SessionService.trimHistory` deletes: one of the two. */
export interface TrimOptions extends Abortable {
  /** The oldest changes up to the first one that is not older than this, in milliseconds since the epoch. */
  readonly before?: number | undefined;
  /** All changes up to this position. */
  readonly upTo?: number | undefined;
}
