// Session handles, and what a handle has to remember so that it neither copies a history nor moves by itself.

import type { Core } from '../wasm/statepad.js';
import { deepFreeze } from './freeze.js';
import type { Event, GetSessionConfig, Json, Session, SessionKey } from './types.js';

/** The values of one scope at one version, parsed when first looked at. */
export class Cell {
  /** How many handles show this version. One that was thrown away counts until the scope moves: that is harmless. */
  holders = 0;
  #record: Readonly<Record<string, Json>> | undefined;
  /** How often the scope had moved. */
  readonly version: number;
  readonly #core: Core;
  readonly #scope: number;

  constructor(core: Core, scope: number, version: number) {
    this.#core = core;
    this.#scope = scope;
    this.version = version;
  }

  /** The values under their full keys. Must first be called before the scope moves on. */
  record(): Readonly<Record<string, Json>> {
    this.#record ??= deepFreeze(JSON.parse(this.#core.scope_json(this.#scope, true) ?? '{}') as Record<string, Json>);
    return this.#record;
  }

  /** Keeps this version for those who show it, before the scope moves on. `leaving` is one holder that does not need it. */
  keep(leaving: boolean): void {
    if (this.holders > (leaving ? 1 : 0)) {
      this.record();
    }
  }
}

/** What the JavaScript side knows of a session: the event bodies, and what a list shows. */
export interface SessionRecord {
  /** Whose it is. */
  readonly owner: object;
  /** The session's number in the core. */
  readonly number: number;
  readonly key: SessionKey;
  /** Its own scope, its app's, its user's. */
  readonly scopes: readonly [number, number, number];
  readonly events: Event[];
  revision: number;
  updateTime: number;
  deleted: boolean;
  /** The events as a frozen list, for all handles that show all of them. */
  list: readonly Event[] | undefined;
}

/** What a handle shows. */
export interface View {
  readonly record: SessionRecord;
  /** Which events of those that were there when the session was read; later ones all show. */
  readonly config: GetSessionConfig | undefined;
  /** How many events were there when the session was read; -1 for rows of a list, which show none. */
  readonly readLength: number;
  cells: readonly [Cell, Cell, Cell];
  length: number;
  revision: number;
  updateTime: number;
  /** The `temp:` keys of the current invocation. */
  temp: Map<string, Json> | undefined;
  /** The invocations that this handle has seen a user begin, in order. */
  invocations: Set<string> | undefined;
  state: Readonly<Record<string, Json>> | undefined;
  events: readonly Event[] | undefined;
}

const views = new WeakMap<object, View>();

/** The view behind a handle, or `undefined` for any other object. */
export function viewOf(session: object): View | undefined {
  return views.get(session);
}

/** Makes a handle. */
export function makeHandle(view: View): Session {
  const { appName, userId, sessionId } = view.record.key;
  const handle: Session = Object.freeze({
    __proto__: shown,
    id: sessionId,
    appName,
    userId,
    get state() {
      return (view.state ??= stateOf(view));
    },
    get events() {
      return (view.events ??= eventsOf(view));
    },
    get lastUpdateTime() {
      return view.updateTime;
    },
    get revision() {
      return view.revision;
    },
  });
  views.set(handle, view);
  return handle;
}

/** What a console shows of a handle: its values, not that they are computed. */
const shown = Object.create(Object.prototype, {
  [Symbol.for('nodejs.util.inspect.custom')]: {
    value(this: Session) {
      return { ...this };
    },
  },
}) as object;

function stateOf(view: View): Readonly<Record<string, Json>> {
  const state = Object.create(null) as Record<string, Json>;
  for (const cell of view.cells) {
    Object.assign(state, cell.record());
  }
  view.temp?.forEach((value, key) => {
    state[key] = value;
  });
  return Object.freeze(state);
}

const NONE: readonly Event[] = Object.freeze([]);

function eventsOf(view: View): readonly Event[] {
  const { record, config, readLength, length } = view;
  if (readLength < 0) {
    return NONE;
  }
  const all = record.events;
  if (config?.numRecentEvents === undefined && config?.afterTimestamp === undefined) {
    if (record.list?.length !== length) {
      record.list = Object.freeze(all.slice(0, length));
    }
    return record.list;
  }
  const { numRecentEvents = Infinity, afterTimestamp } = config;
  let window = afterTimestamp === undefined ? undefined : all.slice(0, readLength).filter((event) => event.timestamp >= afterTimestamp);
  window = (window ?? all).slice(Math.max(0, (window?.length ?? readLength) - numRecentEvents), window?.length ?? readLength);
  return Object.freeze(window.concat(all.slice(readLength, length)));
}
