// Watching: which changes are told, and how.

import type { Deleted } from './deletion.js';
import type { Abortable, Event, GetSessionRequest, Json, Session, SessionKey, SessionName } from './types.js';

/** What can be watched: a session, or a user's values in an app, or an app's. */
export interface WatchKey {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/**
 * A whole session: its events, and with them the values of its user and of its app. A session serves, too:
 * `{ ...session, whole: true }`.
 */
export type WholeSessionKey = (SessionKey | SessionName) & { readonly whole: true };

/** What is watched: a key, or a session. */
export type WatchTarget = WatchKey | SessionName | WholeSessionKey;

/** A change of a session, as `SessionService.watch` tells it. */
export type SessionChange =
  /** The event that the session came to this revision with. */
  | { readonly type: 'event'; readonly revision: number; readonly event: Event }
  /**
   * What has happened cannot be told change by change: the store has gone back, or the reader came from a revision
   * that the session does not have. Read the session anew; what is told next comes after this revision.
   */
  | { readonly type: 'reload'; readonly revision: number }
  /** The session was deleted, and maybe made anew: nothing is told after this. */
  | { readonly type: 'deleted' };

/** A change of the values of an app, or of a user in it, as `SessionService.watch` tells it. */
export type SharedChange =
  /** What was written between two positions: one change, or several in one. */
  | {
      readonly type: 'values';
      /** Where the values are after it: one more for each change, 0 before the first one. */
      readonly position: number;
      /** Where they were before it: `position - 1` where each change is told by itself. */
      readonly from: number;
      /** The new values under their full keys; `DELETED` under those that are gone. */
      readonly delta: Readonly<Record<string, Json | Deleted>>;
      /**
       * The session and the event that wrote it, where that is known and there is one. A creation has no `eventId`.
       */
      readonly by?: { readonly userId: string; readonly sessionId: string; readonly eventId?: string };
    }
  /**
   * What has happened cannot be told: the store has it no more, or has gone back. Read the values anew; what is told
   * next comes after this position.
   */
  | { readonly type: 'reload'; readonly position: number };

/** What `SessionService.watch` tells of a session, a user or an app. */
export type WatchedChange = SessionChange | SharedChange;

/** A place among the changes of a whole session: `since` goes on behind it. It is JSON, and short. */
export interface WholePlace {
  /** The revision of the session. */
  readonly revision: number;
  /** The position of its user's values. */
  readonly user: number;
  /** The position of its app's values. */
  readonly app: number;
  /**
   * Tells this place from others with the same numbers: those of a session that was made anew, or of a store that was
   * set back by a backup. Opaque; at most 60 characters.
   */
  readonly mark?: string | undefined;
}

/**
 * A change of a whole session. `applyChange` brings a session up to date by it; `place` is where the reader is behind
 * it.
 */
export type WholeSessionChange =
  /**
   * The session as it is, with everything: the beginning, and whenever what has happened cannot be told change by
   * change.
   */
  | { readonly type: 'session'; readonly session: Session; readonly place: WholePlace }
  /** The session's next event. Of its delta the session's own keys count: `values` tells the others. */
  | { readonly type: 'event'; readonly revision: number; readonly event: Event; readonly place: WholePlace }
  /** What differs in the values of the app, or of the user, since they were told last. */
  | {
      readonly type: 'values';
      readonly scope: 'app' | 'user';
      /** Where these values are after it. */
      readonly position: number;
      /** Where they were before it. Of 0 the delta has all values: other keys of the scope are gone. */
      readonly from: number;
      /** The new values under their full keys; `DELETED` under those that are gone. */
      readonly delta: Readonly<Record<string, Json | Deleted>>;
      readonly place: WholePlace;
    }
  /** The session was deleted, and maybe made anew: nothing is told after this. */
  | { readonly type: 'deleted' };

/** Options of `SessionService.watch` for a session, a user or an app. */
export interface WatchOptions extends WatchPace {
  /**
   * The revision of a session, or the position of an app or a user, that the reader has: what came after it is told.
   * Unless told otherwise, that of the handle that is given, or else where the target is when the reading begins.
   */
  readonly since?: number | undefined;
  /**
   * Of an app or a user, without `since`: to begin with all values as they are, as one change from position 0. What is
   * told next follows it without a gap.
   */
  readonly initial?: boolean | undefined;
}

/** Options of `SessionService.watch` for a whole session. */
export interface WholeWatchOptions extends WatchPace {
  /** Where the reader is: what came after it is told. */
  readonly since?: WholePlace | undefined;
  /**
   * Without `since`: whether to begin with the session as it is, which is so unless this is `false`. What is told next
   * follows it without a gap.
   */
  readonly initial?: boolean | undefined;
}

/** How `SessionService.watch` reads. */
export interface WatchPace extends Abortable {
  /**
   * How often to ask a store that others can write to, in milliseconds; 1,000 unless told otherwise. Where the store
   * gives hints this is the safety net. Of several readers of one target the most frequent one counts.
   */
  readonly poll?: number | undefined;
  /** How many changes are loaded ahead of the reader at most; 100 unless told otherwise. */
  readonly buffer?: number | undefined;
}

/** What sessions can be read from and watched: a `SessionService`, or one that is reached over HTTP. */
export interface SessionSource {
  getSession(request: GetSessionRequest): Promise<Session | undefined>;
  watch(target: WholeSessionKey, options?: WholeWatchOptions): AsyncIterable<WholeSessionChange>;
  watch(target: WatchKey | SessionName, options?: WatchOptions): AsyncIterable<WatchedChange>;
}
