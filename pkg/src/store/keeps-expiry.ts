// Stores whose sessions end.

import type { SessionStore } from './contract.js';

/** True when a store takes `Change.expires`: it removes what has expired when it is swept, or by itself. */
export function keepsExpiry({ keeps = [] }: Pick<SessionStore, 'keeps'>): boolean {
  return keeps.includes('expiry') || keeps.includes('lifetime');
}
