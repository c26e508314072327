// The history of a session: the values of each key at each revision. The core answers, once it has the log.

import { storedDeletions } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { deepFreeze } from '../model/json.js';
import { isObject } from '../model/value-types.js';
import { HistoryEngine } from '../engine/history.js';
import { stateOf, type View } from './handle.js';
import { checkCount } from '../checks/arguments.js';
import { checkRevisionUpTo } from '../input/requests.js';
import { sessionValues } from './session-scope.js';
import { withoutTemp } from '../model/scope.js';
import type { CreationEvent } from './creation-event.js';
import type { KeyedDelta } from '../engine/sessions.js';
import type { SessionRecord } from './record.js';
import type { Event, HistoryOptions, HistoryStep, Json } from '../model/types.js';

/** See `SessionService.stateAt`. Needs all events of the view's session. */
export function stateAt(view: View, revision: number): Readonly<Record<string, Json>> {
  checkRevision(view, revision, 'revision');
  const now = (view.state ??= stateOf(view));
  return deepFreeze(
    revision === view.revision ? withoutTemp(now) : historyOf(view.record).stateAt(revision, view.revision, now),
  );
}

/**
 * The session's own values by its log alone: those that its creation and its events write. Where the creation is
 * unknown, keys that no event writes have their present values. Needs all events of the view's session.
 */
export function replayedValues(view: View): Readonly<Record<string, Json>> {
  const { creation } = view.record;
  const isWhole = creation !== undefined && creation !== 'unknown';
  const others = isWhole ? {} : (view.state ??= stateOf(view));
  return deepFreeze(sessionValues(historyOf(view.record).stateAt(view.revision, view.revision, others)));
}

/** See `SessionService.history`. Needs all events of the view's session. */
export function history(
  view: View,
  key: string,
  { until = view.revision, last }: HistoryOptions,
): readonly HistoryStep[] {
  checkCount(last, 'last');
  checkRevision(view, until, 'until');
  const { creation, events } = view.record;
  const steps = historyOf(view.record).steps(key, until, last);
  return Object.freeze(
    steps.map(({ revision, ...values }) => {
      const event = events[revision - 1];
      const by =
        event === undefined
          ? { timestamp: (creation as CreationEvent).timestamp }
          : { timestamp: event.timestamp, event };
      return Object.freeze({ revision, ...by, ...deepFreeze(values) });
    }),
  );
}

/**
 * The delta that brings a session's own keys back to an earlier revision, and the shared keys that the events at some
 * indexes have written. Needs all events of the view's session.
 */
export function restoringTo(
  { record, revision: until }: View,
  revision: number,
  indexes: readonly number[],
): { readonly restored: KeyedDelta & { delta: Record<string, Json> }; readonly shared: readonly string[] } {
  const engine = historyOf(record);
  const shared = engine.sharedOf(indexes.map((index) => index + 1));
  return { restored: engine.restoring(revision, until), shared: Object.freeze(shared) };
}

/** The core's copy of a log, brought up to date. Needs all events of the log. Throws `STORE_CORRUPT`. */
function historyOf(record: SessionRecord): HistoryEngine {
  const engine = (record.history ??= new HistoryEngine());
  while (engine.next <= record.events.length) {
    const revision = engine.next;
    if (!engine.push(deltaAt(record, revision))) {
      throw unreadableDelta(record, revision);
    }
  }
  return engine;
}

/** Checks that a view has a revision. `path` names it in the error. Throws `INVALID_ARGUMENT`. */
export function checkRevision({ revision: actual, record }: View, revision: number, path: string): void {
  checkRevisionUpTo(actual, record.key.sessionId, revision, path);
}

/** The delta of a revision, if it has one. Other programs may have put anything into the store. */
function deltaAt(record: SessionRecord, revision: number): KeyedDelta | undefined {
  const { creation, events } = record;
  if (revision === 0) {
    return creation === undefined || creation === 'unknown' ? undefined : { delta: creation.state, deleted: [] };
  }
  try {
    const { actions, customMetadata } = events[revision - 1] as {
      actions?: Partial<Event['actions']> | null;
      customMetadata?: unknown;
    };
    const delta = (actions?.stateDelta ?? {}) as Record<string, Json>;
    if (!isObject(delta)) {
      throw new TypeError('a state delta must be an object');
    }
    return Object.keys(delta).length > 0 ? { delta, deleted: storedDeletions(customMetadata) } : undefined;
  } catch (cause) {
    throw unreadableDelta(record, revision, cause);
  }
}

function unreadableDelta({ key: { sessionId: id } }: SessionRecord, revision: number, cause?: unknown): StatepadError {
  return new StatepadError(
    'STORE_CORRUPT',
    `the state delta of revision ${revision} of session "${id}" cannot be read`,
    { id, cause },
  );
}
