// Sweeps of sessions in memory, and of the values of users without sessions. Loaded at the first sweep.

import { newId } from '../model/ids.js';
import { put } from '../model/json.js';
import type { SweepPart } from './backend.js';
import type { MemoryExpiry } from './memory-expiry.js';
import type { UserTimes } from './user-times.js';
import type { PreparedChange, ScopeKey } from '../engine/sessions.js';
import type { SessionRegistry } from '../session/registry.js';
import type { Swept } from '../store/contract.js';
import type { Json } from '../model/types.js';

/** The sessions of a service, and what a sweep does to them. */
export interface SweptMemory {
  readonly registry: SessionRegistry;
  readonly expiry: MemoryExpiry;
  readonly users: UserTimes | undefined;
  readonly now: () => number;
  /** Reports a change of user values that was applied. */
  readonly updated: (scope: ScopeKey, change: PreparedChange, time: number) => void;
}

/** See `SessionBackend.sweep`. */
export function sweepMemory(memory: SweptMemory, { appName, limit, userTtl, dry: isDry }: SweepPart): Swept {
  const { expiry, users, now } = memory;
  const dry = isDry === true;
  const { count: sessions, more } = expiry.takeRemoved(appName, limit, dry);
  if (more || users === undefined || userTtl === undefined) {
    return { sessions, users: 0, more };
  }
  let removed = 0;
  for (const user of users.until(now() - userTtl, appName)) {
    const hasSession = memory.registry.findAny(user) !== undefined;
    const keys = hasSession ? [] : memory.registry.keysOf(user);
    if (keys.length > 0) {
      if (sessions + removed >= limit) {
        return { sessions, users: removed, more: true };
      }
      if (!dry) {
        removeValues(memory, user, keys);
      }
      removed += 1;
    }
    if (!hasSession && !dry) {
      users.removed(user.appName, user.userId);
    }
  }
  return { sessions, users: removed, more: false };
}

/** Deletes all values of a user, as one change. */
function removeValues({ registry, now, updated }: SweptMemory, user: ScopeKey, deleted: readonly string[]): void {
  const delta: Record<string, Json> = {};
  deleted.forEach((key) => put(delta, key, null));
  const timestamp = now();
  const change = registry.engine.prepareUpdate(user, { id: newId(), timestamp, delta, deleted }, {});
  registry.applyUpdate(change);
  updated(user, change, timestamp);
}
