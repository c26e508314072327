// What needs a log that can be gone back in.

import { StatepadError } from '../model/errors.js';
import type { SessionBackend } from '../backend/backend.js';

/** Refuses what tells by its creation whether it is whole, over a store that names creations itself. */
export function checkKeepsCreations({ lacks: lacks = [] }: Pick<SessionBackend, 'lacks'>, what: string): void {
  if (lacks.includes('created')) {
    const message = `${what} here: the store does not keep the id of its creation`;
    throw new StatepadError('INVALID_ARGUMENT', message);
  }
}

/**
 * Refuses what the log of a store cannot tell: one that keeps no revisions, or not what a session began with. Throws
 * `INVALID_ARGUMENT`. `what` begins the message: "a session cannot be forked".
 */
export function checkKeepsRevisions({ lacks: lacks = [] }: Pick<SessionBackend, 'lacks'>, what: string): void {
  const why = lacks.includes('revisions')
    ? 'keeps no revisions'
    : lacks.includes('beginnings')
      ? 'does not keep what a session began with'
      : undefined;
  if (why !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', `${what} here: the store ${why}`);
  }
}
