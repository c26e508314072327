// The turns of a store: for updates that would get into each other's way in several services, and in several processes.

import { giveBack, type Connection } from './connection.js';
import { nameOf, ownScope, partOf, type Reservation } from '../update-target.js';
import type { StoredScope } from '../../model/scope.js';
import type { Turn } from '../../store/contract.js';
import type { UpdateStateTarget } from '../../model/types.js';
import type { Signal } from '../../async/abort.js';

/** How long it is remembered that others were met, in milliseconds. */
const HOT = 1_000;
/** Of how many targets that is remembered. */
const MOST = 1_000;
/** How long a turn lasts at least and at most, in milliseconds. */
const SHORTEST_HOLD = 500;
const LONGEST_HOLD = 10_000;

/** That others were met. */
interface Hot {
  readonly scope: StoredScope;
  /** How long an attempt took, in milliseconds. */
  readonly took: number;
  /** When it is forgotten. */
  readonly until: number;
}

/** What one service remembers of the targets of its updates. */
export class Reservations {
  readonly #connection: Connection;
  readonly #hot = new Map<string, Hot>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** What one update uses. */
  of(target: UpdateStateTarget, signal: Signal | undefined): Reservation {
    return new Call(this, this.#connection, target, signal);
  }

  /** That others were met under a name, if that was just now. */
  hot(name: string): Hot | undefined {
    const hot = this.#hot.get(name);
    if (hot !== undefined && hot.until <= performance.now()) {
      this.#hot.delete(name);
      return undefined;
    }
    return hot;
  }

  /** Others were met under a name. */
  met(name: string, scope: StoredScope, took: number): void {
    this.#hot.delete(name);
    this.#hot.set(name, { scope, took, until: performance.now() + HOT });
    if (this.#hot.size > MOST) {
      const [oldest = ''] = this.#hot.keys();
      this.#hot.delete(oldest);
    }
  }
}

/** The turn of one call. */
class Call implements Reservation {
  readonly expected: StoredScope | undefined;
  readonly #all: Reservations;
  readonly #connection: Connection;
  readonly #target: UpdateStateTarget;
  readonly #signal: Signal | undefined;
  #isTaken = false;
  #turn: Turn | undefined;
  /** Until when it has the turn, by the clock of this process. */
  #until = 0;

  constructor(all: Reservations, connection: Connection, target: UpdateStateTarget, signal: Signal | undefined) {
    this.#all = all;
    this.#connection = connection;
    this.#target = target;
    this.#signal = signal;
    this.expected = all.hot(nameOf(target, ownScope(target)))?.scope;
  }

  get id(): string | undefined {
    return this.#turn?.id;
  }

  get isHeld(): boolean {
    return performance.now() < this.#until;
  }

  isHot(scope: StoredScope): boolean {
    return this.#all.hot(nameOf(this.#target, scope))?.scope === scope;
  }

  async take(scope: StoredScope, hasMet: boolean, took: number | undefined): Promise<boolean> {
    const time = took ?? this.#all.hot(nameOf(this.#target, ownScope(this.#target)))?.took ?? 0;
    if (hasMet) {
      this.#met(scope, time);
    }
    if (this.#isTaken) {
      return false;
    }
    this.#isTaken = true;
    const hold = Math.min(LONGEST_HOLD, SHORTEST_HOLD + 2 * time);
    const turn = await this.#connection.reserve(partOf(this.#target, scope), hold, this.#signal);
    this.#turn = turn;
    if (turn === undefined) {
      return true;
    }
    this.#until = performance.now() + hold;
    if (turn.contended) {
      this.#met(scope, time);
    }
    return turn.contended;
  }

  end(isWritten: boolean): void {
    if (!isWritten) {
      giveBack(this.#turn);
    }
  }

  /** The next update of this target, and any that meets others in this scope, begins with a turn. */
  #met(scope: StoredScope, took: number): void {
    for (const each of new Set([ownScope(this.#target), scope])) {
      this.#all.met(nameOf(this.#target, each), scope, took);
    }
  }
}
