// Appending over HTTP. The id of an event makes its append idempotent.

import { continueView, forget, shownEvent, type RemoteView } from './handle.js';
import { refresh } from './reading.js';
import { throughHandle } from './through-handle.js';
import { pathTo, PATHS } from '../http/paths.js';
import { extractTempKeys, freezeEvent, type EventDraft } from '../input/event-draft.js';
import { showTemp, tempBefore } from '../input/temp-values.js';
import { defined } from '../model/defined.js';
import { deepFreeze } from '../model/json.js';
import { resultsOf } from '../model/operator-results.js';
import { isTemp } from '../model/scope.js';
import { keyOf, type Calls } from './calls.js';
import type { Signal } from '../async/abort.js';
import type { Event, SessionName, Session } from '../model/types.js';

/** A checked request to append an event. */
export interface AppendCall {
  readonly session: SessionName;
  readonly draft: EventDraft;
  readonly expectedRevision: number | undefined;
}

/** The answer to an append: with the state and the events after a revision where one was given. */
interface Appended
  extends Pick<Session, 'lastUpdateTime' | 'revision' | 'expireTime'>, Partial<Pick<Session, 'state' | 'events'>> {
  readonly event: Event;
}

/** Appends an event, and brings the handle that it comes through up to date. */
export async function append(
  calls: Calls,
  { session, draft, expectedRevision }: AppendCall,
  signal: Signal | undefined,
): Promise<Event> {
  const key = keyOf(session);
  const view = calls.view(session);
  const throughIt = throughHandle(view);
  return await calls.inTurn(key, signal, async () => {
    resolveTemp(draft, view);
    const temp = extractTempKeys(draft);
    const event = freezeEvent(draft);
    const since = view?.revision;
    // The server's clock sets a time that the caller leaves open.
    const body = defined({
      event: draft.timed ? { ...event, timestamp: undefined } : event,
      expectedRevision,
      since,
    });
    const call = { method: 'POST', path: pathTo(PATHS.events, key), body, repeats: 'by content', signal } as const;
    const { json } = await throughIt(async (headers) => await calls.write<Appended>({ ...call, headers }));
    const stored = deepFreeze(json.event);
    if (view === undefined) {
      return stored;
    }
    await showAppended(calls, view, since ?? 0, json);
    showTemp(view, stored, temp);
    forget(view);
    return shownEvent(view, stored);
  });
}

/** Resolves the operators of `temp:` keys, which only the handle knows. */
function resolveTemp({ event, delta, operators = {} }: EventDraft, view: RemoteView | undefined): void {
  const ofTemp = Object.fromEntries(Object.entries(operators).filter(([key]) => isTemp(key)));
  const temp = tempBefore(view, event as unknown as Event);
  Object.assign(
    delta,
    resultsOf(ofTemp, (key) => temp?.get(key)),
  );
}

/** Shows what was stored since a revision. */
async function showAppended(
  calls: Calls,
  view: RemoteView,
  since: number,
  { state, events, lastUpdateTime, revision, expireTime }: Appended,
): Promise<void> {
  const isShown =
    state !== undefined &&
    events !== undefined &&
    continueView(view, { since, events, state, lastUpdateTime, revision, expireTime });
  if (!isShown) {
    // The event is stored, whatever becomes of this: the next append tries again.
    await refresh(calls, view, undefined).catch(() => undefined);
  }
}
