// The sessions that a client hands out. A handle shows what the server has answered last for it.

import { handleKind } from '../model/handle-kind.js';
import { deepFreeze, put } from '../model/json.js';
import { mergeRecords } from '../model/scope.js';
import type { InvocationView } from '../input/temp-values.js';
import type { LeaseHold } from '../lease/lease-hold.js';
import type { Event, Json, Session, SessionKey } from '../model/types.js';

type State = Readonly<Record<string, Json>>;

/** The internal side of a handle. */
export interface RemoteView extends InvocationView {
  /** The client that has handed it out. */
  readonly owner: object;
  readonly key: SessionKey;
  /** The creation id, where the server has told it: a session that is created anew has another one. */
  readonly created: string | undefined;
  /** The stored values. */
  values: State;
  /** The events that it shows. */
  readonly log: Event[];
  updateTime: number;
  revision: number;
  /** The time when the session expires; absent where it does not. */
  expireTime: number | undefined;
  /** The lease of writes through the handle. */
  lease: LeaseHold | undefined;
  /** The proofs of its leases for the server, by their tokens. */
  readonly proofs: Map<number, string>;
  /** The state with `temp:` keys, and the list of events, once they were asked for. */
  state: State | undefined;
  events: readonly Event[] | undefined;
}

const HANDLES = handleKind<RemoteView>({
  key: (view) => view.key,
  state: (view) => (view.state ??= stateOf(view)),
  events: (view) => (view.events ??= Object.freeze(view.log.slice())),
  lastUpdateTime: (view) => view.updateTime,
  revision: (view) => view.revision,
  expireTime: (view) => view.expireTime,
});

/** The stored values, and over them the `temp:` values of the current invocation. */
function stateOf({ values, temp }: RemoteView): State {
  if (temp === undefined || temp.size === 0) {
    return values;
  }
  const state = mergeRecords([values]);
  temp.forEach((value, key) => put(state, key, value));
  return Object.freeze(state);
}

/** A handle of a session in an answer. */
export function handleOf(owner: object, session: Session, created: string | undefined): Session {
  const { appName, userId, id: sessionId, state, events, lastUpdateTime, revision, expireTime } = deepFreeze(session);
  return HANDLES.make({
    owner,
    key: { appName, userId, sessionId },
    created,
    values: state,
    log: [...events],
    updateTime: lastUpdateTime,
    revision,
    expireTime,
    temp: undefined,
    invocations: undefined,
    invocation: undefined,
    lease: undefined,
    proofs: new Map(),
    state: undefined,
    events: undefined,
  });
}

/** The view behind a handle of a client, or `undefined` for any other object. */
export function viewOf(owner: object, session: unknown): RemoteView | undefined {
  const view = HANDLES.viewOf(session);
  return view?.owner === owner ? view : undefined;
}

/** The session at a revision, with the events after an earlier one. */
export interface LaterSession {
  readonly since: number;
  readonly events: readonly Event[];
  readonly state: State;
  readonly lastUpdateTime: number;
  readonly revision: number;
  readonly expireTime?: number | undefined;
}

/**
 * Brings a view up to date. Answers may arrive in another order than their requests: an earlier one changes nothing.
 * Returns false where the events do not continue those of the view.
 */
export function continueView(view: RemoteView, later: LaterSession): boolean {
  const { since, events, revision } = later;
  if (since > view.revision || since + events.length !== revision) {
    return false;
  }
  if (revision >= view.revision) {
    view.log.push(...deepFreeze(events.slice(view.revision - since)));
    show(view, later);
  }
  return true;
}

/** Shows a session in the place of the one that a view has shown, where its log does not continue that one. */
export function replaceView(view: RemoteView, session: Session): void {
  view.log.splice(0, view.log.length, ...deepFreeze(session.events));
  show(view, session);
}

function show(
  view: RemoteView,
  { state, lastUpdateTime, revision, expireTime }: Omit<LaterSession, 'since' | 'events'>,
): void {
  view.values = deepFreeze(state);
  view.updateTime = lastUpdateTime;
  view.revision = revision;
  view.expireTime = expireTime;
  forget(view);
}

/** The event of an answer as a view shows it: one object, as in a service. */
export function shownEvent({ log }: RemoteView, event: Event): Event {
  return log.findLast(({ id }) => id === event.id) ?? event;
}

/** Makes the state and the list of events anew at their next access. */
export function forget(view: RemoteView): void {
  view.state = undefined;
  view.events = undefined;
}
