// The output of `show`, as records: each is a line of JSON, or part of a table.

import type { Event, HistoryStep, Json, SharedStep } from '../../index.js';

/** Values under keys or names. */
type Values = Readonly<Record<string, Json>>;

/** An app, with its sessions. */
export interface AppRecord {
  readonly kind: 'app';
  readonly appName: string;
  /** Their number. */
  readonly sessions: number;
  /** The last of their times, in milliseconds since the epoch; absent without sessions. */
  readonly lastUpdateTime?: number;
}

/** A user in an app, as {@link AppRecord}. */
export interface UserRecord extends Omit<AppRecord, 'kind'> {
  readonly kind: 'user';
  readonly userId: string;
}

/** The values of an app, or of a user in it, under their names. */
export interface ScopeRecord {
  readonly kind: 'scope';
  readonly appName: string;
  readonly userId?: string;
  readonly state: Values;
}

/** A session. */
export interface SessionRecord {
  readonly kind: 'session';
  readonly appName: string;
  readonly userId: string;
  readonly id: string;
  /** The revision of the state: the number of events up to it. */
  readonly revision: number;
  /** Of the session as it is now, in milliseconds since the epoch. */
  readonly lastUpdateTime: number;
  /** The time when the session expires; absent where it does not. */
  readonly expireTime?: number;
  /** All values, under their full keys. */
  readonly state: Values;
  /** With `--at`: false where `app:` and `user:` values of that moment are known from the session's own log alone. */
  readonly exact?: boolean;
}

/** An event of the session of the record before it. */
export interface EventRecord {
  readonly kind: 'event';
  readonly revision: number;
  readonly event: Event;
}

/** The history of a key; its steps follow. */
export interface HistoryRecord {
  readonly kind: 'history';
  readonly appName: string;
  readonly userId?: string;
  /** Absent for the writes of all sessions. */
  readonly sessionId?: string;
  readonly key: string;
  /** False where writes of others are missing. */
  readonly exact: boolean;
}

/** A write of the key of the record before it. */
export type StepRecord = { readonly kind: 'step' } & (
  (Omit<HistoryStep, 'event'> & { readonly author?: string; readonly eventId?: string }) | SharedStep
);

/** A session that the store cannot read. */
export interface CorruptRecord {
  readonly kind: 'corrupt';
  readonly appName: string;
  readonly userId: string;
  readonly id: string;
}

/** Any record. */
export type ShowRecord =
  AppRecord | UserRecord | ScopeRecord | SessionRecord | EventRecord | HistoryRecord | StepRecord | CorruptRecord;
