/**
 * What plain JavaScript could do with the same design, so that the price of the WebAssembly boundary is known: events
 * admitted in one pass, frozen and shared by all readers; scopes in Maps; a handle that makes its state and its events
 * when they are first read. It has what is measured and no more: no list, no stores, no artifacts.
 */

const SCOPES = ['session', 'app', 'user'];

/** The values of one scope. A Map that handles still show is copied before it is written to. */
class Scope {
  values = new Map();
  holders = 0;

  /** Hands out the values as they are now. */
  hold() {
    this.holders += 1;
    return this.values;
  }

  /** The Map to write to. `own` is what the writer itself shows: it moves on with the write. */
  writable(own) {
    if (this.holders > (own === this.values ? 1 : 0)) {
      this.values = new Map(this.values);
    }
    this.holders = 0;
    return this.values;
  }
}

/** The same calls as `SessionService`, as far as they are measured. */
export class PureSessionService {
  #apps = new Map();

  async createSession({ appName, userId, sessionId = crypto.randomUUID() }) {
    const app = child(this.#apps, appName, () => ({ scope: new Scope(), users: new Map() }));
    const user = child(app.users, userId, () => ({ scope: new Scope(), sessions: new Map() }));
    if (user.sessions.has(sessionId)) {
      throw new Error(`session "${sessionId}" exists`);
    }
    const record = {
      key: { appName, userId, sessionId },
      scopes: [new Scope(), app.scope, user.scope],
      events: [],
      ids: new Set(),
      revision: 0,
      updateTime: Date.now(),
      list: undefined,
    };
    user.sessions.set(sessionId, record);
    return this.#handle(record);
  }

  async getSession(key) {
    const record = this.#find(key);
    return record && this.#handle(record);
  }

  async deleteSession({ appName, userId, sessionId }) {
    this.#apps.get(appName)?.users.get(userId)?.sessions.delete(sessionId);
  }

  async appendEvent({ session, event }) {
    const view = Handle.view(session);
    const { record } = view;
    if (record.ids.has(event.id)) {
      throw new Error(`event "${event.id}" exists`);
    }
    const stored = admit(event, []);
    for (const [index, values] of split(stored.actions.stateDelta).entries()) {
      if (values !== undefined) {
        const target = record.scopes[index].writable(view.maps[index]);
        for (const [key, value] of values) target.set(key, value);
      }
    }
    record.ids.add(stored.id);
    record.events.push(stored);
    record.revision += 1;
    record.updateTime = stored.timestamp;
    refresh(view);
    return stored;
  }

  #find({ appName, userId, sessionId }) {
    return this.#apps.get(appName)?.users.get(userId)?.sessions.get(sessionId);
  }

  #handle(record) {
    const view = {
      record,
      maps: undefined,
      length: 0,
      revision: 0,
      updateTime: 0,
      state: undefined,
      events: undefined,
    };
    refresh(view);
    return new Handle(view);
  }
}

/** The getters that all handles share: they have one shape, and nothing is made for a handle but itself. */
const getter = (get) => ({
  enumerable: true,
  get() {
    return get(Handle.view(this));
  },
});
const GETTERS = {
  state: getter((view) => (view.state ??= stateOf(view.maps))),
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

function refresh(view) {
  const { record } = view;
  view.maps = record.scopes.map((scope) => scope.hold());
  view.length = record.events.length;
  view.revision = record.revision;
  view.updateTime = record.updateTime;
  view.state = undefined;
  view.events = undefined;
}

function stateOf(maps) {
  const state = Object.create(null);
  for (const values of maps) {
    for (const [key, value] of values) state[key] = value;
  }
  return Object.freeze(state);
}

/** One list for all handles that show all of it. */
function eventsOf({ record, length }) {
  if (record.list?.length !== length) {
    record.list = Object.freeze(record.events.slice(0, length));
  }
  return record.list;
}

function split(delta) {
  const parts = [undefined, undefined, undefined];
  for (const key of Object.keys(delta)) {
    if (key.startsWith('temp:')) continue;
    const scope = SCOPES.indexOf(key.slice(0, Math.max(0, key.indexOf(':'))));
    (parts[Math.max(0, scope)] ??= []).push([key, delta[key]]);
  }
  return parts;
}

function child(map, key, make) {
  let inner = map.get(key);
  if (inner === undefined) {
    inner = make();
    map.set(key, inner);
  }
  return inner;
}

/** Checks, copies and freezes in one pass: what JSON would lose or change is an error that names its place. */
function admit(value, trail) {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? value : refuse(trail, 'has a lone surrogate');
    case 'number':
      return Number.isFinite(value) ? value + 0 : refuse(trail, `is ${value}`);
    case 'boolean':
      return value;
    case 'object':
      return value === null ? null : admitObject(value, trail);
    default:
      return refuse(trail, `is a ${typeof value}`);
  }
}

function admitObject(value, trail) {
  if (trail.length > 100) refuse(trail, 'is nested too deep');
  if (Array.isArray(value)) {
    const items = new Array(value.length);
    for (let index = 0; index < items.length; index += 1) {
      trail.push(index);
      items[index] = admit(value[index], trail);
      trail.pop();
    }
    return Object.freeze(items);
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) refuse(trail, 'is an instance of a class');
  const copied = {};
  for (const key of Object.keys(value)) {
    if (value[key] === undefined) continue;
    if (key === '__proto__' || !key.isWellFormed()) refuse(trail, `has a member ${JSON.stringify(key)}`);
    trail.push(key);
    copied[key] = admit(value[key], trail);
    trail.pop();
  }
  return Object.freeze(copied);
}

function refuse(trail, what) {
  throw new TypeError(`${trail.join('.')} ${what}: it is not JSON`);
}

const PLACEHOLDER = /\{((?:app:|user:|temp:)?[\p{ID_Start}_][\p{ID_Continue}]*)(\?)?\}/gu;

/** Compiles a template to texts and keys. Answers with a function that renders it. */
export function compile(text) {
  const segments = [];
  let end = 0;
  for (const match of text.matchAll(PLACEHOLDER)) {
    segments.push(text.slice(end, match.index), { key: match[1], optional: match[2] !== undefined });
    end = match.index + match[0].length;
  }
  segments.push(text.slice(end));
  return (state) => {
    let out = '';
    for (const segment of segments) {
      out += typeof segment === 'string' ? segment : valueText(segment, state);
    }
    return out;
  };
}

function valueText({ key, optional }, state) {
  if (!Object.hasOwn(state, key)) {
    if (optional) return '';
    throw new Error(`the key "${key}" is missing`);
  }
  const value = state[key];
  return typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);
}

/** Compiles and renders at once, with the same context as ADK's function. */
export async function inject(text, { invocationContext }) {
  return compile(text)(invocationContext.session.state);
}
