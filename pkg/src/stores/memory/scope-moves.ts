// The recent changes to a scope: enough to tell a reader that was there before what to change.

import { REPORTED_MOVES } from '../shared/limits.js';
import { emptyValues } from '../shared/values.js';
import type { ScopeValues } from '../shared/scope-values.js';
import type { Delta, Values } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** One change of a scope: the names that it deleted, those that it set, and which of these were not there before. */
interface Move {
  readonly mark: string;
  readonly unset: readonly string[];
  readonly set: readonly string[];
  readonly inserted: ReadonlySet<string>;
}

const NONE: ReadonlySet<string> = new Set();

/** The latest moves of one scope. The values that they wrote are not kept: the present ones are reported. */
export class ScopeMoves {
  #moves: Move[] = [];
  /** The position that the first move came to. */
  #first = 1;

  /** Remembers a move, just before it is made. `pos` is where it comes to. */
  add(pos: number, mark: string, { set = {}, unset = [] }: Delta, values: ScopeValues): void {
    if (pos !== this.#first + this.#moves.length) {
      this.#moves = [];
      this.#first = pos;
    }
    const names = Object.keys(set);
    const deleted = unset.length === 0 ? NONE : new Set(unset);
    const inserted = names.filter((name) => !values.has(name) || deleted.has(name));
    this.#moves.push({ mark, unset, set: names, inserted: inserted.length === 0 ? NONE : new Set(inserted) });
    // Twice as many are retained at times, so that forgetting costs nothing per move.
    if (this.#moves.length > 2 * REPORTED_MOVES) {
      this.#first += this.#moves.length - REPORTED_MOVES;
      this.#moves = this.#moves.slice(-REPORTED_MOVES);
    }
  }

  /** Forgets all moves up to a position: no change can be reported to a reader that was there before. */
  clear(pos: number): void {
    this.#moves = [];
    this.#first = pos + 1;
  }

  /** The changes since a position that had this mark; `undefined` where they are not known for sure. */
  since(pos: number, mark: string | undefined, values: ScopeValues): Delta | undefined {
    const place = pos - this.#first;
    if (mark === undefined || this.#moves[place]?.mark !== mark) {
      return undefined;
    }
    const touched = new Set<string>();
    // In the order of insertion: these names stand behind all others now.
    const inserted = new Set<string>();
    for (const move of this.#moves.slice(place + 1)) {
      move.unset.forEach((name) => {
        touched.add(name);
        inserted.delete(name);
      });
      move.set.forEach((name) => touched.add(name));
      move.set
        .filter((name) => move.inserted.has(name))
        .forEach((name) => {
          inserted.delete(name);
          inserted.add(name);
        });
    }
    const names = [...touched];
    const inPlace = names.filter((name) => values.has(name) && !inserted.has(name));
    return {
      set: pick(values, [...inPlace, ...inserted]),
      unset: names.filter((name) => inserted.has(name) || !values.has(name)),
    };
  }
}

function pick(values: ScopeValues, names: readonly string[]): Values {
  const picked = emptyValues();
  names.forEach((name) => (picked[name] = values.get(name) as Json));
  return picked;
}
