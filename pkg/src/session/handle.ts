// Session handles. A handle holds a view, so that it neither copies the events nor changes by itself.

import { eventsInWindow, showsAll, type EventWindow } from './event-window.js';
import { MergedState } from './merged-state.js';
import { StatepadError } from '../model/errors.js';
import { isObject } from '../model/value-types.js';
import type { LeaseHold } from './lease-hold.js';
import type { SessionRecord } from './record.js';
import type { SessionVersions } from './scope-version.js';
import type { Event, Json, Session } from '../model/types.js';

/** The internal side of a handle. */
export interface View {
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
  /** The `temp:` keys of the current invocation. */
  temp: Map<string, Json> | undefined;
  /** The invocations that this handle has seen, the latest `MAX_INVOCATIONS`, and the last of them. */
  invocations: Set<string> | undefined;
  invocation: string | undefined;
  /** The lease of writes through the handle. */
  lease: LeaseHold | undefined;
  state: Readonly<Record<string, Json>> | undefined;
  events: readonly Event[] | undefined;
}

/** Marks the handles of all copies of the package. */
const brand = Symbol.for('statepad.session');

/** The handle that users hold: frozen, with own enumerable members, so that it can be spread, printed and cloned. */
class Handle implements Session {
  readonly #view: View;
  readonly id: string;
  readonly appName: string;
  readonly userId: string;
  declare readonly state: Session['state'];
  declare readonly events: Session['events'];
  declare readonly lastUpdateTime: number;
  declare readonly revision: number;

  constructor(view: View) {
    const { appName, userId, sessionId } = view.record.key;
    this.#view = view;
    this.id = sessionId;
    this.appName = appName;
    this.userId = userId;
    Object.defineProperty(this, 'state', STATE);
    Object.defineProperty(this, 'events', EVENTS);
    Object.defineProperty(this, 'lastUpdateTime', LAST_UPDATE_TIME);
    Object.defineProperty(this, 'revision', REVISION);
    Object.freeze(this);
  }

  static view(session: unknown): View | undefined {
    return typeof session === 'object' && session !== null && #view in session ? session.#view : undefined;
  }

  static {
    // A console shows the values, not the getters.
    Object.defineProperty(this.prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value(this: Handle) {
        const { id, appName, userId, state, events, lastUpdateTime, revision } = this;
        return { id, appName, userId, state, events, lastUpdateTime, revision };
      },
    });
    Object.defineProperty(this.prototype, 'constructor', { value: Object });
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}

/** One getter for all handles: a closure for each would cost more than the rest of a read. */
function member(name: keyof Session, read: (view: View) => unknown): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: Handle): unknown {
      return read(Handle.view(this) as View);
    },
    // Sloppy scripts would ignore a write to a getter.
    set(): never {
      throw new StatepadError('INVALID_ARGUMENT', `${name} is read-only: append an event`, { path: name });
    },
  };
}

const STATE = member('state', (view) => (view.state ??= stateOf(view)));
const EVENTS = member('events', (view) => (view.events ??= eventsOf(view)));
const LAST_UPDATE_TIME = member('lastUpdateTime', (view) => view.updateTime);
const REVISION = member('revision', (view) => view.revision);

/** Creates a handle. */
export function makeHandle(view: View): Session {
  return new Handle(view);
}

/** The view behind a handle, or `undefined` for any other object. */
export function viewOf(session: unknown): View | undefined {
  return Handle.view(session);
}

/** True for a handle, also one of another copy of the package. */
export function isAnyHandle(session: unknown): boolean {
  return isObject(session) && brand in session;
}

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
