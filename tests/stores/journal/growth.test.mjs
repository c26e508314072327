// Limits, ends and sweeps of journals, against a plain model, before they are opened again and afterwards.

import { test } from 'node:test';
import { callbackStore, journalStore } from 'statepad/stores/journal';
import { opened, textMedium } from './support.mjs';
import { growthLaw } from '../support/growth-laws.js';
import { runs } from '../../support/fixtures.mjs';

const law = 'whatever is written, the limits and the ends of sessions are those of a plain model';

test(`callbacks: ${law}`, async () => {
  await growthLaw(
    async () => {
      const log = [];
      const open = () =>
        opened(
          callbackStore({
            persist: async (records) => void log.push(...records.map((record) => JSON.stringify(record))),
            restore: () => log.map((text) => JSON.parse(text)),
          }),
        );
      return { store: await open(), reopen: open };
    },
    { numRuns: runs(100) },
  );
});

test(`lines: ${law}`, async () => {
  await growthLaw(
    async () => {
      const medium = textMedium();
      return { store: await opened(journalStore(medium)), reopen: () => opened(journalStore(medium)) };
    },
    { numRuns: runs(100) },
  );
});
