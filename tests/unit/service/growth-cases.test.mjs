// Limits and expiry of the package, by the cases that the crate is held to as well.

import { after } from 'node:test';
import * as statepad from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { growthTests } from '../../contract/growth.mjs';

const module = { ...statepad, deleted: statepad.DELETED };

/** A service over a store that has the clock of the case. */
class StoredService extends statepad.SessionService {
  constructor({ now, ...options }) {
    Date.now = now;
    super({ now, ...options });
  }
}

const { now } = Date;
after(() => {
  Date.now = now;
});

growthTests('in memory', module);
const stored = { ...module, SessionService: StoredService };
growthTests('over a store', stored, () => ({ store: memoryStore() }));
growthTests('over a store that nobody else writes to', stored, () => ({
  store: { ...memoryStore(), exclusive: true },
}));
growthTests('over a store that resolves no operators, with no room', stored, () => {
  const { resolves, ...store } = memoryStore();
  return { store, cachedEvents: 0 };
});
