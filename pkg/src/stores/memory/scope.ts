// An app, or a user in it: its values, where they are, and what has happened to them lately.

import { ScopeMoves } from './scope-moves.js';
import { Remembered } from './remembered.js';
import { ScopeValues } from '../shared/scope-values.js';
import { isEmpty } from '../shared/values.js';
import type { Delta, Known } from '../../store/contract.js';

/** The state of an app, or of a user in it. */
export class Scope {
  /** How many changes have touched it. */
  pos = 0;
  /** The change that brought it to `pos`, if that is known. */
  mark: string | undefined;
  readonly values = new ScopeValues();
  /** The updates that have been made here. */
  readonly updates = new Remembered();
  readonly #moves = new ScopeMoves();

  /** Makes a delta, which leaves its mark. An empty one is no move. */
  move(delta: Delta | undefined, mark: string): void {
    if (delta !== undefined && !isEmpty(delta)) {
      this.pos += 1;
      this.mark = mark;
      this.#moves.add(this.pos, mark, delta, this.values);
      this.values.apply(delta);
    }
  }

  /** What others have done since a caller was there; `undefined` where that is not known for sure, or is nothing. */
  since(part: 'app' | 'user', { pos, marks }: Pick<Known, 'pos' | 'marks'>): Delta | undefined {
    const known = pos?.[part];
    return known === undefined || known >= this.pos ? undefined : this.#moves.since(known, marks?.[part], this.values);
  }

  /** Deletes all values, as a move that has no mark. */
  clear(): void {
    this.values.clear();
    this.pos += 1;
    this.mark = undefined;
    this.#moves.clear(this.pos);
  }
}
