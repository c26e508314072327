// Limits and expiry of the package over stores, by the cases that the crate is held to as well.

import { after } from 'node:test';
import * as statepad from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { expiryTests, limitTests } from '../../contract/growth.mjs';

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

const stored = { ...module, SessionService: StoredService };
for (const [title, more] of [
  ['over a store', () => ({ store: memoryStore() })],
  ['over a store that nobody else writes to', () => ({ store: { ...memoryStore(), exclusive: true } })],
  [
    'over a store that resolves no operators, with no room',
    () => ({ store: { ...memoryStore(), resolves: [] }, cachedEvents: 0 }),
  ],
]) {
  limitTests(title, stored, more);
  expiryTests(title, stored, more);
}
