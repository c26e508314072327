// Sessions in memory, as a store has them: the meaning of every operation of a store, in its plainest form.

import { StoreError } from '../../store-error.js';
import { listOrder, type Place } from './order.js';
import { emptyValues, isEmpty, ScopeValues } from './values.js';
import type {
  Change,
  Committed,
  Delta,
  Guard,
  ListQuery,
  Loaded,
  LoadedScope,
  LoadQuery,
  Page,
  Pos,
  Rev,
  Row,
  ScopeName,
  StoredEvent,
  Values,
} from '../../store.js';
import type { SessionKey } from '../../types.js';

interface Event {
  readonly data: string;
  readonly time: number;
}

/** A session of the {@link Tables}. */
interface Session {
  readonly key: SessionKey;
  readonly created: string;
  time: number;
  readonly values: ScopeValues;
  /** What it began with, if its creation has said. */
  readonly beginning: Event | undefined;
  readonly events: Event[];
  /** The place of each event, by its id. */
  readonly ids: Map<string, number>;
}

/** The values of an app, or of a user in it. */
interface Scope {
  pos: number;
  readonly values: ScopeValues;
  /** The updates that have been made here. */
  readonly updates: Set<string>;
}

/** Where a session and its scopes are: a guard that holds. */
export interface Where extends Guard {
  readonly rev: Rev;
  readonly pos: Pos;
}

/** What names an app, or a user in it. */
interface Home {
  readonly appName: string;
  readonly userId?: string | undefined;
}

interface User extends Scope {
  readonly sessions: Map<string, Session>;
}

interface App extends Scope {
  readonly users: Map<string, User>;
}

const NOTHING: Values = Object.freeze(emptyValues());
/** What nobody has written to yet. */
const UNTOUCHED: Pick<Scope, 'pos' | 'values'> = { pos: 0, values: new ScopeValues() };
/** How many updates of a scope are remembered: those who send one again do it soon. */
const REMEMBERED = 10_000;

/** All sessions of a store. A change is first checked, then made: between the two it can be written down elsewhere. */
export class Tables {
  readonly #apps = new Map<string, App>();

