// Rewinding a session, and undoing that. Loaded at the first call.

import { defined } from '../model/defined.js';
import { currentLog, type RequestComponents } from './current-log.js';
import { planRedo, planRewind, type RewindPlan } from '../engine/rewind.js';
import { admitEvent, type EventDraft } from '../input/event-draft.js';
import { admitString } from '../checks/arguments.js';
import { checkKeepsRevisions } from './store-requirements.js';
import { makeHandle } from '../session/handle.js';
import { restoringTo } from '../session/history.js';
import { StatepadError, isStatepadError } from '../model/errors.js';
import { newId } from '../model/ids.js';
import { orAborted } from '../async/abort.js';
import { sleep } from '../async/sleep.js';
import type { View } from '../session/handle.js';
import type { Event, SessionName } from '../model/types.js';
import type { RedoOptions, RewindOptions, Rewound } from '../model/rewind.js';

/** The number of attempts while others keep writing. */
const ATTEMPTS = 100;
/** The longest pause before another attempt, in milliseconds. */
const MAX_PAUSE_MS = 50;

/** See `SessionService.rewind`. */
export async function rewind(
  components: RequestComponents,
  session: SessionName,
  options: RewindOptions,
): Promise<Rewound> {
  checkKeepsRevisions(components.sessions, 'a session cannot be rewound');
  const before = admitString(options.before, 'before');
  return await appendMarker(components, session, options, (events, id) => {
    const plan = planRewind(events, before);
    if (plan === undefined) {
      const isThere = before !== '' && events.some(({ invocationId }) => invocationId === before);
      const why = isThere ? 'all its events are undone already' : 'the session has no event of it';
      const message = `session "${id}" cannot go back before the invocation "${before}": ${why}`;
      throw new StatepadError('INVALID_ARGUMENT', message, { path: 'before', id });
    }
    return plan;
  });
}

/** See `SessionService.redo`. */
export async function redo(
  components: RequestComponents,
  session: SessionName,
  options: RedoOptions,
): Promise<Rewound> {
  checkKeepsRevisions(components.sessions, 'a session cannot be rewound');
  return await appendMarker(components, session, options, (events, id) => {
    const plan = planRedo(events);
    if (plan === undefined) {
      const message = `session "${id}" has nothing to redo: its last event is not a rewind, or all rewinds were undone`;
      throw new StatepadError('INVALID_ARGUMENT', message, { id });
    }
    return plan;
  });
}

/** Appends the marker that the current log calls for. */
async function appendMarker(
  components: RequestComponents,
  session: SessionName,
  { signal, artifacts }: RedoOptions,
  planOf: (events: readonly Event[], id: string) => RewindPlan,
): Promise<Rewound> {
  const { sessions, lease } = components;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    const view = await currentLog(components, session, signal);
    const { record, revision } = view;
    const events = record.events.slice(0, revision);
    const plan = planOf(events, record.key.sessionId);
    const artifactDelta = await artifacts?.(events, plan.to);
    const { draft, shared } = markerOf(components, view, plan, artifactDelta);
    // A session that is created anew meanwhile is another one.
    const handle = sessions.view(session) === undefined ? makeHandle(view) : session;
    try {
      const event = await sessions.append({ session: handle, draft, expectedRevision: revision, lease }, signal);
      return Object.freeze({ event, revision: revision + 1, shared });
    } catch (error) {
      if (!isConflict(error) || attempt === ATTEMPTS) {
        throw explainGuard(error);
      }
    }
    await orAborted(sleep(Math.random() * Math.min(MAX_PAUSE_MS, 2 ** Math.min(attempt, 6))), signal);
  }
}

function markerOf(
  { now }: RequestComponents,
  view: View,
  plan: RewindPlan,
  artifactDelta: Readonly<Record<string, number>> | undefined,
): { readonly draft: EventDraft; readonly shared: readonly string[] } {
  const { restored, shared } = restoringTo(view, plan.to, plan.concerned);
  const actions = defined({ rewindBeforeInvocationId: plan.before, artifactDelta });
  const marker = { author: 'system', invocationId: newId(), writes: restored };
  return { draft: admitEvent({ actions }, now, {}, marker), shared };
}

function isConflict(error: unknown): boolean {
  return isStatepadError(error) && (error.code === 'SESSION_STALE' || error.code === 'STATE_CONFLICT');
}

/** Replaces the error of a store that compares no revisions. */
function explainGuard(error: unknown): unknown {
  const isGuard = isStatepadError(error) && error.path === 'expectedRevision';
  const message = 'a session cannot be rewound: the store does not compare revisions';
  return isGuard ? new StatepadError('INVALID_ARGUMENT', message, { cause: error }) : error;
}
