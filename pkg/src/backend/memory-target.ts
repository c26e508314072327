// The reads and writes of `updateState` on sessions without a store. Loaded at the first update.

import { admitDelta } from '../input/admit.js';
import { requestEvent, type EventDraft } from '../input/event-draft.js';
import { checkDeltaSize } from '../input/sizes.js';
import { checkKey } from '../input/requests.js';
import { StatepadError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import { put } from '../model/json.js';
import { resolveNow } from '../session/append.js';
import { notFoundInMemory } from '../session/other-services.js';
import { entriesOf } from '../session/scope-version.js';
import { isSessionTarget, type UpdateTarget } from '../update/update-target.js';
import type { ExpectedVersions, PreparedChange, ScopeKey } from '../engine/sessions.js';
import type { SessionRecord } from '../session/record.js';
import type { Limits } from '../model/limits.js';
import type { Once } from '../model/once.js';
import type { SessionRegistry } from '../session/registry.js';
import type { Json, SessionKey, UpdateStateOptions, UpdateStateTarget } from '../model/types.js';

/** The backend's side of an update. */
export interface MemoryWriter {
  /** The sessions that have not expired. */
  readonly sessions: () => SessionRegistry;
  readonly now: () => number;
  readonly limits: Limits;
  /** Appends an event if nothing has changed since the read. */
  readonly append: (record: SessionRecord, draft: EventDraft, expected: ExpectedVersions) => void;
  /** Reports a change of app and user values that was applied. */
  readonly updated: (scope: ScopeKey, change: PreparedChange, time: number) => void;
}

/** The access of an update to its target. */
export function memoryTarget(
  writer: MemoryWriter,
  target: UpdateStateTarget,
  options: UpdateStateOptions,
  once?: Once,
): UpdateTarget {
  return isSessionTarget(target) ? sessionTarget(writer, target, options, once) : scopeTarget(writer, target);
}

/** The target of a session: a write becomes an event. */
function sessionTarget(
  { sessions, now, append }: MemoryWriter,
  target: SessionKey,
  { author = 'system', invocationId }: UpdateStateOptions,
  once: Once | undefined,
): UpdateTarget {
  const key = checkKey(target);
  const { appName, userId, sessionId } = key;
  return () => {
    const registry = sessions();
    const record = registry.find(key);
    if (record === undefined) {
      throw notFoundInMemory(key);
    }
    const guard = { revision: record.revision, ...versions(registry, { appName, userId }) };
    return {
      state: registry.read(record).state,
      write: (stateDelta) => {
        if (sessions().find(key) !== record) {
          throw new StatepadError('STATE_CONFLICT', `session "${sessionId}" was created again`, {
            id: sessionId,
          });
        }
        append(record, requestEvent({ author, invocationId, actions: { stateDelta } }, now, once), guard);
        return registry.read(record).state;
      },
    };
  };
}

/** The target of a user's and the app's keys, or of the app's alone. */
function scopeTarget(
  { sessions, now, limits, updated }: MemoryWriter,
  { appName, userId }: UpdateStateTarget,
): UpdateTarget {
  const scope = { appName, userId };
  return () => {
    const registry = sessions();
    const expected = versions(registry, scope);
    const state = sharedState(registry, scope);
    return {
      state,
      write: (delta) => {
        const written = { id: newId(), timestamp: now(), ...admitDelta(delta, 'delta') };
        checkDeltaSize(limits, written, scope, 'delta');
        const change = registry.engine.prepareUpdate(scope, written, expected);
        // Nothing has changed since the read.
        const results = resolveNow(registry, written, change, (key) => state[key]);
        const growth = registry.checkGrowth(limits, scope, change, { bound: written.bound, results });
        registry.applyUpdate(change);
        growth.note(registry.scopesOf(scope, undefined));
        updated(scope, change, written.timestamp);
        return sharedState(registry, scope);
      },
    };
  };
}

/** The values of an app and of a user in it, or the app's alone, under full keys. */
function sharedState(registry: SessionRegistry, { appName, userId }: ScopeKey): Readonly<Record<string, Json>> {
  const users = userId === undefined ? [undefined] : [undefined, userId];
  const record: Record<string, Json> = {};
  for (const user of users) {
    for (const [key, value] of entriesOf(registry.valuesOf({ appName, userId: user }))) {
      put(record, key, value);
    }
  }
  return Object.freeze(record);
}

function versions(registry: SessionRegistry, { appName, userId }: ScopeKey): ExpectedVersions {
  const app = registry.scopeVersion({ appName, userId: undefined });
  return userId === undefined ? { app } : { app, user: registry.scopeVersion({ appName, userId }) };
}
