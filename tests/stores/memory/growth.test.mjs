// Limits, ends and sweeps of the reference, against a plain model.

import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { growthLaw } from '../support/growth-laws.js';
import { runs } from '../../support/fixtures.mjs';

test('whatever is written, the limits and the ends of sessions are those of a plain model', async () => {
  await growthLaw(async () => ({ store: memoryStore() }), { numRuns: runs(300) });
});
