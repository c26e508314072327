/** Handles: frozen, with own enumerable members, their state and their events made when they are first read. */

import { merged } from './scope.mjs';

const getter = (get) => ({
  enumerable: true,
  get() {
    return get(Handle.view(this));
  },
});

/** All handles share them: they have one shape, and nothing is made for a handle but itself. */
const GETTERS = {
  state: getter((view) => (view.state ??= stateOf(view))),
  events: getter((view) => (view.events ??= eventsOf(view))),
  lastUpdateTime: getter((view) => view.updateTime),
  revision: getter((view) => view.revision),
};

class Handle {
  #view;

  constructor(view) {
    const { appName, userId, sessionId } = view.record.key;
    this.#view = view;
    this.id = sessionId;
    this.appName = appName;
    this.userId = userId;
    Object.defineProperty(this, 'state', GETTERS.state);
    Object.defineProperty(this, 'events', GETTERS.events);
    Object.defineProperty(this, 'lastUpdateTime', GETTERS.lastUpdateTime);
    Object.defineProperty(this, 'revision', GETTERS.revision);
    Object.freeze(this);
  }

  static view(handle) {
    return handle.#view;
  }
}

/** A new handle of a record as it is now. `from` and `events` say which events it shows. */
export function handleOf(record, { last = Infinity } = {}) {
  const view = {
    record,
    from: Math.max(0, record.events.length - last),
    versions: [undefined, undefined, undefined],
    length: 0,
    revision: 0,
    updateTime: 0,
    state: undefined,
    events: undefined,
  };
  refresh(view);
  return new Handle(view);
}

/** The view behind a handle. */
export const viewOf = Handle.view;

/** Brings a handle up to date. */
export function refresh(view) {
  const { record, versions } = view;
  for (let index = 0; index < 3; index += 1) versions[index] = record.scopes[index].head;
  view.length = record.events.length;
  view.revision = record.revision;
  view.updateTime = record.updateTime;
  view.state = undefined;
  view.events = undefined;
}

/** One record for all handles that show the same versions. */
function stateOf({ record, versions }) {
  const shown = record.merged;
  if (shown === undefined || shown.versions.some((version, index) => version !== versions[index])) {
    record.merged = { versions: [...versions], state: merged(record.scopes, versions) };
  }
  return record.merged.state;
}

/** One list for all handles that show all of it. */
function eventsOf({ record, from, length }) {
  if (from > 0) return Object.freeze(record.events.slice(from, length));
  if (record.list?.length !== length) record.list = Object.freeze(record.events.slice(0, length));
  return record.list;
}
