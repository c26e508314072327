// Rewinding a session, and undoing that. Loaded at the first call.

import { defined } from '../model/defined.js';
import { currentLog, type RequestComponents } from './current-log.js';
import { planRedo, planRewind, type RewindPlan } from '../engine/rewind.js';
import { requestEvent, type EventDraft } from '../input/event-draft.js';
import { admitString } from '../checks/arguments.js';
import { checkKeepsRevisions } from './store-requirements.js';
import { makeHandle } from '../session/handle.js';
import { restoringTo } from '../session/history.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { deltaBound } from '../model/json-size.js';
import { newId } from '../model/ids.js';
import { keyReused, requestIn, type Once } from '../model/once.js';
import { withoutWrites } from '../session/session-scope.js';
import { isStoreError } from '../store/store-error.js';
import { conflictPause } from '../async/conflict-pause.js';
import type { View } from '../session/handle.js';
import type { Event, EventInit, SessionName } from '../model/types.js';
import type { RedoOptions, RewindOptions, Rewound } from '../model/rewind.js';

/** The number of attempts while others keep writing. */
const ATTEMPTS = 100;

/** The identity of a marker that an earlier attempt may have appended. */
export interface MarkerIdentity {
  /** The request that appends it. */
  readonly once?: Once | undefined;
  /** The marker as its author wrote it: all but its delta stays, and its id identifies it. */
  readonly marker?: EventInit | undefined;
}

/** The kind of marker to append. */
interface Marking extends MarkerIdentity {
  /** The effect of the marker after some events, if it has one. */
  readonly planOf: (events: readonly Event[]) => RewindPlan | undefined;
  /** The error for a log after which it has none. */
  readonly refusal: (events: readonly Event[], sessionId: string) => StatepadError;
}

/** See `SessionService.rewind`. */
export async function rewind(
  components: RequestComponents,
  session: SessionName,
  options: RewindOptions,
  identity: MarkerIdentity = {},
): Promise<Rewound> {
  checkKeepsRevisions(components.sessions, 'a session cannot be rewound');
  const before = admitString(options.before, 'before');
  return await appendMarker(components, session, options, {
    ...identity,
    planOf: (events) => planRewind(events, before),
    refusal: (events, id) => {
      const isThere = before !== '' && events.some(({ invocationId }) => invocationId === before);
      const why = isThere ? 'all its events are undone already' : 'the session has no event of it';
      const message = `session "${id}" cannot go back before the invocation "${before}": ${why}`;
      return new StatepadError('INVALID_ARGUMENT', message, { path: 'before', id });
    },
  });
}

/** See `SessionService.redo`. */
export async function redo(
  components: RequestComponents,
  session: SessionName,
  options: RedoOptions,
  identity: MarkerIdentity = {},
): Promise<Rewound> {
  checkKeepsRevisions(components.sessions, 'a session cannot be rewound');
  return await appendMarker(components, session, options, {
    ...identity,
    planOf: planRedo,
    refusal: (_, id) => {
      const message = `session "${id}" has nothing to redo: its last event is not a rewind, or all rewinds were undone`;
      return new StatepadError('INVALID_ARGUMENT', message, { id });
    },
  });
}

/** Appends the marker that the current log calls for. */
async function appendMarker(
  components: RequestComponents,
  session: SessionName,
  { signal, artifacts }: RedoOptions,
  marking: Marking,
): Promise<Rewound> {
  const { sessions, lease } = components;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const view = await currentLog(components, session, signal);
    const { record, revision } = view;
    const events = record.events.slice(0, revision);
    const known = repeatedMarker(view, events, marking);
    if (known !== undefined) {
      return known;
    }
    const plan = marking.planOf(events);
    if (plan === undefined) {
      throw marking.refusal(events, record.key.sessionId);
    }
    const artifactDelta = await artifacts?.(events, plan.to);
    const { draft, shared } = markerOf(components, view, plan, artifactDelta, marking);
    // A session that is created anew meanwhile is another one.
    const handle = sessions.view(session) === undefined ? makeHandle(view) : session;
    try {
      const event = await sessions.append({ session: handle, draft, expectedRevision: revision, lease }, signal);
      if (placeOf(sessions.view(handle), event) <= revision) {
        return Object.freeze({ event, revision: revision + 1, shared });
      }
      // An earlier attempt was carried out meanwhile, after other events: the next round finds it.
    } catch (error) {
      if (!isRepeatable(error, marking) || attempt === ATTEMPTS) {
        throw explainGuard(error);
      }
    }
    await conflictPause(attempt, signal);
  }
}

