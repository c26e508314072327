// Reservations of a store: for updates that would conflict with those of other services, in other processes as well.

import { releaseUnused, type Connection } from '../commit/connection.js';
import { scopeNameOf, ownScope, hintOf, type UpdateReservation } from '../../../update/update-target.js';
import type { StoredScope } from '../../../model/scope.js';
import type { Reservation } from '../../../store/contract.js';
import type { UpdateStateTarget } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** The time for which a conflict is remembered, in milliseconds. */
const CONFLICT_MS = 1_000;
/** The most targets with a remembered conflict. */
const MAX_TARGETS = 1_000;
/** The shortest and the longest reservation, in milliseconds. */
const MIN_HOLD_MS = 500;
const MAX_HOLD_MS = 10_000;

/** A conflict with other updates. */
interface Conflict {
  readonly scope: StoredScope;
  /** The duration of the attempt, in milliseconds. */
  readonly took: number;
  /** The time at which it expires, by `performance.now()`. */
  readonly until: number;
}

/** The reservations of the updates of one service. */
export class Reservations {
  readonly #connection: Connection;
  readonly #conflicts = new Conflicts();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The reservation that one update may take. */
  forUpdate(target: UpdateStateTarget, signal: Signal | undefined): UpdateReservation {
    return new StoreReservation(this.#conflicts, this.#connection, target, signal);
  }
}

/** The recent conflicts, by the name of a target's scope. */
class Conflicts {
  readonly #last = new Map<string, Conflict>();

  /** The last conflict under a name, until it expires. */
  last(name: string): Conflict | undefined {
    const last = this.#last.get(name);
    if (last !== undefined && last.until <= performance.now()) {
      this.#last.delete(name);
      return undefined;
    }
    return last;
  }

  /** Remembers a conflict under a name. */
  add(name: string, scope: StoredScope, took: number): void {
    this.#last.delete(name);
    this.#last.set(name, { scope, took, until: performance.now() + CONFLICT_MS });
    if (this.#last.size > MAX_TARGETS) {
      const [oldest = ''] = this.#last.keys();
      this.#last.delete(oldest);
    }
  }
}

/** The reservation of one call. */
class StoreReservation implements UpdateReservation {
  readonly expectedScope: StoredScope | undefined;
  readonly #conflicts: Conflicts;
  readonly #connection: Connection;
  readonly #target: UpdateStateTarget;
  readonly #signal: Signal | undefined;
  #isRequested = false;
  #reservation: Reservation | undefined;
  /** The end of the reservation, by `performance.now()`. */
  #until = 0;

  constructor(conflicts: Conflicts, connection: Connection, target: UpdateStateTarget, signal: Signal | undefined) {
    this.#conflicts = conflicts;
    this.#connection = connection;
    this.#target = target;
    this.#signal = signal;
    this.expectedScope = conflicts.last(scopeNameOf(target, ownScope(target)))?.scope;
  }

  get id(): string | undefined {
    return this.#reservation?.id;
  }

  get isHeld(): boolean {
    return performance.now() < this.#until;
  }

  isContended(scope: StoredScope): boolean {
    return this.#conflicts.last(scopeNameOf(this.#target, scope))?.scope === scope;
  }

  async take(scope: StoredScope, hasConflicted: boolean, took: number | undefined): Promise<boolean> {
    const time = took ?? this.#conflicts.last(scopeNameOf(this.#target, ownScope(this.#target)))?.took ?? 0;
    if (hasConflicted) {
      this.#recordConflict(scope, time);
    }
    if (this.#isRequested) {
      return false;
    }
    this.#isRequested = true;
    const hold = Math.min(MAX_HOLD_MS, MIN_HOLD_MS + 2 * time);
    const reservation = await this.#connection.reserve(hintOf(this.#target, scope), hold, this.#signal);
    this.#reservation = reservation;
    if (reservation === undefined) {
      return true;
    }
    this.#until = performance.now() + hold;
    if (reservation.contended) {
      this.#recordConflict(scope, time);
    }
    return reservation.contended;
  }

  end(isWritten: boolean): void {
    if (!isWritten) {
      releaseUnused(this.#reservation);
    }
  }

  /**
   * Remembers a conflict: the next update of this target, and any that conflicts in this scope, begins with a
   * reservation.
   */
  #recordConflict(scope: StoredScope, took: number): void {
    for (const each of new Set([ownScope(this.#target), scope])) {
      this.#conflicts.add(scopeNameOf(this.#target, each), scope, took);
    }
  }
}
