// Refusing content from elsewhere.

import { StatepadError } from '../model/errors.js';

/** Refuses the current line, row or session. */
export function refuse(reason: string): never {
  throw new StatepadError('INVALID_ARGUMENT', reason);
}