/** The answer of an earlier attempt, if it has appended its marker. Throws `KEY_REUSED`, `EVENT_ID_CONFLICT`. */
function repeatedMarker(view: View, events: readonly Event[], marking: Marking): Rewound | undefined {
  const { once, marker, planOf } = marking;
  const id = marker === undefined ? once?.id : marker.id;
  const index = id ? events.findIndex((event) => event.id === id) : -1;
  const event = events[index];
  if (event === undefined) {
    return undefined;
  }
  if (marker === undefined && requestIn(event.customMetadata) !== once?.digest) {
    throw keyReused();
  }
  const plan = planOf(events.slice(0, index));
  const { rewindBeforeInvocationId } = (event as Partial<Event>).actions ?? {};
  if (marker !== undefined && rewindBeforeInvocationId !== marker.actions?.rewindBeforeInvocationId) {
    const message = `session "${view.record.key.sessionId}" has another event with the id "${id}"`;
    throw new StatepadError('EVENT_ID_CONFLICT', message, defined({ id }));
  }
  once?.onRepeated?.(true);
  const shared = plan === undefined ? [] : restoringTo(view, plan.to, plan.concerned).shared;
  return Object.freeze({ event, revision: index + 1, shared });
}

/** The index of an event in the log that a handle shows; 0 where it does not show it. */
function placeOf(view: View | undefined, { id }: Event): number {
  const { base = 0, events = [] } = view?.record ?? {};
  return (
    base +
    Math.max(
      0,
      events.findLastIndex((event) => event.id === id),
    )
  );
}

function markerOf(
  { now }: RequestComponents,
  view: View,
  plan: RewindPlan,
  artifactDelta: Readonly<Record<string, number>> | undefined,
  { once, marker }: MarkerIdentity,
): { readonly draft: EventDraft; readonly shared: readonly string[] } {
  const { restored, shared } = restoringTo(view, plan.to, plan.concerned);
  const { actions: own, customMetadata, invocationId = newId(), ...rest } = marker ?? {};
  const actions = { ...own, ...defined({ rewindBeforeInvocationId: plan.before, artifactDelta }) };
  const event = { ...rest, ...defined({ customMetadata: withoutWrites(customMetadata) }), actions };
  const context = { author: 'system', invocationId, writes: { ...restored, bound: deltaBound(restored.delta) } };
  const draft = requestEvent(event, now, marker === undefined ? once : undefined, context, false);
  return { draft, shared };
}

/** True if another attempt may append the marker, or finds it in the log. */
function isRepeatable(error: unknown, identity: MarkerIdentity): boolean {
  const isKnown = identity.marker !== undefined && isStatepadError(error) && error.code === 'EVENT_ID_CONFLICT';
  return isKnown || (isConflict(error) && !isRefusedRequest(error, identity));
}

function isConflict(error: unknown): boolean {
  return isStatepadError(error) && (error.code === 'SESSION_STALE' || error.code === 'STATE_CONFLICT');
}

/** True if the store has refused a request for good: not because of the revision, which it would have told. */
function isRefusedRequest(error: unknown, { once }: MarkerIdentity): boolean {
  const { cause } = error as { readonly cause?: unknown };
  return once !== undefined && isStoreError(cause) && cause.code === 'conflict' && cause.actual === undefined;
}

/** Replaces the error of a store that compares no revisions. */
function explainGuard(error: unknown): unknown {
  const isGuard = isStatepadError(error) && error.path === 'expectedRevision';
  const message = 'a session cannot be rewound: the store does not compare revisions';
  return isGuard ? new StatepadError('INVALID_ARGUMENT', message, { cause: error }) : error;
}
