// The view that an ADK session shows: its own state and its own list of events, brought up to date after each append.

import { deltaOf, listed } from './events.js';
import { isDeleted, storedDeletions } from '../model/deletion.js';
import { sameJson, cloneMutable } from '../model/json.js';
import { APP_PREFIX, USER_PREFIX } from '../model/scope.js';
import type { Event, Session } from '@google/adk';
import type { EventWindow } from './current-events.js';
import type { ToolCalls } from './tool-calls.js';
import type { WriteOrder, Writes } from './write-order.js';
import type { Event as Stored, Session as Handle } from '../model/types.js';
import type { View } from '../session/handle.js';

/** A session that ADK holds, with the data for keeping it up to date. */
export interface TrackedSession {
  readonly handle: Handle;
  /** The number of stored events that the session's list has taken over. */
  eventCount: number;
  /** The window over the events that existed when it was read. */
  readonly window: EventWindow;
  /** The values that the service has put into the session's state. Differing values were written by others. */
  readonly shown: Map<string, unknown>;
  /** The order of writes. */
  order: WriteOrder;
  /** By the event's id: the writes of events whose outcome is unknown (`COMMIT_UNKNOWN`). */
  readonly doubtful: Map<string, Writes>;
  /** The calls of tools whose events are not stored yet. */
  readonly calls: ToolCalls;
  /** Settles when the last append is over: appends are queued. */
  queue: Promise<unknown>;
}

/** A session as ADK knows it: its own record and its own list over shared values. */
export function toSession(handle: Handle, events: readonly Stored[]): Session {
  const { id, appName, userId, lastUpdateTime } = handle;
  const state = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of Object.entries(handle.state)) {
    state[key] = cloneMutable(value);
  }
  return { id, appName, userId, state, events: events.map(listed), lastUpdateTime };
}

/** The revision and positions of a view. */
export interface Snapshot {
  readonly length: number;
  readonly versions: View['versions'];
  readonly temp: readonly string[];
}

export function snapshot(view: View): Snapshot {
  return {
    length: view.length,
    versions: view.versions,
    temp: [...(view.temp?.keys() ?? [])],
  };
}

/** The events that were stored since the list was last brought up to date. */
export function takeNews(tracked: TrackedSession, { record, length }: View): readonly Stored[] {
  const news = record.events.slice(tracked.eventCount - record.base, length - record.base);
  tracked.eventCount = length;
  return news;
}

/** Adds newly stored events to ADK's list. ADK may have put the event there already. */
export function showEvents(session: Session, news: readonly Stored[], view: View, event: Event, stored: Stored): void {
  const place = session.events.lastIndexOf(event);
  for (const added of news) {
    if (added === stored && place >= 0) {
      session.events[place] = listed(added);
    } else {
      session.events.push(listed(added));
    }
  }
  session.lastUpdateTime = view.updateTime;
}

/** The same where ADK has appended nothing itself. */
export function showNews(session: Session, news: readonly Stored[], view: View): void {
  news.forEach((added) => session.events.push(listed(added)));
  session.lastUpdateTime = view.updateTime;
}

/** Brings ADK's state up to date. Values that agents have set and not appended yet stay. */
export function showState(
  session: Session,
  tracked: TrackedSession,
  view: View,
  before: Snapshot,
  event: Event,
  stored: Stored,
): void {
  const { temp } = view;
  const delta = deltaOf(event);
  for (const [key, value] of Object.entries(stored.actions.stateDelta)) {
    show(session, tracked, key, isDeletedBy(stored, key) ? undefined : { value }, delta[key]);
  }
  before.temp.filter((key) => !temp?.has(key)).forEach((key) => show(session, tracked, key, undefined, delta[key]));
  temp?.forEach((value, key) => Object.hasOwn(delta, key) && show(session, tracked, key, { value }, delta[key]));
}

/** True when only this event has moved the session and its scopes. */
export function isAlone(view: View, before: Snapshot, stored: Stored): boolean {
  const keys = Object.keys(stored.actions.stateDelta);
  const app = keys.filter((key) => key.startsWith(APP_PREFIX)).length;
  const user = keys.filter((key) => key.startsWith(USER_PREFIX)).length;
  const touched = [keys.length > app + user, app > 0, user > 0];
  const isMoved = view.versions.map((version, index) => {
    return version.movesSince(before.versions[index] ?? version) !== Number(touched[index]);
  });
  return view.length === before.length + 1 && !isMoved.includes(true);
}

function isDeletedBy(event: Stored, key: string): boolean {
  return storedDeletions(event.customMetadata).includes(key);
}

/** Puts a committed value into the session's state, unless a later write waits there for its event. */
function show(
  session: Session,
  { shown }: TrackedSession,
  key: string,
  committed: { readonly value: unknown } | undefined,
  ownValue: unknown,
): void {
  const current = session.state[key];
  const isOwn = current === ownValue || (isDeleted(current) && isDeleted(ownValue));
  const isPending = Object.hasOwn(session.state, key) && !isOwn && current !== shown.get(key);
  if (committed === undefined) {
    shown.delete(key);
  } else {
    shown.set(key, cloneMutable(committed.value));
  }
  if (isPending) {
    return;
  }
  if (committed === undefined) {
    delete session.state[key];
  } else {
    session.state[key] = shown.get(key);
  }
}

/** Shows keys that others have written in the meantime. */
export function showOthers(session: Session, tracked: TrackedSession): void {
  const state = tracked.handle.state;
  for (const [key, value] of Object.entries(state)) {
    if (!sameJson(value, tracked.shown.get(key))) {
      show(session, tracked, key, { value }, undefined);
    }
  }
  for (const key of tracked.shown.keys()) {
    if (!Object.hasOwn(state, key)) {
      show(session, tracked, key, undefined, undefined);
    }
  }
}
