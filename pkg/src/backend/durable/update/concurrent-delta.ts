// The changes of others between a read of a scope and a change of this service.

import type { SharedScope } from '../../../model/scope.js';
import type { Committed, Delta } from '../../../store/contract.js';

/**
 * The changes of others to a scope since the `read` position, up to a change that wrote `own` to it; `undefined` where
 * the store does not report them.
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
