// The reads and writes of `updateState`: the side of the backend, or of the client.

import { defined } from '../model/defined.js';
import { StatepadError } from '../model/errors.js';
import type { Handover } from '../async/handovers.js';
import type { StoredScope } from '../model/scope.js';
import type { Json, SessionKey, UpdateStateTarget } from '../model/types.js';
import type { Once } from '../model/once.js';
import type { Guard, Hint } from '../store/contract.js';

export type State = Readonly<Record<string, Json>>;

/**
 * The values of one read, and the write over them. The write throws `STATE_CONFLICT` or `SESSION_STALE` when they no
 * longer hold.
 */
export interface UpdateAttempt {
  readonly state: State;
  /** The most shared scope among those that the function has read or writes; the app's where that is unknown. */
  readonly widest?: (delta: Readonly<Record<string, unknown>>) => StoredScope;
  /** Returns the values after the update. `reserved` is {@link UpdateReservation.id}. */
  readonly write: (delta: Readonly<Record<string, unknown>>, reserved?: string) => State | Promise<State>;
}

/** The conditions that a caller names for one write, in place of the values that a function has read. */
export interface WriteConditions {
  /** The values that keys must have, and the keys that must be missing, by scope. */
  readonly expected: NonNullable<Guard['keys']>;
  /** The scopes that must have no other keys than those. */
  readonly whole?: readonly StoredScope[] | undefined;
  /** The request that it is for, where that has an identity. */
  readonly once?: Once | undefined;
}

/** The error for a write whose conditions do not hold. */
export function notExpected(cause?: unknown, key?: string): StatepadError {
  const what = key === undefined ? 'the state is' : `the value of "${key}" is`;
  return new StatepadError('STATE_CONFLICT', `${what} not the expected one`, defined({ key, cause }));
}

/** Reads a target at each call, unless the update before has handed over the values that it wrote. */
export type UpdateTarget = (handover: Handover) => UpdateAttempt | Promise<UpdateAttempt>;

/** The reservation of one call among all users of the store, in other processes as well. It only speeds up. */
export interface UpdateReservation {
  /** The scope of a recent conflict of the same target: the next update begins with a reservation there. */
  readonly expectedScope: StoredScope | undefined;
  /** True when updates have recently conflicted at a scope. */
  isContended(scope: StoredScope): boolean;
  /**
   * Waits for the reservation of a scope, once in a call. `hasConflicted` is true when attempts without one keep
   * failing; `took` is the duration of the last attempt, in milliseconds. Returns true if others may have written
   * meanwhile. Throws the reason of the call's signal.
   */
  take(scope: StoredScope, hasConflicted: boolean, took: number | undefined): Promise<boolean>;
  /** True while the call has the reservation, by the local clock. */
  readonly isHeld: boolean;
  /** The id that the change carries. */
  readonly id: string | undefined;
  /** Ends the call. `isWritten`: its change was written, which has released the reservation. */
  end(isWritten: boolean): void;
}

/** True for an update of a session. Throws for a session without its user. */
export function isSessionTarget(target: UpdateStateTarget): target is SessionKey {
  if (target.sessionId !== undefined && target.userId === undefined) {
    throw new StatepadError('INVALID_ARGUMENT', 'a sessionId needs a userId', { path: 'userId' });
  }
  return target.sessionId !== undefined;
}

/** The narrowest scope of a target. */
export function ownScope({ userId, sessionId }: UpdateStateTarget): StoredScope {
  return sessionId !== undefined ? 'session' : userId !== undefined ? 'user' : 'app';
}

/** The identity of a target's scope, its own or a wider one. */
export function hintOf({ appName, userId, sessionId }: UpdateStateTarget, scope: StoredScope): Hint {
  return defined({
    appName,
    userId: scope === 'app' ? undefined : userId,
    sessionId: scope === 'session' ? sessionId : undefined,
  });
}

/** A name for the scope of a target. */
export function scopeNameOf(target: UpdateStateTarget, scope: StoredScope): string {
  const { appName, userId, sessionId } = hintOf(target, scope);
  return JSON.stringify([appName, userId, sessionId].filter((id) => id !== undefined));
}
