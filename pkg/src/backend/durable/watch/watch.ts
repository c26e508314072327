// Watching over a store.

import { keepsLog } from '../operations/shared-history.js';
import { WatchedLog, WatchedValues } from './watched-scope.js';
import { WatchedSession } from './watched-session.js';
import { StoredWhole } from './whole-session.js';
import { WatchedWhole } from '../../../watch/whole-session.js';
import type { StoreComponents } from '../operations/components.js';
import type { WholeSessionChange } from '../../../model/watch.js';
import type { ChangeSource, WatchPlan, WholePlan } from '../../../watch/change-source.js';
import type { Topics } from '../../../watch/topics.js';

export { Topics } from '../../../watch/topics.js';

/** The changes of a target, for one reader. */
export function watchStored(
  parts: Pick<StoreComponents, 'cache' | 'connection' | 'loader'>,
  topics: Topics,
  plan: WatchPlan,
): ChangeSource {
  if (plan.target.sessionId !== undefined) {
    return new WatchedSession(parts, topics, plan);
  }
  return new (keepsLog(parts.connection.store) ? WatchedLog : WatchedValues)(parts, topics, plan);
}

/** The changes of a whole session, for one reader. */
export function watchWholeStored(
  parts: Pick<StoreComponents, 'cache' | 'loader'>,
  topics: Topics,
  plan: WholePlan,
): ChangeSource<WholeSessionChange> {
  return new WatchedWhole(new StoredWhole(parts, topics, plan), plan);
}