  /** What is known of a change that has been made before. Throws when it cannot be made. Changes nothing. */
  check(change: Change): Committed | undefined {
    const { id, kind, key, guard = {} } = change;
    const session = key.sessionId === undefined ? undefined : this.#session(key as SessionKey);
    if (kind === 'create') {
      if (session !== undefined && session.created !== id) {
        throw new StoreError('exists', `session "${key.sessionId ?? ''}" exists already`);
      }
      if (session !== undefined) {
        return this.#duplicate(key, session);
      }
    } else if (kind === 'append') {
      if (session === undefined || (guard.created !== undefined && guard.created !== session.created)) {
        throw new StoreError('not-found', `session "${key.sessionId ?? ''}" is not there`);
      }
      const place = session.ids.get(id);
      if (place !== undefined) {
        return { ...this.#duplicate(key, session), data: session.events[place]?.data ?? '' };
      }
    } else if (this.#find(key)?.updates.has(id)) {
      return { rev: 0, prev: null, pos: this.#pos(key), duplicate: true };
    }
    this.#guard(key, session, guard);
    return undefined;
  }

  /** Makes a change that has been checked. */
  apply({ id, kind, key, time, event, delta }: Change): Committed {
    const app = this.#ensureApp(key.appName);
    const user = key.userId === undefined ? undefined : ensureUser(app, key.userId);
    move(app, delta.app);
    if (user !== undefined) {
      move(user, delta.user);
    }
    const pos = { app: app.pos, user: user?.pos ?? 0 };
    if (user === undefined || key.sessionId === undefined) {
      remember((user ?? app).updates, id);
      return { rev: 0, prev: null, pos };
    }
    if (kind === 'create') {
      const { appName, userId, sessionId } = key as SessionKey;
      const values = new ScopeValues();
      values.apply(delta.session ?? {});
      const beginning = event && { data: event.data, time: event.time };
      const whole = { appName, userId, sessionId };
      user.sessions.set(sessionId, { key: whole, created: id, time, values, beginning, events: [], ids: new Map() });
      return { rev: 0, prev: null, pos };
    }
    const session = user.sessions.get(key.sessionId) as Session;
    session.time = time;
    session.values.apply(delta.session ?? {});
    session.ids.set(id, session.events.length);
    const rev = session.events.push({ data: event?.data ?? '', time: event?.time ?? time });
    return { rev, prev: rev - 1, pos };
  }

  /** Where a session and its scopes are. A log keeps it beside each change: what has got lost shows by it. */
  where(key: Change['key']): Where {
    const session = key.sessionId === undefined ? undefined : this.#session(key as SessionKey);
    return { ...(session && { created: session.created }), rev: session?.events.length ?? 0, pos: this.#pos(key) };
  }

  /** See `SessionStore.load`. */
  load(key: SessionKey, { events = {}, known = {} }: LoadQuery): Loaded | null {
    const session = this.#session(key);
    if (session === undefined) {
      return null;
    }
    const { created, time } = session;
    const rev = session.events.length;
    const [app, user] = [this.#home({ appName: key.appName }), this.#home(key)];
    return {
      created,
      rev,
      time,
      pos: { app: app.pos, user: user.pos },
      state: {
        ...(known.created === created && known.rev === rev ? {} : { session: session.values.record() }),
        ...(known.pos?.app === app.pos ? {} : { app: app.values.record() }),
        ...(known.pos?.user === user.pos ? {} : { user: user.values.record() }),
      },
      events: eventsOf(session, events),
    };
  }

  /** See `SessionStore.list`. */
  list(query: ListQuery): Page {
    const app = this.#apps.get(query.app);
    const users = query.user === undefined ? [...(app?.users.values() ?? [])] : [app?.users.get(query.user)];
    const sessions = users.flatMap((user) => [...(user?.sessions.values() ?? [])]);
    const order = listOrder(query);
    const sorted = sessions.sort((a, b) => order(placeOf(a), placeOf(b)));
    const { after, offset = 0, limit = Infinity } = query;
    const start = after === undefined ? offset : sorted.findIndex((session) => order(placeOf(session), after) > 0);
    const page = start < 0 ? [] : sorted.slice(start, start + limit);
    return {
      rows: page.map(({ key, created, time, values, events }): Row => ({ key, created, rev: events.length, time, state: values.record() })),
      app: app?.values.record() ?? NOTHING,
      users: new Map(page.map(({ key: { userId } }) => [userId, app?.users.get(userId)?.values.record() ?? NOTHING])),
      total: sorted.length,
    };
  }

  /** See `SessionStore.remove`. Says whether it was there. */
  remove({ appName, userId, sessionId }: SessionKey): boolean {
    return this.#apps.get(appName)?.users.get(userId)?.sessions.delete(sessionId) ?? false;
  }

  /** See `SessionStore.loadScope`. */
  scope({ app, user }: ScopeName): LoadedScope {
    const { pos, values } = this.#home({ appName: app, userId: user });
    return { pos, state: values.record() };
  }

  /** See `SessionStore.removeScope`. */
  removeScope({ app, user }: ScopeName): void {
    const scope = this.#find({ appName: app, userId: user });
    if (scope !== undefined) {
      scope.values.clear();
      scope.pos += 1;
    }
  }

  #session({ appName, userId, sessionId }: SessionKey): Session | undefined {
    return this.#apps.get(appName)?.users.get(userId)?.sessions.get(sessionId);
  }

  /** An app, or a user in it. */
  #find({ appName, userId }: Home): Scope | undefined {
    const app = this.#apps.get(appName);
    return userId === undefined ? app : app?.users.get(userId);
  }

  #home(home: Home): Pick<Scope, 'pos' | 'values'> {
    return this.#find(home) ?? UNTOUCHED;
  }

  #pos({ appName, userId }: Change['key']): Pos {
    return { app: this.#home({ appName }).pos, user: userId === undefined ? 0 : this.#home({ appName, userId }).pos };
  }

  #duplicate(key: Change['key'], { events: { length: rev } }: Session): Committed {
    return { rev, prev: rev, pos: this.#pos(key), duplicate: true };
  }

  #guard(key: Change['key'], session: Session | undefined, { rev, pos, keys }: Guard): void {
    const app = this.#home({ appName: key.appName });
    const user = key.userId === undefined ? UNTOUCHED : this.#home(key);
    const actual = session?.events.length ?? 0;
    if (rev !== undefined && rev !== actual) {
      throw new StoreError('conflict', `the session is at revision ${actual}, not at the expected ${rev}`, { actual });
    }
    const isMoved = (pos?.app ?? app.pos) !== app.pos || (pos?.user ?? user.pos) !== user.pos;
    const parts = [
      [app.values, keys?.app],
      [user.values, keys?.user],
      [session?.values ?? UNTOUCHED.values, keys?.session],
    ] as const;
    if (isMoved || !parts.every(([values, expected]) => values.holds(expected ?? {}))) {
      throw new StoreError('conflict', 'the state is not what it was expected to be');
    }
  }

  #ensureApp(name: string): App {
    let app = this.#apps.get(name);
    if (app === undefined) {
      app = { pos: 0, values: new ScopeValues(), updates: new Set(), users: new Map() };
      this.#apps.set(name, app);
    }
    return app;
  }
}

function ensureUser(app: App, name: string): User {
  let user = app.users.get(name);
  if (user === undefined) {
    user = { pos: 0, values: new ScopeValues(), updates: new Set(), sessions: new Map() };
    app.users.set(name, user);
  }
  return user;
}

function placeOf({ key: { sessionId, userId }, time }: Session): Place {
  return { time, sessionId, userId };
}

function move(scope: Scope, delta: Delta | undefined): void {
  if (delta !== undefined && !isEmpty(delta)) {
    scope.values.apply(delta);
    scope.pos += 1;
  }
}

/** Forgets the oldest of too many. */
function remember(ids: Set<string>, id: string): void {
  ids.add(id);
  if (ids.size > REMEMBERED) {
    for (const oldest of ids) {
      ids.delete(oldest);
      break;
    }
  }
}

function eventsOf({ beginning, events }: Session, query: NonNullable<LoadQuery['events']>): StoredEvent[] {
  const { from = 1, to = Infinity, since, last = Infinity } = query;
  const end = Math.min(to, events.length);
  const stored: StoredEvent[] = [];
  for (let rev = end; rev >= Math.max(0, from) && stored.length < last; rev--) {
    const event = rev === 0 ? beginning : events[rev - 1];
    if (event !== undefined && (since === undefined || event.time >= since)) {
      stored.push({ rev, data: event.data });
    }
  }
  return stored.reverse();
}
