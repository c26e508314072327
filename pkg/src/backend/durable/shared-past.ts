// What a store tells of the past of app and user values.

import type { SessionStore } from '../../store/contract.js';

/** Whether a store keeps a log of app and user values. */
export function keepsLog({ keeps = [], ...store }: Pick<SessionStore, 'keeps' | 'readLog'>): boolean {
  return keeps.includes('log') && typeof store.readLog === 'function';
}
