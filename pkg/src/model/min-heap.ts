// A binary heap: the item with the smallest number comes first.

/** An item, and the number that it is ordered by. */
export interface Ranked<Item> {
  readonly rank: number;
  readonly item: Item;
}

/** Items, of which the one with the smallest number is at hand. Each addition costs the logarithm of their count. */
export class MinHeap<Item> {
  readonly #all: Ranked<Item>[] = [];

  /** The first item; `undefined` when there is none. */
  get first(): Ranked<Item> | undefined {
    return this.#all[0];
  }

  /** The number of items. */
  get size(): number {
    return this.#all.length;
  }

  /** Adds an item. Items of one number have no order among themselves. */
  add(rank: number, item: Item): void {
    let place = this.#all.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      const above = this.#all[parent] as Ranked<Item>;
      if (above.rank <= rank) {
        break;
      }
      this.#all[place] = above;
      place = parent;
    }
    this.#all[place] = { rank, item };
  }

  /** Takes the first item out. */
  take(): Ranked<Item> | undefined {
    const [first] = this.#all;
    const last = this.#all.pop();
    if (last !== undefined && this.#all.length > 0) {
      this.#sink(last);
    }
    return first;
  }

  /** Puts an entry into the place of the first one, and then below those that come before it. */
  #sink(entry: Ranked<Item>): void {
    let place = 0;
    for (;;) {
      let child = 2 * place + 1;
      const [left, right] = [this.#all[child], this.#all[child + 1]];
      if (left !== undefined && right !== undefined && right.rank < left.rank) {
        child += 1;
      }
      const below = this.#all[child];
      if (below === undefined || below.rank >= entry.rank) {
        break;
      }
      this.#all[place] = below;
      place = child;
    }
    this.#all[place] = entry;
  }
}
