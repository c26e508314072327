// The JavaScript side of a session.

import type { CreationEvent } from './creation-event.js';
import type { HistoryEngine } from '../engine/history.js';
import type { MergedState } from './merged-state.js';
import type { ScopeValues } from './scope-values.js';
import type { SessionScopes } from '../engine/sessions.js';
import type { Event, SessionKey } from '../model/types.js';

/** The number of a session, or of a scope, that is not in the core. */
export const NOT_LOADED = -1;

/** The values of a session's own scope, its app's and its user's. */
export type SessionValues = readonly [own: ScopeValues, app: ScopeValues, user: ScopeValues];

/** The event bodies of a session, and the members of its row in a list. */
export interface SessionRecord {
  /** The registry that created it. */
  readonly owner: object;
  /** The session's number in the core; {@link NOT_LOADED} when only handles refer to it. */
  number: number;
  readonly key: SessionKey;
  /** The creation id, which distinguishes it from an earlier session of the same key. */
  readonly created: string;
  /** The numbers of its own scope, its app's and its user's. */
  scopes: SessionScopes;
  /** The values of these scopes; absent until the session has been in the core. */
  values: SessionValues | undefined;
  /** The last events; earlier ones are only in the store. */
  events: Event[];
  /** The number of events before these. */
  base: number;
  revision: number;
  /** The id of the event at this revision, where it is known. */
  last: string | undefined;
  updateTime: number;
  /** The time at which it expires, in milliseconds since the epoch; absent where it does not. */
  expires: number | undefined;
  /** Without a store: the time from a write to its end, where each write moves it. */
  ttl: number | undefined;
  deleted: boolean;
  /** The creation: absent until it is loaded, `'unknown'` when the store does not have it. */
  creation: CreationEvent | 'unknown' | undefined;
  /**
   * Without a store: the revisions at which app or user values had changed, each with the moment of the service (see
   * `SharedLogs`). Absent while there are none.
   */
  moments: number[] | undefined;
  /** The core's copy of its log, once its history was requested. */
  history: HistoryEngine | undefined;
  /** The events as a frozen list, for all handles that show all of them. */
  list: readonly Event[] | undefined;
  /** The last merged state, for all handles that show the same. */
  merged: MergedState | undefined;
}

/** A record without events, of a session that the core does not know. */
export function newRecord(owner: object, { appName, userId, sessionId }: SessionKey, created: string): SessionRecord {
  return {
    owner,
    number: NOT_LOADED,
    key: { appName, userId, sessionId },
    created,
    scopes: [NOT_LOADED, NOT_LOADED, NOT_LOADED],
    values: undefined,
    events: [],
    base: 0,
    revision: 0,
    last: undefined,
    updateTime: 0,
    expires: undefined,
    ttl: undefined,
    deleted: false,
    creation: undefined,
    moments: undefined,
    history: undefined,
    list: undefined,
    merged: undefined,
  };
}
