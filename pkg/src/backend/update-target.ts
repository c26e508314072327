// What `updateState` reads and writes: what the backend of a service offers, and the function that is given by the
// caller.

import { StatepadError } from '../model/errors.js';
import type { Handover } from '../async/handovers.js';
import type { StoredScope } from '../model/scope.js';
import type { Json, SessionKey, UpdateStateTarget } from '../model/types.js';
import type { Hint } from '../store/contract.js';

/**
 * Gets the current values, read-only, and returns a delta, both under full keys, or a promise of it: anything with a
 * callable `then`. Nothing to write: `{}`; or `undefined`, which development is warned of once, as a function that
 * changes its argument in vain looks the same. Any other answer is `INVALID_ARGUMENT`.
 */
export type UpdateFunction = (
  state: Readonly<Record<string, Json>>,
) =>
  | Readonly<Record<string, unknown>>
  | undefined
  | void
  | PromiseLike<Readonly<Record<string, unknown>> | undefined | void>;

export type State = Readonly<Record<string, Json>>;

/** What was read, and how to write over it: that throws `STATE_CONFLICT` or `SESSION_STALE` when it holds no more. */
export interface UpdateAttempt {
  readonly state: State;
  /**
   * The scope that most others share, of those that the function has looked at or writes. Where that is not known: the
   * app's.
   */
  readonly widest?: (delta: Readonly<Record<string, unknown>>) => StoredScope;
  /** Answers with the values after the update. `reserved` is {@link UpdateReservation.id}. */
  readonly write: (delta: Readonly<Record<string, unknown>>, reserved?: string) => State | Promise<State>;
}

/**
 * Something that can be read, and written if it has not moved since. Reads anew at each call, unless the turn before
 * has left what it wrote.
 */
export type UpdateTarget = (handover: Handover) => UpdateAttempt | Promise<UpdateAttempt>;

/** The turn that one call may have among all who use the store, in other processes, too. For speed alone. */
export interface UpdateReservation {
  /** Where the updates of the same target have met others just now: the next one begins with a turn there. */
  readonly expectedScope: StoredScope | undefined;
  /** Whether updates have met others at a scope just now. */
  isContended(scope: StoredScope): boolean;
  /**
   * Waits for the turn at a scope, once for all calls. `hasMet`: without one others have come between again and again;
   * `took` is how long the last attempt has taken, in milliseconds. Answers whether others may have written meanwhile.
   * Throws what the call is aborted with.
   */
  take(scope: StoredScope, hasMet: boolean, took: number | undefined): Promise<boolean>;
  /** Whether the call has the turn, as far as can be told here. */
  readonly isHeld: boolean;
  /** What the change carries. */
  readonly id: string | undefined;
  /** The call is over. `isWritten`: its change was written, and has given the turn back. */
  end(isWritten: boolean): void;
}

/** Whether an update is one of a session. Throws when it names a session without its user. */
export function isSessionTarget(target: UpdateStateTarget): target is SessionKey {
  if (target.sessionId !== undefined && target.userId === undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'a sessionId needs a userId', { path: 'userId' });
  }
  return target.sessionId !== undefined;
}

/** The scope of what has no other target than this one. */
export function ownScope({ userId, sessionId }: UpdateStateTarget): StoredScope {
  return sessionId !== undefined ? 'session' : userId !== undefined ? 'user' : 'app';
}

/** What a target has of a scope, its own or a wider one. */
export function hintOf({ appName, userId, sessionId }: UpdateStateTarget, scope: StoredScope): Hint {
  const user = scope === 'app' || userId === undefined ? {} : { userId };
  return { appName, ...user, ...(scope === 'session' && sessionId !== undefined && { sessionId }) };
}

/** What stands for the scope of a target. */
export function scopeNameOf(target: UpdateStateTarget, scope: StoredScope): string {
  const { appName, userId, sessionId } = hintOf(target, scope);
  return JSON.stringify([appName, userId, sessionId].filter((id) => id !== undefined));
}
