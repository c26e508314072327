// Session handles. A handle holds a view, so that it neither copies the events nor changes by itself.

import { eventsInWindow, showsAll, type EventWindow } from './event-window.js';
import { MergedState } from './merged-state.js';
import { handleKind } from '../model/handle-kind.js';
import type { InvocationView } from '../input/temp-values.js';
import type { LeaseHold } from '../lease/lease-hold.js';
import type { SessionRecord } from './record.js';
import type { SessionVersions } from './scope-version.js';
import type { Event, Json } from '../model/types.js';

/** The internal side of a handle. */
export interface View extends InvocationView {
  record: SessionRecord;
  /** The window over the events at the time of the read; later events are all shown. */
  readonly window: EventWindow;
  /** The number of events at the time of the read. */
  readLength: number;
  /** The events of the window, where they were read for this handle alone. */
  windowEvents: readonly Event[] | undefined;
  versions: SessionVersions;
  length: number;
  revision: number;
  updateTime: number;
  /** The time at which the session expires, in milliseconds since the epoch. */
  expires: number | undefined;
  /** The lease of writes through the handle. */
  lease: LeaseHold | undefined;
  state: Readonly<Record<string, Json>> | undefined;
  events: readonly Event[] | undefined;
}

const HANDLES = handleKind<View>({
  key: (view) => view.record.key,
  state: (view) => (view.state ??= stateOf(view)),
  events: (view) => (view.events ??= eventsOf(view)),
  lastUpdateTime: (view) => view.updateTime,
  revision: (view) => view.revision,
  expireTime: (view) => view.expires,
});

/** Creates a handle. */
export const makeHandle = HANDLES.make;

/** The view behind a handle, or `undefined` for any other object. */
export const viewOf = HANDLES.viewOf;

/** The merged state that a view shows, with the `temp:` keys of its invocation. */
export function stateOf({ versions, record, temp }: View): Readonly<Record<string, Json>> {
  return (record.merged ??= new MergedState()).of(versions, temp);
}

/** The events that a view shows: the window over those at the time of the read, and all later ones. */
export function eventsOf({ record, window, readLength, length, windowEvents }: View): readonly Event[] {
  const all = record.events;
  if (showsAll(window)) {
    if (record.list?.length !== length) {
      record.list = Object.freeze(all.slice(0, length));
    }
    return record.list;
  }
  const read = readLength - record.base;
  const shown = windowEvents ?? eventsInWindow(all, read, window);
  return Object.freeze(shown.concat(all.slice(read, length - record.base)));
}
