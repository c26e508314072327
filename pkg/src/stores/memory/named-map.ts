// A map whose names can be read in order, page by page.

import { namePage, sortedNames } from '../shared/name-page.js';
import type { NamePage, NameQuery } from '../../store/contract.js';

/** Items under names. They are sorted when a page is read for the first time after a name was added. */
export class NamedMap<Item> {
  readonly #items = new Map<string, Item>();
  #sorted: readonly string[] | undefined;

  get(name: string): Item | undefined {
    return this.#items.get(name);
  }

  /** The item under a name, which is made where it is missing. */
  ensure(name: string, make: () => Item): Item {
    let item = this.#items.get(name);
    if (item === undefined) {
      item = make();
      this.#items.set(name, item);
      this.#sorted = undefined;
    }
    return item;
  }

  /** True if there is an item that this is true of. */
  some(isMeant: (item: Item) => boolean): boolean {
    for (const item of this.#items.values()) {
      if (isMeant(item)) {
        return true;
      }
    }
    return false;
  }

  values(): Iterable<Item> {
    return this.#items.values();
  }

  entries(): Iterable<readonly [name: string, item: Item]> {
    return this.#items;
  }

  /** A page of the names whose items are listed. */
  page(query: NameQuery, isListed: (item: Item) => boolean): NamePage {
    this.#sorted ??= sortedNames(this.#items.keys());
    return namePage(this.#sorted, query, (name) => isListed(this.#items.get(name) as Item));
  }
}
