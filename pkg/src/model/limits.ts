// Limits of what is stored, and the words of what exceeds them.

import type { StoredScope } from './scope.js';

/**
 * The most that is stored. Sizes are UTF-8 bytes of JSON text, as `JSON.stringify` writes it; `Infinity` turns a limit
 * off. What does not grow is never refused: a state beyond a limit that was lowered can still be changed and emptied.
 */
export interface LimitOptions {
  /** The most bytes of one value of the state, also of one that an operator comes to; 32 MiB by default. */
  readonly value?: number | undefined;
  /** The most bytes of the keys and the values that one event or update writes; 64 MiB by default. */
  readonly delta?: number | undefined;
  /** The most bytes of an event; 64 MiB by default. */
  readonly event?: number | undefined;
  /**
   * The most bytes of the names and the values of one scope: of a session's own state, of a user's and of an app's;
   * 256 MiB by default.
   */
  readonly state?: number | undefined;
  /** The most keys of one scope; 1,000,000 by default. */
  readonly keys?: number | undefined;
  /** The most events of a session; 10,000,000 by default. */
  readonly events?: number | undefined;
}

/** The name of a limit. */
export type LimitName = keyof LimitOptions;

/** All limits of a service. */
export type Limits = Readonly<Record<LimitName, number>>;

const MIB = 2 ** 20;

/** The limits of a service that names none: none of them is met by what agents store. */
export const DEFAULT_LIMITS: Limits = Object.freeze({
  value: 32 * MIB,
  delta: 64 * MIB,
  event: 64 * MIB,
  state: 256 * MIB,
  keys: 1_000_000,
  events: 10_000_000,
});

/** The limits that stores compare, as they have the numbers. */
export const STORED_LIMITS = ['state', 'keys', 'events'] as const satisfies readonly LimitName[];

/** A limit that a write would exceed, and what it concerns. */
export interface ExceededLimit {
  readonly exceeded: LimitName;
  readonly size: number;
  readonly limit: number;
  /** Of a value: its full key. */
  readonly key?: string | undefined;
  /** Of `state` and `keys`. */
  readonly scope?: StoredScope | undefined;
}
