// Watching over a store.

import { keepsLog } from '../operations/shared-history.js';
import { WatchedLog, WatchedValues } from './watched-scope.js';
import { WatchedSession } from './watched-session.js';
import { StoredWholeSession } from './whole-session.js';
import { WatchedWholeSession } from '../../../watch/whole-session.js';
import type { StoreComponents } from '../operations/components.js';
import type { WholeSessionChange } from '../../../model/watch.js';
import type { ChangeSource, WatchPlan, WholePlan } from '../../../watch/change-source.js';
import type { Topics } from '../../../watch/topics.js';

export { Topics } from '../../../watch/topics.js';

/** The changes of a target, for one reader. */
export function watchStored(
  components: Pick<StoreComponents, 'cache' | 'connection' | 'loader'>,
  topics: Topics,
  plan: WatchPlan,
): ChangeSource {
  if (plan.target.sessionId !== undefined) {
    return new WatchedSession(components, topics, plan);
  }
  return new (keepsLog(components.connection.store) ? WatchedLog : WatchedValues)(components, topics, plan);
}

/** The changes of a whole session, for one reader. */
export function watchWholeStored(
  components: Pick<StoreComponents, 'cache' | 'loader'>,
  topics: Topics,
  plan: WholePlan,
): ChangeSource<WholeSessionChange> {
  return new WatchedWholeSession(new StoredWholeSession(components, topics, plan), plan);
}
