// The error of a store that does not do what was requested.

import { isObject } from '../model/value-types.js';
import type { StoreLimit } from './growth.js';

/**
 * The reasons why a store throws:
 *
 * - `conflict`, `exists`, `not-found`: not written, because of the state of the store
 * - `held`: another holder has the lease
 * - `fenced`: not written, because the lease was lost
 * - `rejected`: not written, and never will be: too big, a bad value, a schema that does not suit
 * - `limit`: not written, because more would be stored than `Change.limits` allows
 * - `forbidden`: not written, because who asks has no right to it
 * - `unavailable`: not written, but might be later
 * - `corrupt`: stored data cannot be read
 */
export type StoreErrorCode =
  | 'conflict'
  | 'exists'
  | 'not-found'
  | 'held'
  | 'fenced'
  | 'rejected'
  | 'limit'
  | 'forbidden'
  | 'unavailable'
  | 'corrupt';

/** Details of a {@link StoreError}. */
export interface StoreErrorDetails {
  /** `conflict` with an expected revision: the one that the session has. `fenced`: the token that the session has. */
  readonly actual?: number;
  /** `held`: when the lease ends, in milliseconds since the epoch, by the store's clock. */
  readonly until?: number;
  /**
   * `conflict` or `rejected` because of an operator: the name that it would have written, and its scope. `limit`: the
   * scope, and the name of a value.
   */
  readonly key?: string;
  readonly scope?: 'app' | 'user' | 'session';
  /** `limit`: the limit that was exceeded. */
  readonly exceeded?: StoreLimit;
  /** `limit`, and `rejected` when something is too big: its size and the limit, in bytes, or their number. */
  readonly size?: number;
  readonly limit?: number;
  /** `conflict` because the call was refused before: the `Change.digest` of its first refused attempt, if any. */
  readonly digest?: string;
  /** The cause of the error. */
  readonly cause?: unknown;
}

const brand = Symbol.for('statepad.storeError');

/**
 * Thrown by stores when it is known what became of the request. Anything else that a store throws means that it is
 * not.
 */
export class StoreError extends Error implements StoreErrorDetails {
  readonly code: StoreErrorCode;
  declare readonly actual?: number;
  declare readonly until?: number;
  declare readonly key?: string;
  declare readonly scope?: 'app' | 'user' | 'session';
  declare readonly exceeded?: StoreLimit;
  declare readonly size?: number;
  declare readonly limit?: number;
  declare readonly digest?: string;

  constructor(code: StoreErrorCode, message: string, details: StoreErrorDetails = {}) {
    const { cause, ...members } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, members);
  }

  static {
    Object.defineProperty(this.prototype, 'name', { value: 'StoreError', configurable: true });
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}

/** True if `error` is a {@link StoreError}, also one of another copy of the package. */
export function isStoreError(error: unknown): error is StoreError {
  return isObject(error) && brand in error;
}
