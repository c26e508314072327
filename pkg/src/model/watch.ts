// What watching gives: changes of a session, a user or an app.

import type { Deleted } from './deletion.js';
import type { Abortable, Event, GetSessionRequest, Json, Session, SessionName } from './types.js';

/** What can be watched: a session, or a user's values in an app, or an app's. */
export interface WatchKey {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** What is watched: a key, or a session. */
export type WatchTarget = WatchKey | SessionName;

/** Options of `watch`. */
export interface WatchOptions extends Abortable {
  /**
   * Goes on after this revision of the session, or this position of the user's or the app's values: that of the last
   * change that was seen. From now on, when absent.
   */
  readonly since?: number | undefined;
  /** How often the store is asked at least, in milliseconds; 1,000 unless told otherwise. */
  readonly poll?: number | undefined;
  /** How many changes are read ahead at most; 1,000 unless told otherwise. */
  readonly buffer?: number | undefined;
}

/** An event of a session. */
export interface WatchedEvent {
  readonly type: 'event';
  /** The revision that the session came to with it. */
  readonly revision: number;
  readonly event: Event;
}

/** What has happened to the values of a user or an app. */
export interface WatchedValues {
  readonly type: 'values';
  /** The position that the values came to: one more for each change. */
  readonly position: number;
  /** The position before: more than one lower, when several changes are told as one. */
  readonly from: number;
  /** Full keys and their new values; `DELETED` for those that were deleted. */
  readonly delta: Readonly<Record<string, Json | Deleted>>;
  /** The session and the event that wrote them, where that is known. At a creation without `eventId`. */
  readonly by?: { readonly userId: string; readonly sessionId: string; readonly eventId?: string };
}

/** Changes are missing here: read anew what is watched; what follows goes on from there. */
export interface WatchedReload {
  readonly type: 'reload';
  /** The revision of a session. */
  readonly revision?: number;
  /** The position of the values of a user or an app. */
  readonly position?: number;
}

/** The session is gone. Nothing follows. */
export interface WatchedDeletion {
  readonly type: 'deleted';
}

/** A change, as `watch` gives it. */
export type WatchedChange = WatchedEvent | WatchedValues | WatchedReload | WatchedDeletion;

/** What sessions can be read from and watched: a `SessionService`, or one that is reached over HTTP. */
export interface SessionSource {
  getSession(request: GetSessionRequest): Promise<Session | undefined>;
  watch(target: WatchTarget, options?: WatchOptions): AsyncIterable<WatchedChange>;
}
