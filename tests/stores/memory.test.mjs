// The reference, and whether the cases can fail at all.

import { memoryStore } from 'statepad/stores/memory';
import { storeTests } from './run.mjs';

function open() {
  const store = memoryStore();
  return { store, another: () => store };
}

storeTests('memory', open, { without: ['reopen'] });
