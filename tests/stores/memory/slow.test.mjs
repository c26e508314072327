// Cases of ends over stores that take long for each call, as on a busy machine: that is no fault of a store.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryStore } from 'statepad/stores/memory';
import { runStoreCase, storeCases } from 'statepad/testing';
import { changing, committing, context, loading, mapped } from './broken/ways.mjs';

/** Longer than what comparisons of ends leave room for. */
const DELAY_MS = 40;

/** The cases that compare how far an end has moved. The others have nothing to do with the time that calls take. */
const cases = storeCases.filter(({ steps }) => JSON.stringify(steps).includes('"expires":{"after":'));

/** The same store, some of whose methods wait before and after they have done it. */
const slow = (store, isSlow) => ({
  ...store,
  ...mapped(store, (member, name) =>
    typeof member !== 'function' || !isSlow(name)
      ? member
      : async (...args) => {
          await sleep(DELAY_MS);
          const answer = await member(...args);
          await sleep(DELAY_MS);
          return answer;
        },
  ),
});

const harnessOf = (store) => () => ({ store, another: () => store, reopen: () => store });

const SLOW = {
  reads: (name) => name === 'load' || name === 'list',
  writes: (name) => name.startsWith('commit'),
  'reads and writes': (name) => name === 'load' || name === 'list' || name.startsWith('commit'),
};

for (const [what, isSlow] of Object.entries(SLOW)) {
  for (const storeCase of cases) {
    test(`over a store with slow ${what}: ${storeCase.name}`, async () => {
      await runStoreCase(storeCase, harnessOf(slow(memoryStore(), isSlow)));
    });
  }
}

/** How far these stores are off, in milliseconds: far more than any call takes. */
const FAR_MS = 1_000_000;
const further = ({ expires, ...answer }) => ({
  ...answer,
  ...(expires !== undefined && { expires: expires + answer.rev * FAR_MS }),
});

const FAULTS = {
  'does not move ends': changing(({ expires, ...change }) => ({
    ...change,
    ...(expires && { expires: { at: expires.at ?? Date.now() + expires.ttl } }),
  })),
  'moves ends too far': (store) => ({
    ...committing(further)(store),
    ...loading(further)(store),
    list: async (query) => {
      const page = await store.list(query, context);
      return { ...page, rows: page.rows.map(further) };
    },
  }),
};

for (const [fault, make] of Object.entries(FAULTS)) {
  test(`a slow store that ${fault} is found out all the same`, async () => {
    const [storeCase] = cases;
    const store = memoryStore();
    const broken = slow({ ...store, ...make(store) }, SLOW['reads and writes']);
    await assert.rejects(runStoreCase(storeCase, harnessOf(broken)), /step 5 \(commit\): the answer\["expires"\] is/);
  });
}
