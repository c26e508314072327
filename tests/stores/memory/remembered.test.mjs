// The ids that the stores remember which keep everything in memory: for a day at least, and not for ever.

import { test } from 'node:test';
import { callbackStore } from 'statepad/stores/journal';
import { memoryStore } from 'statepad/stores/memory';
import { checkRememberedByMocks } from '../support/remembered.js';

const stores = { memory: memoryStore, journal: () => callbackStore({ persist: async () => undefined }) };

for (const [name, make] of Object.entries(stores)) {
  test(`${name}: updates, refusals and removed creations are remembered for 24 hours, with their digests`, (t) =>
    checkRememberedByMocks(t, make()));
}
