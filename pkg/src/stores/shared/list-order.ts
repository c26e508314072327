// The order of a list: by time, then by session id, then by user.

import type { ListQuery, Place, Row } from '../../store/contract.js';

/** The place of a session in a list. */
export function placeOf({ time, key: { sessionId, userId } }: Pick<Row, 'time' | 'key'>): Place {
  return { time, sessionId, userId };
}

/** Compares texts by their code points, as their UTF-8 bytes would; JavaScript compares UTF-16 units. */
export function compareText(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let index = 0; index < length; index++) {
    const [left, right] = [a.charCodeAt(index), b.charCodeAt(index)];
    if (left !== right) {
      // Surrogates encode code points above all others.
      const [isLeftHigh, isRightHigh] = [left >= 0xd800 && left <= 0xdfff, right >= 0xd800 && right <= 0xdfff];
      return isLeftHigh === isRightHigh ? left - right : isLeftHigh ? 1 : -1;
    }
  }
  return a.length - b.length;
}

/** The comparison that a list is sorted by. */
export function listOrder({ descending }: Pick<ListQuery, 'descending'>): (a: Place, b: Place) => number {
  const sign = descending ? -1 : 1;
  return (a, b) =>
    sign * (a.time - b.time) || compareText(a.sessionId, b.sessionId) || compareText(a.userId, b.userId);
}
