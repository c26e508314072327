// The past of app and user values: options and answers.

import type { Abortable, HistoryOptions, HistoryStep, Json } from './types.js';

/** Options of `SessionService.stateAt`. */
export interface StateAtOptions extends Abortable {
  /** True to include the exactness in the answer: `{ state, exact }`. */
  readonly detailed?: boolean | undefined;
}

/** The state of a session at a revision, with its exactness. */
export interface DetailedState {
  readonly state: Readonly<Record<string, Json>>;
  /**
   * True when `app:` and `user:` keys are as they were then; otherwise they are known from the session's own log
   * alone.
   */
  readonly exact: boolean;
}

/** Options of `SessionService.history` of a session. */
export interface SessionHistoryOptions extends HistoryOptions {
  /** True to include the exactness in the answer: `{ exact, steps }`. */
  readonly detailed?: boolean | undefined;
}

/** The writes of a key by one session, with their exactness. */
export interface DetailedHistory {
  /** True when each `from` is the previous value of any writer; otherwise it is the previous value by this session. */
  readonly exact: boolean;
  readonly steps: readonly HistoryStep[];
}

/** A key of an app, or of a user in it: `SessionService.history` returns its writes across all sessions. */
export interface SharedKey {
  readonly appName: string;
  /** Needed for a `user:` key. */
  readonly userId?: string | undefined;
  /** With its prefix, `app:` or `user:`. */
  readonly key: string;
}

/** One write of an `app:` or `user:` key, by any session. */
export interface SharedStep {
  /** The position of the app, or the user, after it. */
  readonly position: number;
  /** The time of the event or of the update, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The session and the event that wrote it. Absent for an update without a session; a creation has no `eventId`. */
  readonly by?: { readonly userId: string; readonly sessionId: string; readonly eventId?: string };
  /** The value before; absent when there was none. */
  readonly from?: Json;
  /** The value after; absent when the key was deleted. */
  readonly to?: Json;
}

/** All known writes of an `app:` or `user:` key. */
export interface SharedHistory {
  /** True when these are all writes ever: the log was kept from the beginning, and not trimmed. */
  readonly exact: boolean;
  /** Oldest first. */
  readonly steps: readonly SharedStep[];
}

/** The part of the log of app or user values that `SessionService.trimHistory` deletes; give one of the two. */
export interface TrimOptions extends Abortable {
  /** The oldest changes up to the first one that is not older than this, in milliseconds since the epoch. */
  readonly before?: number | undefined;
  /** All changes up to this position. */
  readonly upTo?: number | undefined;
}
