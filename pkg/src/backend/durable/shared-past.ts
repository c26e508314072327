// What a store tells of the past of app and user values.

import type { SessionStore } from '../../store/contract.js';

/** Whether a store keeps a log of app and user values. */
export function keepsLog(store: SessionStore): boolean {
  return store.keeps?.includes('log') === true && typeof store.readLog === 'function';
}
