// The requirements of operations that look back in a log.

import { StatepadError } from '../model/errors.js';
import type { SessionBackend } from '../backend/backend.js';

/**
 * Refuses an operation that reads from the creation id whether a session is complete, over a store that names
 * creations itself.
 */
export function checkKeepsCreations({ lacks: lacks = [] }: Pick<SessionBackend, 'lacks'>, what: string): void {
  if (lacks.includes('created')) {
    const message = `${what}: the store does not keep the id of its creation`;
    throw new StatepadError('INVALID_ARGUMENT', message);
  }
}

/**
 * Refuses a store without revisions, or without the creations of sessions. Throws `INVALID_ARGUMENT`. `what` begins
 * the message: "a session cannot be forked".
 */
export function checkKeepsRevisions({ lacks: lacks = [] }: Pick<SessionBackend, 'lacks'>, what: string): void {
  const why = lacks.includes('revisions')
    ? 'does not keep revisions'
    : lacks.includes('beginnings')
      ? 'does not keep the initial state of a session'
      : undefined;
  if (why !== undefined) {
    throw new StatepadError('INVALID_ARGUMENT', `${what}: the store ${why}`);
  }
}
