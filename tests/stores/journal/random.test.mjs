// Random changes and questions: a journal answers as the reference does, and so does one that was opened again.

import { test } from 'node:test';
import { callbackStore } from 'statepad/stores/journal';
import { opened } from './support.mjs';
import { assertVaried, compareStores } from '../support/random.js';

test('random changes and questions are answered as the reference answers them', async () => {
  const counts = {};
  for (const seed of [1, 2, 3, 4]) {
    const log = [];
    const store = await opened(
      callbackStore({
        persist: async (records) => void log.push(...records.map((record) => JSON.stringify(record))),
        restore: () => log.map((text) => JSON.parse(text)),
      }),
    );
    const outcomes = await compareStores(store, { seed, length: 1_500 });
    Object.entries(outcomes).forEach(([outcome, count]) => (counts[outcome] = (counts[outcome] ?? 0) + count));
    await store.close();
  }
  assertVaried(counts, { conflict: 100, exists: 100, 'not-found': 100, duplicate: 100, limit: 50 });
});
