// What others have done to a scope between the reading of it and a change of this service.

import type { SharedScope } from '../cache/continuity.js';
import type { Committed, Delta } from '../../../store/contract.js';

/**
 * What others have done to a scope since its position was `read`, up to a change whose own scope is `own`; `undefined`
 * where the store does not tell.
 */
export function concurrentDelta(
  { pos, changed, duplicate }: Committed,
  scope: SharedScope,
  read: number | undefined,
  own: Delta | undefined,
): Delta | undefined {
  const before = pos[scope] - (own === undefined ? 0 : 1);
  return duplicate ? undefined : before === read ? {} : changed?.[scope];
}
