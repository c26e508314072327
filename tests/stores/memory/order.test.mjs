// The cases of the order in which a change is looked at: each finds the stores that change it there, and no others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { runStoreCase, storeCases } from 'statepad/testing';
import { swaps } from './broken/order.mjs';

const cases = storeCases.filter(({ name }) => name.includes(' counts before '));

test('each pair of reasons that can hold at once has a case', () => {
  assert.deepEqual(cases.map(({ name }) => name).sort(), swaps.map(({ found }) => found).sort());
});

for (const { fault, make, found } of swaps) {
  test(`a store that ${fault} is found by the case of that pair alone`, async () => {
    const failed = [];
    for (const storeCase of cases) {
      const store = memoryStore();
      await runStoreCase(storeCase, () => ({ store: { ...store, ...make(store) } })).catch(() =>
        failed.push(storeCase.name),
      );
    }
    assert.deepEqual(failed, [found]);
  });
}
