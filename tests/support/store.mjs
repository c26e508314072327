// A store in memory that asks before it writes.

import { memoryStore } from 'statepad/stores/memory';

/**
 * A store that waits for `before(change)`, and does nothing when that throws. Changes come one by one.
 *
 * @param {(change: import('statepad/store').Change) => unknown} before
 */
export function storeWith(before) {
  const { commit, load, list, remove, loadScope } = memoryStore();
  return {
    /** @type {import('statepad/store').SessionStore['commit']} */
    commit: async (change, context) => {
      await before(change);
      return await commit(change, context);
    },
    load,
    list,
    remove,
    loadScope,
  };
}

/**
 * Options of a service over such a store, which is not asked twice.
 *
 * @param {(change: import('statepad/store').Change) => unknown} before
 */
export function storedWith(before) {
  return { store: storeWith(before), retry: { attempts: 1 } };
}
