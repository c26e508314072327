// Stores that are broken when they are opened again, or in hints.

import assert from 'node:assert/strict';
import { memoryStore } from 'statepad/stores/memory';
import { changing, context, inOrder, reopening, values } from './ways.mjs';

export const brokenOpening = {
  // Opening again.
  'forgets everything when it is opened again': (store) => ({ store, reopened: memoryStore() }),
  'forgets updates when it is opened again': reopening(
    changing((change) => (change.kind === 'update' ? { ...change, id: `again ${change.id}` } : change)),
  ),
  'sorts names when it is opened again': reopening(values(inOrder)),
  'cannot be opened again to look at': (store) => ({
    store: { ...store, open: async ({ migrate }) => assert.notEqual(migrate, 'check') },
  }),
  // Hints.
  'hints at the app when a session has changed': (store, timers) => ({
    // Nobody waits for what does not come: time passes with each change.
    commit: (change) => {
      timers.tick(60_000);
      return store.commit(change, context);
    },
    watch: (onHint) => store.watch(({ appName }) => onHint({ appName })),
  }),
  'keeps on giving hints': (store) => ({
    watch: (onHint) => {
      store.watch(onHint);
      return () => undefined;
    },
  }),
};
