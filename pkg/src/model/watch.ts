// Watching: targets, changes and options.

import type { Deleted } from './deletion.js';
import type { Abortable, Event, GetSessionRequest, Json, Session, SessionKey, SessionName } from './types.js';

/** A target of a watch: a session, or a user's values in an app, or an app's. */
export interface WatchKey {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/**
 * A whole session: its events, and with them the values of its user and of its app. A session works as well: `{
 * ...session, whole: true }`.
 */
export type WholeSessionKey = (SessionKey | SessionName) & { readonly whole: true };

/** A target of a watch: a key, or a session. */
export type WatchTarget = WatchKey | SessionName | WholeSessionKey;

/** The next event of a session. */
export interface EventChange {
  readonly type: 'event';
  readonly revision: number;
  readonly event: Event;
  /** The time at which the session expires as it is known now, as `Session.expireTime`: writes may have moved it. */
  readonly expireTime?: number;
}

/** A change of a session, from `SessionService.watch`. */
export type SessionChange =
  /** The event that brought the session to this revision. */
  | EventChange
  /**
   * The changes are not known one by one: the store has gone back, or the reader began at a revision that the session
   * does not have. Read the session again; the next change comes after this revision.
   */
  | { readonly type: 'reload'; readonly revision: number }
  /** The session was deleted, and perhaps created anew. This is the last change. */
  | { readonly type: 'deleted' };

/** A change of the values of an app, or of a user in it, from `SessionService.watch`. */
export type SharedChange =
  /** The writes between two positions: one change, or several combined. */
  | {
      readonly type: 'values';
      /** The position after it: one more for each change, 0 before the first one. */
      readonly position: number;
      /** The position before it: `position - 1` for a single change. */
      readonly from: number;
      /** The new values under their full keys; `DELETED` for deleted keys. */
      readonly delta: Readonly<Record<string, Json | Deleted>>;
      /** The session and the event that wrote it, if known. A creation has no `eventId`. */
      readonly by?: { readonly userId: string; readonly sessionId: string; readonly eventId?: string };
    }
  /**
   * The changes are not known: the store no longer has them, or has gone back. Read the values again; the next change
   * comes after this position.
   */
  | { readonly type: 'reload'; readonly position: number };

/** A change of a session, a user or an app, from `SessionService.watch`. */
export type WatchedChange = SessionChange | SharedChange;

/** A place among the changes of a whole session: `since` continues after it. It is short JSON. */
export interface WholePlace {
  /** The revision of the session. */
  readonly revision: number;
  /** The position of its user's values. */
  readonly user: number;
  /** The position of its app's values. */
  readonly app: number;
  /**
   * Distinguishes this place from others with the same numbers: those of a session that was created anew, or of a
   * store that was restored from a backup. Opaque; at most 60 characters.
   */
  readonly mark?: string | undefined;
}

/** A change of a whole session. `applyChange` applies it; `place` is the reader's place after it. */
export type WholeSessionChange =
  /** The current session, complete: the beginning, and whenever changes are not known one by one. */
  | { readonly type: 'session'; readonly session: Session; readonly place: WholePlace }
  /** The session's next event. Only the session's own keys of its delta count: `values` reports the others. */
  | (EventChange & { readonly place: WholePlace })
  /** The difference in the values of the app, or of the user, since the last report. */
  | {
      readonly type: 'values';
      readonly scope: 'app' | 'user';
      /** The position of these values after it. */
      readonly position: number;
      /** The position before it. If it is 0, the delta has all values: other keys of the scope are deleted. */
      readonly from: number;
      /** The new values under their full keys; `DELETED` for deleted keys. */
      readonly delta: Readonly<Record<string, Json | Deleted>>;
      readonly place: WholePlace;
    }
  /** The session was deleted, and perhaps created anew. This is the last change. */
  | { readonly type: 'deleted' };

/** Options of `SessionService.watch` for a session, a user or an app. */
export interface WatchOptions extends WatchPace {
  /**
   * The revision of a session, or the position of an app or a user, that the reader has: later changes are reported.
   * By default that of the handle, or else the current one when the reading begins.
   */
  readonly since?: number | undefined;
  /**
   * For an app or a user, without `since`: true to begin with all current values, as one change from position 0. The
   * next change follows it without a gap.
   */
  readonly initial?: boolean | undefined;
}

/** Options of `SessionService.watch` for a whole session. */
export interface WholeWatchOptions extends WatchPace {
  /** The reader's place: later changes are reported. */
  readonly since?: WholePlace | undefined;
  /**
   * Without `since`: begins with the current session unless this is `false`. The next change follows it without a gap.
   */
  readonly initial?: boolean | undefined;
}

/** Options for the pace of `SessionService.watch`. */
export interface WatchPace extends Abortable {
  /**
   * The interval between questions to a store that others can write to, in milliseconds; 1,000 by default. Where the
   * store gives hints this is a safety net. The shortest interval of all readers of a target counts.
   */
  readonly poll?: number | undefined;
  /**
   * True when this watch does not keep the process running: no timer of it does. For a page about a program, which
   * ends when it has nothing else to do; Node alone. False by default.
   */
  readonly background?: boolean | undefined;
  /** The largest number of changes that are loaded ahead of the reader; 100 by default. */
  readonly buffer?: number | undefined;
}

/** A source of sessions to read and watch: a `SessionService`, or one that is reached over HTTP. */
export interface SessionSource {
  getSession(request: GetSessionRequest): Promise<Session | undefined>;
  watch(target: WholeSessionKey, options?: WholeWatchOptions): AsyncIterable<WholeSessionChange>;
  watch(target: WatchKey | SessionName, options?: WatchOptions): AsyncIterable<WatchedChange>;
}
