// The order of a list: by time, then by session id, then by user.

import { compareText } from '../../model/compare-text.js';
import type { ListQuery, Place, Row } from '../../store/contract.js';

export { compareText };

/** The place of a session in a list. */
export function placeOf({ time, key: { sessionId, userId } }: Pick<Row, 'time' | 'key'>): Place {
  return { time, sessionId, userId };
}

/** The comparison that a list is sorted by. */
export function listOrder({ descending }: Pick<ListQuery, 'descending'>): (a: Place, b: Place) => number {
  const sign = descending ? -1 : 1;
  return (a, b) =>
    sign * (a.time - b.time) || compareText(a.sessionId, b.sessionId) || compareText(a.userId, b.userId);
}
