// The cursor of a list: the start of the next page as text, which the caller passes back.

import { StatepadError } from '../../../model/errors.js';
import type { Place } from '../../../store/contract.js';

/** The cursor of a page that ends at a place; `before` is the number of sessions up to there. */
export function cursorText({ time, sessionId, userId }: Place, before: number): string {
  return JSON.stringify([time, sessionId, userId, before]);
}

/** The start of a page. Throws `INVALID_ARGUMENT`. */
export function parseCursor(text: string): { readonly after: Place; readonly before: number } {
  try {
    const [time, sessionId, userId, before] = JSON.parse(text) as unknown[];
    if (
      typeof time === 'number' &&
      typeof sessionId === 'string' &&
      typeof userId === 'string' &&
      typeof before === 'number'
    ) {
      return { after: { time, sessionId, userId }, before };
    }
  } catch {
    // The error below reports it.
  }
  throw new StatepadError('INVALID_ARGUMENT', 'cursor must come from a page of sessions', {
    path: 'cursor',
  });
}
