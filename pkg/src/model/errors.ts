// Every error that statepad throws.

import { isObject } from './value-types.js';

/** The kind of an error. Programs can rely on it across versions. */
export type ErrorCode =
  | 'INVALID_ARGUMENT'
  | 'VALUE_NOT_JSON'
  | 'SESSION_NOT_FOUND'
  | 'SESSION_EXISTS'
  | 'SESSION_STALE'
  | 'STATE_CONFLICT'
  | 'EVENT_ID_CONFLICT'
  | 'INVOCATION_ENDED'
  | 'TEMPLATE_KEY_MISSING'
  | 'ARTIFACT_MISSING'
  | 'SCHEMA_INVALID'
  | 'LIMIT_EXCEEDED'
  | 'STORE_UNAVAILABLE'
  | 'STORE_UNSUITABLE'
  | 'COMMIT_UNKNOWN'
  | 'STORE_CORRUPT'
  | 'CLOSED'
  | 'NOT_READY'
  | 'CORE_FAILED'
  | 'LEASE_HELD'
  | 'LEASE_LOST'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'TOO_LARGE'
  | 'KEY_REUSED'
  | 'TOO_MANY_REQUESTS'
  | 'INTERNAL';

/** The name of a limit: see `LimitOptions`. */
export type LimitName = 'value' | 'delta' | 'event' | 'state' | 'keys' | 'events';

/** A required placeholder without a value. */
export interface Missing {
  /** The whole key, spelled as in the template: `user:profile.city`, `artifact.file.txt`. */
  readonly key: string;
  /** The line where it first occurs, from 1. */
  readonly line: number;
  /** The column there, in characters (code points), from 1. */
  readonly column: number;
  /** The most similar key that the state has. */
  readonly nearest?: string;
}

/** The details that an error may carry, by code. */
export interface ErrorDetails {
  /** The state key concerned. */
  readonly key?: string;
  /** The path of the fault in the argument: `actions.stateDelta["cart"].items[3]`. */
  readonly path?: string;
  /** The id of the session or event concerned. */
  readonly id?: string;
  /** `SESSION_STALE`: the revision that the caller expected. */
  readonly expected?: number;
  /** `SESSION_STALE`: the revision that the session has. */
  readonly actual?: number;
  /** `LEASE_HELD`: the time when the lease ends, in milliseconds since the epoch, by the store's clock. */
  readonly until?: number;
  /** `LIMIT_EXCEEDED`: the size and the limit, in bytes; of `keys` and `events`, their number. */
  readonly size?: number;
  readonly limit?: number;
  /** `LIMIT_EXCEEDED`: the member of the option `limits`. Absent for limits of the store itself. */
  readonly exceeded?: LimitName;
  /** `TEMPLATE_KEY_MISSING` and `ARTIFACT_MISSING`: every missing key, once, in the order of the text. */
  readonly missing?: readonly Missing[];
  /** Of `statepad/jsonl`: the first broken line, from 1. */
  readonly line?: number;
  /** Of `statepad/jsonl`: the broken lines, in order and 100 at most, with the reason for each. */
  readonly problems?: readonly { readonly line: number; readonly reason: string }[];
  /**
   * `CORE_FAILED`: there was no memory for the call, which changed nothing; the module ended in the middle of a call;
   * or the host could not load the module.
   */
  readonly reason?: 'memory' | 'trap' | 'host';
  /** The change is stored, although the error concerns its answer: a repeated call would make it twice. */
  readonly committed?: true;
  /** Over HTTP: the status of the answer. */
  readonly status?: number;
  /** Over HTTP: the number under which the server has logged the details. */
  readonly number?: string;
  /** The error that caused this one. */
  readonly cause?: unknown;
}

const brand = Symbol.for('statepad.error');

/** An error with a stable `code`, a message that names the key, id or path, and the details as members. */
export class StatepadError extends Error implements ErrorDetails {
  /** The kind of the error. */
  readonly code: ErrorCode;
  declare readonly key?: string;
  declare readonly path?: string;
  declare readonly id?: string;
  declare readonly expected?: number;
  declare readonly actual?: number;
  declare readonly until?: number;
  declare readonly size?: number;
  declare readonly limit?: number;
  declare readonly exceeded?: LimitName;
  declare readonly missing?: readonly Missing[];
  declare readonly reason?: 'memory' | 'trap' | 'host';
  declare readonly committed?: true;
  declare readonly status?: number;
  declare readonly number?: string;
  declare readonly line?: number;
  declare readonly problems?: readonly { readonly line: number; readonly reason: string }[];

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    const { cause, ...members } = details;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    Object.assign(this, members);
  }

  static {
    Object.defineProperty(this.prototype, 'name', { value: 'StatepadError', configurable: true });
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}

/** True when `error` is a {@link StatepadError}, of this copy of the package or of another one. */
export function isStatepadError(error: unknown): error is StatepadError {
  return isObject(error) && brand in error;
}
