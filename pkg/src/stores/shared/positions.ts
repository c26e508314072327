// The positions of app and user values, as far as this store has seen: a number that differs when the values do.

import { sameJson } from '../../model/json.js';
import { Recent } from './recent.js';
import type { Values } from '../../store/contract.js';

/** A scope: an app's values, or a user's in it. */
interface Scope {
  readonly pos: number;
  /** The values that were read last, with this store's writes since; absent when that is not known. */
  readonly values: Values | undefined;
  /** The number of changes by this store. */
  readonly writes: number;
}

/** The number of values that are remembered. */
const MAX_VALUES = 100_000;

/** The positions of one store. */
export class Positions {
  readonly #scopes = new Recent<Scope>(MAX_VALUES, ({ values = {} }) => 1 + Object.keys(values).length);
  #highest = 0;

  /** The position of values that were read. */
  positionOf(scope: string, values: Values): number {
    const known = this.#scopes.get(scope);
    if (known?.values !== undefined && sameJson(known.values, values)) {
      return known.pos;
    }
    const isFirst = known === undefined && !this.#scopes.hasForgotten && Object.keys(values).length === 0;
    return this.#set(scope, isFirst ? 0 : this.#highest + 1, values);
  }

  /** Another number after each change of this store: what was asked for before it may be older. */
  writes(scope: string): number {
    return this.#scopes.get(scope)?.writes ?? 0;
  }

  /**
   * The position after a change of this store, which found the values at `before`. If others have written meanwhile,
   * the order of the writes is not known.
   */
  written(scope: string, before: number, values: Values): number {
    const isNext = this.#scopes.get(scope)?.pos === before;
    return isNext ? this.#set(scope, before + 1, values, 1) : this.positionAfter(scope);
  }

  /** The position after a change of this store over unknown values. */
  positionAfter(scope: string): number {
    return this.#set(scope, this.#highest + 1, undefined, 1);
  }

  /** A position that no scope has: for an answer that cannot tell. */
  unknown(): number {
    return (this.#highest += 1);
  }

  #set(scope: string, pos: number, values: Values | undefined, written = 0): number {
    this.#highest = Math.max(this.#highest, pos);
    this.#scopes.set(scope, { pos, values, writes: this.writes(scope) + written });
    return pos;
  }
}
