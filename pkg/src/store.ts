// What a store writes.

import type { Json, SessionKey } from './types.js';

/** What changes in one scope; keys have become names. */
export interface Delta {
  readonly set?: Readonly<Record<string, Json>>;
  readonly unset?: readonly string[];
}

/** One event and its deltas, already split by scope: a store writes all of it or nothing. `temp:` keys are never in it. */
export interface Change {
  /** The idempotency key: the event's id. */
  readonly id: string;
  readonly kind: 'create' | 'append' | 'update';
  /** Without a `sessionId` for an update of app and user state alone, without a `userId` for one of app state alone. */
  readonly key: Partial<SessionKey> & Pick<SessionKey, 'appName'>;
  /** In milliseconds since the epoch. */
  readonly time: number;
  /** The event as JSON text, opaque to the store. */
  readonly event?: { readonly id: string; readonly time: number; readonly data: string };
  readonly delta: { readonly app?: Delta; readonly user?: Delta; readonly session?: Delta };
}

/** Makes a change durable, all or nothing. When it throws, nothing has changed anywhere. */
export type Commit = (change: Change) => Promise<void>;
