// What watching reads from: the changes of one target behind the place of one reader.

import type { SessionRecord } from '../session/record.js';
import type { SessionKey, UpdateStateTarget } from '../model/types.js';
import type { WatchedChange, WholePlace, WholeSessionChange } from '../model/watch.js';

/** A request to watch, understood. */
export interface WatchPlan {
  readonly target: UpdateStateTarget;
  readonly since: number | undefined;
  readonly initial: boolean;
  /** In milliseconds. */
  readonly poll: number;
  readonly buffer: number;
  /** What the handle showed that was given, if it is one of the service. */
  readonly shown: { readonly record: SessionRecord; readonly revision: number } | undefined;
}

/** A request to watch a whole session, understood. */
export interface WholePlan {
  readonly target: SessionKey;
  readonly since: WholePlace | undefined;
  readonly initial: boolean;
  /** In milliseconds. */
  readonly poll: number;
  readonly buffer: number;
}

/** The changes of one target, for one reader. */
export interface ChangeSource<Change extends WatchedChange | WholeSessionChange = WatchedChange> {
  /**
   * The next changes, at most so many, but for those of values that a whole session tells with them; none when there
   * are none now. The reader's place moves behind them.
   */
  read(limit: number): Promise<readonly Change[]>;
  /** Resolves when there may be more than the last `read` has found, or no more will come. */
  wait(): Promise<void>;
  /** Whether the service is closed: nothing more will come. */
  readonly isClosed: boolean;
  /** The reader is done. */
  close(): void;
}

/** A change that nothing follows. */
export const SESSION_DELETED: { readonly type: 'deleted' } = Object.freeze({ type: 'deleted' });
