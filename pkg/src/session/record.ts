// What the JavaScript side knows of a session.

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

/** The event bodies of a session, and what a list shows of it. */
export interface SessionRecord {
  /** The registry that has made it. */
  readonly owner: object;
  /** The session's number in the core; {@link NOT_LOADED} when only handles know it. */
  number: number;
  readonly key: SessionKey;
  /** Tells it from an earlier session of the same key: what a store calls `created`. */
  readonly created: string;
  /** The numbers of its own scope, its app's and its user's. */
  scopes: SessionScopes;
  /** The values of these scopes; absent as long as the session has not been in the core. */
  values: SessionValues | undefined;
  /** The last events; those before them are only in the store. */
  events: Event[];
  /** How many events there are before these. */
  base: number;
  revision: number;
  /** The id of the event at this revision, where it is known. */
  last: string | undefined;
  updateTime: number;
  deleted: boolean;
  /** What it began with: absent until it is asked of the store, `'unknown'` when the store does not have it. */
  creation: CreationEvent | 'unknown' | undefined;
  /**
   * Without a store: at which revisions it has found app or user values moved, each with the moment of the service
   * (see `SharedLogs`). Absent while nothing has moved.
   */
  moments: number[] | undefined;
  /** What its log says of each key, once that has been asked for. */
  history: HistoryEngine | undefined;
  /** The events as a frozen list, for all handles that show all of them. */
  list: readonly Event[] | undefined;
  /** The state that was made last, for all handles that show the same. */
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
    deleted: false,
    creation: undefined,
    moments: undefined,
    history: undefined,
    list: undefined,
    merged: undefined,
  };
}
