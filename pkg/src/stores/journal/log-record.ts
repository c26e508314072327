// The records of a log, and the callbacks that keep them.

import { newId } from '../../model/ids.js';
import type { Change, Guard, Hint, LogEntry } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';
import type { LogVersion } from './version.js';

/** The part of a record about time, by the clock of the store that has written it: milliseconds since the epoch. */
export interface Timed {
  /**
   * Of a creation or an append: the time at which the session expires after it. Absent where it does not.
   * `Change.expires`, of a creation, says how appends move it.
   */
  readonly ends?: number;
  /** The time of a change to the values of a user, by which they are too old one day. */
  readonly written?: number;
}

/** A session, or all values of an app or a user, that has been deleted. */
export interface Removal {
  /** Unique everywhere. */
  readonly id: string;
  /**
   * `remove`: the session that `key` names. `remove-scope`: the user's values when there is a `userId`, else the
   * app's.
   */
  readonly kind: 'remove' | 'remove-scope';
  readonly key: Hint;
  /** The time, in milliseconds since the epoch. */
  readonly time: number;
  /** As in {@link LogRecord}. */
  readonly guard?: Guard;
  /** Of a session: the `Change.digest` of its creation, which outlives it. */
  readonly digest?: string;
}

/** An update that writes nothing and says up to which position the log of its scope was trimmed. */
export interface Trimming extends Change, Timed {
  readonly kind: 'update';
  readonly trim: number;
}

/** The remainder of a removed session's change after compacting: an update that says who wrote it. */
export interface Remainder extends Change, Timed {
  readonly kind: 'update';
  readonly by: NonNullable<LogEntry['by']>;
}

/** A call that was refused, of which an earlier try may still be on its way: see `Change.attempt`. */
export interface Refusal {
  /** Unique everywhere. */
  readonly id: string;
  readonly kind: 'refusal';
  /** Names the app alone. */
  readonly key: Hint;
  /** The call. */
  readonly call: string;
  /** The digest of the refused change: see `Change.digest`. */
  readonly digest?: string;
  /** The time, in milliseconds since the epoch. */
  readonly time: number;
}

/**
 * Says which version the records have. It comes first in a new log, and is appended to an old one when that is
 * upgraded.
 */
export interface VersionRecord {
  /** Unique everywhere. */
  readonly id: string;
  readonly kind: 'version';
  readonly version: number;
  /** The fingerprint of how records are laid out, until the first release. */
  readonly layout: string;
  /** A key that no session has, so that every record has one. */
  readonly key: SessionKey;
  /** The time, in milliseconds since the epoch. */
  readonly time: number;
}

/**
 * A record of a log: plain JSON data. `guard` is not the requested state but the actual one: which session, at which
 * revision, and where the scopes were. It shows whether records have got lost.
 */
export type LogRecord = (Change & Timed) | Trimming | Remainder | Removal | Refusal | VersionRecord;

/** A record that has a number of its own among the lines of a journal. */
export type Numbered = Exclude<LogRecord, VersionRecord>;

/** The records that are read: all at once or one after the other. */
export type Records<T> = Iterable<T> | AsyncIterable<T>;

/** The two functions that keep a log. */
export interface Callbacks {
  /**
   * Keeps records, in their order, behind all earlier ones; they are durable when it resolves. Called with all that
   * wait, and not again before it is done. A `StoreError` of code `unavailable` or `rejected` says that none of them
   * is kept; after any other error the outcome is unknown and everything is restored again before the next call: those
   * that are kept must be there by then. A batch that is `rejected` is handed over again, record by record.
   *
   * It must not wait for a write to the same log: that one comes after it. Such a write is given up when its time is
   * over (`timeout` of a service), as `unavailable`.
   */
  persist(changes: readonly LogRecord[]): Promise<void>;
  /**
   * Gives back all records, in order. Records that are there twice, because a retry wrote them again, do no harm. One
   * that is damaged makes its session unreadable, and no other.
   *
   * Without it nothing is read back: a store or a service begins empty, as a new log does, and goes by what it has in
   * memory. After an error that leaves the outcome of records unknown they count as not kept: a retry hands them over
   * once more.
   */
  restore?(): Records<LogRecord> | Promise<Records<LogRecord>>;
}

/** Options of all that keeps a log. */
export interface LogOptions {
  /**
   * True to make the writes of app and user values readable (`SessionStore.readLog`), which is the default. All of
   * them are in memory, too, until they are trimmed. The stored records are the same either way.
   */
  readonly log?: boolean | undefined;
}

/** The record that says a version. */
export function versionRecord({ version, layout }: LogVersion): VersionRecord {
  const id = newId();
  const key = { appName: 'statepad', userId: 'version', sessionId: id };
  return { id, kind: 'version', version, layout, key, time: Date.now() };
}
