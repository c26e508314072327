// Handles for sessions that are not cached: an append through one loads the session.

import { NO_EVENTS } from '../../../session/event-window.js';
import { ScopeVersion } from '../../../session/scope-version.js';
import { deepFreeze } from '../../../model/json.js';
import { APP_PREFIX, USER_PREFIX, underKeys, type SharedScope } from '../../../model/scope.js';
import type { View } from '../../../session/handle.js';
import type { CreationEvent } from '../../../session/creation-event.js';
import type { SessionRegistry } from '../../../session/registry.js';
import type { Row, Values } from '../../../store/contract.js';
import type { Session } from '../../../model/types.js';

/** The values of an app, and of a user in it. */
export type SharedVersions = readonly [ScopeVersion, ScopeVersion];

/** A handle for the row of a list. */
export function rowHandle(
  registry: SessionRegistry,
  { key, created, rev, time, expires, state }: Row,
  shared: SharedVersions,
): Session {
  const record = registry.newRecord(key, created);
  record.base = record.revision = rev;
  record.updateTime = time;
  record.expires = expires;
  return registry.read(record, NO_EVENTS, undefined, [ScopeVersion.of(deepFreeze(state)), ...shared]);
}

/**
 * A handle for a created session that the cache does not have in this form: others have written to it or deleted it,
 * or it cannot be read now. `row` is the session at revision 0.
 */
export function createdHandle(
  registry: SessionRegistry,
  row: Row,
  creation: CreationEvent,
  shared: SharedVersions,
  isDeleted: boolean,
): Session {
  const session = rowHandle(registry, row, shared);
  const { record } = registry.view(session) as View;
  record.creation = creation;
  record.deleted = isDeleted;
  return session;
}

/** The values of a shared scope under their full keys. */
export function sharedVersion(scope: SharedScope, values: Values): ScopeVersion {
  return ScopeVersion.of(deepFreeze(underKeys(scope === 'app' ? APP_PREFIX : USER_PREFIX, values)));
}
