// A scope that the events of one batch move, one after the other.

import { emptyValues, isEmpty } from '../shared/values.js';
import type { Change, Delta } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** A position of the scope that a caller knows, and the changes of others since then, until the batch began. */
interface KnownPlace {
  readonly pos: number;
  readonly mark: string;
  readonly changes: Delta | undefined;
}

/** The changes since a position that a caller knows, and the number of moves of the batch among them. */
interface Since {
  readonly pos: number;
  readonly set: Map<string, Json>;
  readonly unset: Set<string>;
  moves: number;
}

/** A scope within a batch: its position there, and the changes that have happened to it. */
export class ScopeInBatch {
  pos: number;
  /** The mark of the move that brought it there; `undefined` where it is not known. */
  mark: string | undefined;
  readonly #begin: { readonly pos: number; readonly mark: string | undefined };
  /** The positions at which the names that the batch writes were first there. */
  readonly #firstAt = new Map<string, number>();
  readonly #moves: Delta[] = [];
  readonly #since = new Map<number, Since>();

  constructor(pos: number, mark: string | undefined) {
    this.pos = pos;
    this.mark = mark;
    this.#begin = { pos, mark };
  }

  /** A name that the batch has written was first there at a position. */
  wasWritten(name: string, at: number): void {
    this.#firstAt.set(name, at);
  }

  /** Adds something that a caller knows, under an index. It says nothing where it differs from the store. */
  knows(index: number, { pos, mark, changes }: KnownPlace): void {
    const delta = pos === this.#begin.pos && mark === this.#begin.mark ? {} : changes;
    if (delta !== undefined) {
      const { set = {}, unset = [] } = delta;
      this.#since.set(index, { pos, set: new Map(Object.entries(set)), unset: new Set(unset), moves: 0 });
    }
  }

  /** The changes since something was known; `undefined` when there are none, or they are not known. */
  changedSince(index: number | undefined): Delta | undefined {
    const since = index === undefined ? undefined : this.#since.get(index);
    if (since === undefined || since.pos >= this.pos) {
      return undefined;
    }
    for (const { set = {} } of this.#moves.slice(since.moves)) {
      for (const name of Object.keys(set)) {
        since.set.set(name, set[name] as Json);
        // A name that was not there goes to the end.
        if ((this.#firstAt.get(name) ?? 0) > this.#begin.pos) {
          since.unset.add(name);
        }
      }
    }
    since.moves = this.#moves.length;
    const values = emptyValues();
    since.set.forEach((value, name) => (values[name] = value));
    return {
      ...(since.set.size > 0 && { set: Object.freeze(values) }),
      ...(since.unset.size > 0 && { unset: [...since.unset] }),
    };
  }

  /** Moves it on by the values that a change sets, if it sets any. */
  apply({ call, id }: Change, delta: Delta | undefined): void {
    if (delta === undefined || isEmpty(delta)) {
      return;
    }
    this.pos += 1;
    this.mark = call ?? id;
    if (this.#since.size > 0) {
      // As it is stored: a copy that the caller cannot change.
      this.#moves.push(JSON.parse(JSON.stringify(delta)) as Delta);
    }
  }
}
