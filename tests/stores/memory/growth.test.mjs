// Limits, ends and sweeps of the reference, against a plain model, and stores that the model has to catch.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { growthLaw } from '../support/growth-laws.js';
import { runs } from '../../support/fixtures.mjs';

const context = { signal: new AbortController().signal };

/** Checks the law over stores in memory that become others. */
const holds = (make) =>
  growthLaw(async () => ({ store: { ...memoryStore(), ...make(memoryStore()) } }), { numRuns: runs(300) });

test('whatever is written, the limits and the ends of sessions are those of a plain model', async () => {
  await holds((store) => store);
});

const without = (limit) => (store) => ({
  ...store,
  commit: ({ limits, ...change }) => store.commit({ ...change, limits: { ...limits, [limit]: undefined } }, context),
});

const faults = {
  ...Object.fromEntries(
    ['value', 'keys', 'state', 'events'].map((limit) => [`has no limit of ${limit}`, without(limit)]),
  ),
  'lets no session end': (store) => ({
    ...store,
    commit: (change) => store.commit({ ...change, expires: undefined }, context),
  }),
  'sweeps one more': (store) => ({ ...store, sweep: ({ limit }) => store.sweep({ limit: limit + 1 }, context) }),
};

for (const [fault, make] of Object.entries(faults)) {
  test(`a store that ${fault} is caught by the model`, async () => {
    await assert.rejects(holds(make), /Property failed/);
  });
}
