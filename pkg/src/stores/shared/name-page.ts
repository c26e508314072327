// Pages of names, in the order of their UTF-8 bytes.

import { compareText } from './list-order.js';
import type { NamePage, NameQuery } from '../../store/contract.js';

/** A page of names that are sorted, of those that are `isListed`. It looks at as few as possible. */
export function namePage(
  sorted: readonly string[],
  { after, limit = Infinity }: NameQuery,
  isListed: (name: string) => boolean = () => true,
): NamePage {
  const names: string[] = [];
  for (let index = after === undefined ? 0 : placeBehind(sorted, after); index < sorted.length; index++) {
    const name = sorted[index] as string;
    if (isListed(name)) {
      if (names.length >= limit) {
        return { names, more: true };
      }
      names.push(name);
    }
  }
  return { names, more: false };
}

/** The page of a list that was read to one name more than the limit. */
export function pageWithin(names: readonly string[], { limit = Infinity }: NameQuery): NamePage {
  return names.length > limit ? { names: names.slice(0, limit), more: true } : { names, more: false };
}

/** Sorts names by their UTF-8 bytes, each once. */
export function sortedNames(names: Iterable<string>): string[] {
  return [...new Set(names)].sort(compareText);
}

/** The place of the first name behind another one, which need not be there. */
function placeBehind(sorted: readonly string[], after: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareText(sorted[middle] as string, after) > 0) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
