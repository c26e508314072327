// The source of a watch: the changes of one target after the place of one reader.

import type { SessionRecord } from '../session/record.js';
import type { Event, SessionKey, UpdateStateTarget } from '../model/types.js';
import type { EventChange, WatchedChange, WholePlace, WholeSessionChange } from '../model/watch.js';

/** The pace at which a reader looks at a store that others write to. */
export interface Pace {
  /** The longest interval between two looks, in milliseconds. */
  readonly poll: number;
  /** True when its timer does not keep the process running. */
  readonly background: boolean;
}

/** A checked request to watch. */
export interface WatchPlan {
  readonly target: UpdateStateTarget;
  readonly since: number | undefined;
  readonly initial: boolean;
  readonly pace: Pace;
  readonly buffer: number;
  /** The record and the revision of the caller's handle, if it is one of the service. */
  readonly shown: { readonly record: SessionRecord; readonly revision: number } | undefined;
}

/** A checked request to watch a whole session. */
export interface WholePlan {
  readonly target: SessionKey;
  readonly since: WholePlace | undefined;
  readonly initial: boolean;
  readonly pace: Pace;
  readonly buffer: number;
}

/** The changes of one target, for one reader. */
export interface ChangeSource<Change extends WatchedChange | WholeSessionChange = WatchedChange> {
  /**
   * Returns the next changes, at most `limit`, not counting the changes of values that a whole session reports with
   * them; none when there are none now. Moves the reader's place past them.
   */
  read(limit: number): Promise<readonly Change[]>;
  /** Resolves when there may be more changes than the last `read` returned, or when no more will come. */
  wait(): Promise<void>;
  /** True when the service is closed: no more changes will come. */
  readonly isClosed: boolean;
  /** Ends the reading. */
  close(): void;
}

/** The change of an event, in a session that ends at this time, if it expires. */
export function eventChange(revision: number, event: Event, expireTime: number | undefined): EventChange {
  return Object.freeze({ type: 'event', revision, event, ...(expireTime !== undefined && { expireTime }) });
}

/** The last change of a session. */
export const SESSION_DELETED: { readonly type: 'deleted' } = Object.freeze({ type: 'deleted' });
