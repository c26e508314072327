// The changes of one batch to one scope, and the most that it may grow by them.

import { growthBy, type Size } from '../shared/growth.js';
import type { Delta } from '../../store/contract.js';

/** The growth of one scope: an upper bound, which is counted only where a limit is compared with it. */
export class ScopeGrowth {
  /** The number of changes. */
  count = 0;
  #most: Size = { keys: 0, bytes: 0 };
  /** The changes that are not in the bound yet. */
  #uncounted: Delta[] = [];

  add(delta: Delta): void {
    this.count += 1;
    this.#uncounted.push(delta);
  }

  /** The most that the scope may grow by these changes and one more. */
  mostWith(delta: Delta): Size {
    this.#most = this.#uncounted.splice(0).reduce(withMost, this.#most);
    return withMost(this.#most, delta);
  }
}

/** All names of the delta might be new. */
function withMost({ keys, bytes }: Size, { set = {} }: Delta): Size {
  const growth = growthBy({ set }, () => undefined);
  return { keys: keys + growth.keys, bytes: bytes + growth.bytes };
}
