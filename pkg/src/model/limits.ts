// Limits of what is stored, and the words of what exceeds them.

import { defined } from './defined.js';
import { StatepadError, type LimitName } from './errors.js';
import type { StoredScope } from './scope.js';

/**
 * The most that is stored. Sizes are UTF-8 bytes of JSON text, as `JSON.stringify` writes it; `Infinity` turns a limit
 * off. What does not grow is never refused: a state beyond a limit that was lowered can still be changed and emptied.
 */
export interface LimitOptions {
  /** The most bytes of one value of the state, also of one that an operator comes to; 32 MiB by default. */
  readonly value?: number | undefined;
  /**
   * The most bytes of the keys, the values and the operators that one event or update writes, and of the keys that it
   * deletes; 64 MiB by default.
   */
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

export type { LimitName } from './errors.js';

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

/** The scope of a limit, and the session of the write. */
interface LimitTarget {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** The ways to stay within the limits. */
const REMEDIES: Readonly<Record<LimitName, string>> = {
  value: 'write less',
  delta: 'write less',
  event: 'write less',
  state: 'delete keys',
  keys: 'delete keys',
  events: 'begin another session',
};

/** `LIMIT_EXCEEDED`: the message says what would be how large, and what to do. */
export function limitExceeded(
  target: LimitTarget,
  details: ExceededLimit,
  path?: string,
  cause?: unknown,
): StatepadError {
  const { exceeded, size, limit, key } = details;
  const sizes = `${limitTitle(target, details)}, and the limit is ${limit}`;
  const message = `${sizes}: ${REMEDIES[exceeded]}, or raise limits.${exceeded}`;
  const id = target.sessionId;
  return new StatepadError('LIMIT_EXCEEDED', message, defined({ exceeded, size, limit, key, path, id, cause }));
}

function limitTitle(target: LimitTarget, { exceeded, size, key, scope = 'session' }: ExceededLimit): string {
  switch (exceeded) {
    case 'value':
      return `the value of "${key}" has ${size} bytes`;
    case 'delta':
    case 'event':
      return `the ${exceeded} has ${size} bytes`;
    case 'state':
    case 'keys':
      return `the state of ${ownerOf(target, scope)} would have ${size} ${exceeded === 'keys' ? 'keys' : 'bytes'}`;
    case 'events':
      return `${ownerOf(target, 'session')} would have ${size} events`;
  }
}

function ownerOf({ appName, userId, sessionId }: LimitTarget, scope: StoredScope): string {
  return scope === 'app' ? `app "${appName}"` : scope === 'user' ? `user "${userId}"` : `session "${sessionId}"`;
}
