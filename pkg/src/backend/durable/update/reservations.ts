// The turns of a store: for updates that would conflict with those of other services, in other processes, too.

import { giveBack, type Connection } from '../commit/connection.js';
import { nameOf, ownScope, partOf, type Reservation } from '../../update-target.js';
import type { StoredScope } from '../../../model/scope.js';
import type { Turn } from '../../../store/contract.js';
import type { UpdateStateTarget } from '../../../model/types.js';
import type { Signal } from '../../../async/abort.js';

/** How long a conflict is remembered, in milliseconds. */
const CONFLICT_MS = 1_000;
/** Of how many targets conflicts are remembered. */
const MAX_TARGETS = 1_000;
/** How long a turn lasts at least and at most, in milliseconds. */
const MIN_HOLD_MS = 500;
const MAX_HOLD_MS = 10_000;

/** A conflict with other updates. */
interface Conflict {
  readonly scope: StoredScope;
  /** How long an attempt took, in milliseconds. */
  readonly took: number;
  /** When it is forgotten, by `performance.now()`. */
  readonly until: number;
}

/** The turns of the updates of one service. */
export class Reservations {
  readonly #connection: Connection;
  readonly #conflicts = new Conflicts();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The turn that one update may have. */
  of(target: UpdateStateTarget, signal: Signal | undefined): Reservation {
    return new UpdateReservation(this.#conflicts, this.#connection, target, signal);
  }
}

/** The conflicts of the last moments, by the name of a target's scope. */
class Conflicts {
  readonly #last = new Map<string, Conflict>();

  /** The last conflict under a name, as long as it is remembered. */
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

/** The turn of one call. */
class UpdateReservation implements Reservation {
  readonly expected: StoredScope | undefined;
  readonly #conflicts: Conflicts;
  readonly #connection: Connection;
  readonly #target: UpdateStateTarget;
  readonly #signal: Signal | undefined;
  #isTaken = false;
  #turn: Turn | undefined;
  /** Until when it has the turn, by `performance.now()`. */
  #until = 0;

  constructor(conflicts: Conflicts, connection: Connection, target: UpdateStateTarget, signal: Signal | undefined) {
    this.#conflicts = conflicts;
    this.#connection = connection;
    this.#target = target;
    this.#signal = signal;
    this.expected = conflicts.last(nameOf(target, ownScope(target)))?.scope;
  }

  get id(): string | undefined {
    return this.#turn?.id;
  }

  get isHeld(): boolean {
    return performance.now() < this.#until;
  }

  isHot(scope: StoredScope): boolean {
    return this.#conflicts.last(nameOf(this.#target, scope))?.scope === scope;
  }

  async take(scope: StoredScope, hasMet: boolean, took: number | undefined): Promise<boolean> {
    const time = took ?? this.#conflicts.last(nameOf(this.#target, ownScope(this.#target)))?.took ?? 0;
    if (hasMet) {
      this.#conflicted(scope, time);
    }
    if (this.#isTaken) {
      return false;
    }
    this.#isTaken = true;
    const hold = Math.min(MAX_HOLD_MS, MIN_HOLD_MS + 2 * time);
    const turn = await this.#connection.reserve(partOf(this.#target, scope), hold, this.#signal);
    this.#turn = turn;
    if (turn === undefined) {
      return true;
    }
    this.#until = performance.now() + hold;
    if (turn.contended) {
      this.#conflicted(scope, time);
    }
    return turn.contended;
  }

  end(isWritten: boolean): void {
    if (!isWritten) {
      giveBack(this.#turn);
    }
  }

  /** The next update of this target, and any that conflicts in this scope, begins with a turn. */
  #conflicted(scope: StoredScope, took: number): void {
    for (const each of new Set([ownScope(this.#target), scope])) {
      this.#conflicts.add(nameOf(this.#target, each), scope, took);
    }
  }
}
