// What needs a log that can be gone back in.

import { StatepadError } from '../model/errors.js';
import type { SessionBackend } from '../backend/backend.js';

/**
 * Refuses what the log of a store cannot tell: one that keeps no revisions, or not what a session began with. Throws
 * `INVALID_ARGUMENT`. `what` begins the message: "a session cannot be forked".
 */
export function checkKeepsRevisions({ lacks = [] }: Pick<SessionBackend, 'lacks'>, what: string): void {
  const why = lacks.includes('revisions')
    ? 'keeps no revisions'
    : lacks.includes('beginnings')
      ? 'does not keep what a session began with'
      : undefined;
  if (why !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', `${what} here: the store ${why}`);
  }
}
