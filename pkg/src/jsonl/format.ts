// The lines of a file, as they are written; read.ts reads them.

import type { Event, Json } from '../model/types.js';

/** The version of the format that is written, and the newest one that is read. */
export const VERSION = 1;

/** The first line. */
export interface HeaderLine {
  readonly kind: 'statepad';
  readonly version: number;
}

/** A session as it was created; its events follow. */
export interface SessionLine {
  readonly kind: 'session';
  readonly appName: string;
  readonly userId: string;
  readonly id: string;
  /** The time when it was created, in milliseconds since the epoch. */
  readonly timestamp: number;
  /** The time when it expires, in milliseconds since the epoch; absent where it does not. */
  readonly expireTime?: number;
  /** Where each write moves that time: by so many milliseconds from the write on. */
  readonly ttl?: number;
  /** The values of its creation, under full keys. */
  readonly state: Readonly<Record<string, Json>>;
}

/** The next event of the session before it. */
export interface EventLine {
  readonly kind: 'event';
  readonly event: Event;
}

/** All values of an app, or of a user in it, under their names. */
export interface ScopeLine {
  readonly kind: 'scope';
  readonly appName: string;
  readonly userId?: string;
  readonly state: Readonly<Record<string, Json>>;
}

/** Any line. */
export type Line = HeaderLine | SessionLine | EventLine | ScopeLine;
