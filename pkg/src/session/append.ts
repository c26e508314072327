// One append: prepared first, finished once it is stored.

import { isRepeated, freezeEvent, extractTempKeys, type EventDraft, type TempDelta } from '../input/event-draft.js';
import { showTemp, tempBefore } from '../input/temp-values.js';
import { defined } from '../model/defined.js';
import { StatepadError } from '../model/errors.js';
import { keyReused } from '../model/once.js';
import { resultsOf } from '../model/operator-results.js';
import { isTemp } from '../model/scope.js';
import type { DuplicateEvent, ExpectedVersions, PreparedChange } from '../engine/sessions.js';
import type { View } from './handle.js';
import type { SessionRecord } from './record.js';
import type { SessionRegistry } from './registry.js';
import { hasRoom, noteBytes, type Growth } from './growth.js';
import type { Limits } from '../model/limits.js';
import type { AdmittedDelta } from '../input/admit.js';
import type { Event, Json, SessionKey } from '../model/types.js';

/** An append that the core has prepared: to be stored, then finished. */
export interface PendingAppend {
  readonly event: Event;
  /** Absent for a duplicate: there is nothing to store or apply. */
  readonly change: PreparedChange | undefined;
  /** The `temp:` keys, which only the handle shows. */
  readonly temp: TempDelta | undefined;
  /** Without a store: what it writes to the scopes, near their limits. */
  readonly growth: Growth | undefined;
  /** The most bytes that it writes to them. */
  readonly bound: number;
}

/**
 * Begins an append, and resolves its operators against the current values. `view` is that of the handle that it comes
 * through. Without `limits` it is refused whatever it comes to. Nothing has changed when it throws:
 * `SESSION_NOT_FOUND`, `SESSION_STALE`, `STATE_CONFLICT`, `EVENT_ID_CONFLICT`, `INVALID_ARGUMENT`, `LIMIT_EXCEEDED`.
 */
export function beginAppend(
  registry: SessionRegistry,
  record: SessionRecord,
  draft: EventDraft,
  expected: ExpectedVersions,
  view: View | undefined,
  limits: Limits | undefined,
): PendingAppend {
  const change = changeOf(registry, record, draft, expected);
  if (isDuplicate(change)) {
    return freezeAppend(registry, record, draft, change);
  }
  let results: Readonly<Record<string, Json>> | undefined;
  if (draft.operators !== undefined) {
    const temp = tempBefore(view, draft.event as unknown as Event);
    results = resolveNow(registry, draft, change, (key) =>
      isTemp(key) ? temp?.get(key) : registry.valueOf(record, key),
    );
  }
  const bound = draft.deltaBound;
  const isSmall = limits === undefined || (results === undefined && hasRoom(limits, record, change, bound));
  const growth = isSmall ? undefined : registry.checkGrowth(limits, record.key, change, { bound, results, record });
  return freezeAppend(registry, record, draft, change, growth);
}

/** Resolves operators in a delta that is not frozen yet. Returns their results; discards the change on failure. */
export function resolveNow(
  registry: SessionRegistry,
  { delta, operators = {} }: Pick<AdmittedDelta, 'delta' | 'operators'>,
  change: PreparedChange,
  valueOf: (key: string) => Json | undefined,
): Readonly<Record<string, Json>> {
  try {
    const results = resultsOf(operators, valueOf);
    // The delta has their keys already.
    Object.assign(delta, results);
    return results;
  } catch (error) {
    registry.engine.discard(change);
    throw error;
  }
}

/** The change of an append, or the stored event with its id. Throws as {@link beginAppend}. */
export function changeOf(
  registry: SessionRegistry,
  record: SessionRecord,
  draft: EventDraft,
  expected: ExpectedVersions,
): PreparedChange | DuplicateEvent {
  if (record.deleted) {
    throw notFound(record.key.sessionId);
  }
  return registry.engine.prepareAppend(record.number, draft, expected);
}

/** True when the session has an event with this id. */
export function isDuplicate(change: PreparedChange | DuplicateEvent): change is DuplicateEvent {
  return 'duplicateOf' in change;
}

/** Makes the event of a change from its draft. Throws `EVENT_ID_CONFLICT`. */
export function freezeAppend(
  registry: SessionRegistry,
  record: SessionRecord,
  draft: EventDraft,
  change: PreparedChange | DuplicateEvent,
  growth?: Growth,
): PendingAppend {
  if (isDuplicate(change)) {
    extractTempKeys(draft);
    return duplicateAppend(record, draft, freezeEvent(draft), registry.eventOf(record, change));
  }
  const temp = change.hasTemp ? extractTempKeys(draft) : undefined;
  return { event: freezeEvent(draft), change, temp, growth, bound: draft.deltaBound };
}

/** Applies an append without a store, and brings the handle that it came through up to date. */
export function finishAppend(
  registry: SessionRegistry,
  record: SessionRecord,
  { event, change, temp, growth, bound }: PendingAppend,
  view: View | undefined,
  expires: number | undefined,
): Event {
  if (change !== undefined) {
    registry.applyAppend(record, event, change);
    if (growth === undefined) {
      noteBytes(record, change, bound);
    } else {
      growth.note(registry.scopesOf(record.key, record));
    }
    record.expires = expires;
  }
  if (view !== undefined) {
    registry.refresh(view);
  }
  if (view !== undefined && change !== undefined) {
    showTemp(view, event, temp);
  }
  return event;
}

/** The stored event, if the appended one equals it. Throws `EVENT_ID_CONFLICT`, of a request `KEY_REUSED`. */
export function storedDuplicate(record: SessionRecord, draft: EventDraft, appended: Event, stored: Event): Event {
  if (!isRepeated(draft, appended, stored)) {
    if (draft.request !== undefined) {
      throw keyReused();
    }
    const message = `session "${record.key.sessionId}" has another event with the id "${draft.id}"`;
    throw new StatepadError('EVENT_ID_CONFLICT', message, { id: draft.id });
  }
  return stored;
}

/** The append of a duplicate: with equal content it succeeds and changes nothing. */
export function duplicateAppend(
  record: SessionRecord,
  draft: EventDraft,
  appended: Event,
  stored: Event,
): PendingAppend {
  return {
    event: storedDuplicate(record, draft, appended, stored),
    change: undefined,
    temp: undefined,
    growth: undefined,
    bound: 0,
  };
}

/** The error for a missing session. */
export function notFound(id: string, cause?: unknown): StatepadError {
  return new StatepadError('SESSION_NOT_FOUND', `session "${id}" not found`, defined({ id, cause }));
}

/** Throws the error for a missing session. */
export function throwNotFound({ sessionId }: SessionKey): never {
  throw notFound(sessionId);
}
