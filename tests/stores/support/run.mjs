// Registers the store cases with node:test.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingNeeds, runStoreCase, storeCases } from 'statepad/testing';
import { logLaws } from './log-laws.js';

/**
 * A test for each store case. `open` gives fresh storage at each call: see `StoreHarness`. A case that needs what the
 * store lacks fails, unless `without` says that it lacks it; then one test makes sure that it really does.
 */
export function storeTests(name, open, { without = [] } = {}) {
  for (const storeCase of storeCases.filter(({ needs }) => !needs.some((need) => without.includes(need)))) {
    test(`${name}: ${storeCase.name}`, () => runStoreCase(storeCase, open));
  }
  if (without.length > 0) {
    test(`${name}: has no ${without.join(' and no ')}`, async () => {
      const harness = await open();
      try {
        assert.deepEqual(missingNeeds({ needs: without }, harness), without);
      } finally {
        await harness.store.close?.();
        await harness.dispose?.();
      }
    });
  }
}

/** A test for each law of the log. `open` gives fresh storage at each call: see `logLaws`. */
export function logTests(name, open) {
  for (const [title, holds] of Object.entries(logLaws)) {
    test(`${name}: ${title}`, async () => {
      const storage = await open();
      try {
        await holds(storage);
      } finally {
        await storage.dispose?.();
      }
    });
  }
}
