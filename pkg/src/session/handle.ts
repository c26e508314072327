// Session handles, and what a handle has to remember so that it neither copies a history nor moves by itself.

import { StatepadError } from '../model/errors.js';
import { deepFreeze } from '../model/json.js';
import { mergeRecords } from '../model/scope.js';
import type { CreationEvent } from './creation.js';
import type { Past } from './history.js';
import type { Event, GetSessionConfig, Json, Session, SessionKey } from '../model/types.js';

/** As much of the core as a cell needs. */
export interface ScopeSource {
  scope_json(scope: number, fullKeys: boolean): string | undefined;
}

const NO_SOURCE: ScopeSource = { scope_json: () => undefined };

/** The values of one scope at one version, parsed when first looked at. */
export class Cell {
  /** How many handles show this version. One that was thrown away counts until the scope moves: that is harmless. */
  holders = 0;
  #record: Readonly<Record<string, Json>> | undefined;
  /** What {@link Cell.keep} has kept, or why it could not. */
  #text: string | undefined;
  #lost: { readonly cause: unknown } | undefined;
  /** How often the scope had moved. */
  version: number;
  readonly #core: ScopeSource;
  readonly #scope: number;

  constructor(core: ScopeSource, scope: number, version: number) {
    this.#core = core;
    this.#scope = scope;
    this.version = version;
  }

  /** A cell for values that stay as they are. */
  static of(values: Readonly<Record<string, Json>>): Cell {
    const cell = new Cell(NO_SOURCE, 0, 0);
    cell.#record = values;
    return cell;
  }

  /** The values under their full keys. */
  record(): Readonly<Record<string, Json>> {
    if (this.#lost !== undefined) {
      throw this.#lost.cause;
    }
    if (this.#record === undefined) {
      const text = this.#text ?? this.#core.scope_json(this.#scope, true) ?? '{}';
      this.#record = deepFreeze(JSON.parse(text) as Record<string, Json>);
      this.#text = undefined;
    }
    return this.#record;
  }

  /** Shows the next version: for the one holder that moves the scope on. */
  moveOn(): void {
    this.version += 1;
    this.#record = undefined;
    this.#text = undefined;
  }

  /**
   * Keeps this version for those who show it, before the scope moves on. Where the core has no memory to tell it, they are
   * told so when they look: it must not keep a session from being deleted.
   */
  keep(): void {
    if (this.#record === undefined && this.#text === undefined && this.holders > 0) {
      try {
        this.#text = this.#core.scope_json(this.#scope, true) ?? '{}';
      } catch (cause) {
        this.#lost = { cause };
      }
    }
  }
}

/** The number of a session that is not in the core. */
export const OUT = -1;

/** What the JavaScript side knows of a session: the event bodies, and what a list shows. */
export interface SessionRecord {
  /** Whose it is. */
  readonly owner: object;
  /** The session's number in the core; {@link OUT} when only handles know it. */
  number: number;
  readonly key: SessionKey;
  /** Tells it from an earlier session of the same key: what a store calls `created`. */
  readonly created: string;
  /** Its own scope, its app's, its user's. */
  scopes: readonly [number, number, number];
  /** The last events; those before them are only in the store. */
  events: Event[];
  /** How many events there are before these. */
  base: number;
  revision: number;
  /** The id of the event at this revision, where it is known. */
  last: string | undefined;
  updateTime: number;
  deleted: boolean;
  /** What it began with: absent until somebody asks its store, `'unknown'` when the store does not have it. */
  creation: CreationEvent | 'unknown' | undefined;
  /** What it was before, for those who have asked. */
  past: Past | undefined;
  /** The events as a frozen list, for all handles that show all of them. */
  list: readonly Event[] | undefined;
  /** The state that was made last, and of what, for all handles that show the same. */
  merged: { readonly parts: readonly unknown[]; readonly state: Readonly<Record<string, Json>> } | undefined;
}

/** What a handle shows. */
export interface View {
  record: SessionRecord;
  /** Which events of those that were there when the session was read; later ones all show. */
  readonly config: GetSessionConfig | undefined;
  /** How many events the session had when it was read. */
  readLength: number;
  /** Those of them that it shows, where they had to be read for it alone. */
  given: readonly Event[] | undefined;
  readonly cells: [Cell, Cell, Cell];
  length: number;
  revision: number;
  updateTime: number;
  /** The `temp:` keys of the current invocation. */
  temp: Map<string, Json> | undefined;
  /** The invocations that this handle has seen, as far as it remembers them, and the last of them. */
  invocations: Set<string> | undefined;
  invocation: string | undefined;
  state: Readonly<Record<string, Json>> | undefined;
  events: readonly Event[] | undefined;
}

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
    // A console shows the values, not that they are computed.
    Object.defineProperty(this.prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value(this: Handle) {
        const { id, appName, userId, state, events, lastUpdateTime, revision } = this;
        return { id, appName, userId, state, events, lastUpdateTime, revision };
      },
    });
    Object.defineProperty(this.prototype, 'constructor', { value: Object });
  }
}

/** One getter for all handles: a closure of its own for each would cost more than the rest of a read. */
function member(name: keyof Session, read: (view: View) => unknown): PropertyDescriptor {
  return {
    enumerable: true,
    get(this: Handle): unknown {
      return read(Handle.view(this) as View);
    },
    // Sloppy scripts are told, too.
    set(): never {
      throw new StatepadError('INVALID_ARGUMENT', `${name} is read-only: append an event`, { path: name });
    },
  };
}

const STATE = member('state', (view) => (view.state ??= stateOf(view)));
const EVENTS = member('events', (view) => (view.events ??= eventsOf(view)));
const LAST_UPDATE_TIME = member('lastUpdateTime', (view) => view.updateTime);
const REVISION = member('revision', (view) => view.revision);

/** Makes a handle. */
export function makeHandle(view: View): Session {
  return new Handle(view);
}

/** The view behind a handle, or `undefined` for any other object. */
export function viewOf(session: unknown): View | undefined {
  return Handle.view(session);
}

/** The merged state that a view shows, with the `temp:` keys of its invocation. */
export function stateOf({ cells, record, temp }: View): Readonly<Record<string, Json>> {
  const parts = cells.map((cell) => cell.record());
  if (temp === undefined && record.merged?.parts.every((part, index) => part === parts[index])) {
    return record.merged.state;
  }
  const state = mergeRecords(parts);
  temp?.forEach((value, key) => {
    state[key] = value;
  });
  Object.freeze(state);
  if (temp === undefined) {
    record.merged = { parts, state };
  }
  return state;
}

/** The events that a view shows. */
export function eventsOf(view: View): readonly Event[] {
  const { record, config, readLength, length, given } = view;
  const all = record.events;
  if (config?.numRecentEvents === undefined && config?.afterTimestamp === undefined) {
    if (record.list?.length !== length) {
      record.list = Object.freeze(all.slice(0, length));
    }
    return record.list;
  }
  const { numRecentEvents = Infinity, afterTimestamp } = config;
  const [read, shown] = [readLength - record.base, length - record.base];
  let window = afterTimestamp === undefined ? given : (given ?? all.slice(0, read).filter((event) => event.timestamp >= afterTimestamp));
  window = (window ?? all).slice(Math.max(0, (window?.length ?? read) - numRecentEvents), window?.length ?? read);
  return Object.freeze(window.concat(all.slice(read, shown)));
}
