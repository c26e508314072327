// Sessions in memory, as a store has them: the meaning of every operation of a store, in its plainest form.

import { StoreError } from '../../store/store-error.js';
import { listOrder, placeOf } from '../shared/list-order.js';
import { Remembered } from './remembered.js';
import { ScopeSteps } from './scope-steps.js';
import { emptyValues, isEmpty, ScopeValues } from '../shared/scope-values.js';
import type {
  Change,
  Committed,
  Delta,
  Guard,
  Known,
  ListQuery,
  Loaded,
  LoadedScope,
  LoadQuery,
  Marks,
  Page,
  Pos,
  Rev,
  Row,
  ScopeName,
  StoredEvent,
  Values,
} from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

interface Event {
  readonly id: string;
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
  /** What brought it there, if that is known. */
  mark: string | undefined;
  readonly values: ScopeValues;
  readonly steps: ScopeSteps;
  /** The updates that have been made here. */
  readonly updates: Remembered;
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
const UNTOUCHED: Omit<Scope, 'updates'> = { pos: 0, mark: undefined, values: new ScopeValues(), steps: new ScopeSteps() };

/** All sessions of a store. A change is first checked, then made: between the two it can be written down elsewhere. */
export class Tables {
  readonly #apps = new Map<string, App>();
  /** The creations of sessions that have been removed. */
  readonly #creations = new Remembered();
  /** The calls that were refused when an earlier try of theirs may have been on its way. */
  readonly #refused = new Remembered();

  /**
   * What is known of a change that has been made before. Throws when it cannot be made. Changes nothing: a refusal is
   * remembered by {@link Tables.refuse}.
   */
  check(change: Change): Committed | undefined {
    const { id, kind, key, guard = {} } = change;
    const session = key.sessionId === undefined ? undefined : this.#session(key as SessionKey);
    const isNamed = isCreatedBy(session, guard.created);
    const known = this.#duplicate(change, kind === 'append' && !isNamed ? undefined : session);
    if (known !== undefined) {
      return known;
    }
    if (this.#refused.has(callOf(change))) {
      throw new StoreError('conflict', `the change "${id}" was refused before`);
    }
    if (kind === 'create' && session !== undefined) {
      throw new StoreError('exists', `session "${key.sessionId ?? ''}" exists already`);
    }
    if (kind === 'append' && !isNamed) {
      throw new StoreError('not-found', `session "${key.sessionId ?? ''}" is not there`);
    }
    this.#guard(key, session, guard);
    return undefined;
  }

  /** Remembers that a call was refused: an earlier try of it that arrives later is refused, too. See `Change.attempt`. */
  refuse(change: Pick<Change, 'id' | 'call'>): void {
    this.#refused.add(callOf(change));
  }

  /** Makes a change that has been checked. */
  apply(change: Change): Committed {
    const { id, kind, key, time, event, delta } = change;
    const app = this.#ensureApp(key.appName);
    const user = key.userId === undefined ? undefined : ensureUser(app, key.userId);
    const told = { ...this.#changed(key, change.known), before: this.#before(key) };
    move(app, delta.app, callOf(change));
    if (user !== undefined) {
      move(user, delta.user, callOf(change));
    }
    const pos = { app: app.pos, user: user?.pos ?? 0 };
    if (user === undefined || key.sessionId === undefined) {
      (user ?? app).updates.add(id);
      return { rev: 0, prev: null, pos, ...told };
    }
    if (kind === 'create') {
      const { appName, userId, sessionId } = key as SessionKey;
      const values = new ScopeValues();
      values.apply(delta.session ?? {});
      const beginning = event && { id, data: event.data, time: event.time };
      const whole = { appName, userId, sessionId };
      user.sessions.set(sessionId, { key: whole, created: id, time, values, beginning, events: [], ids: new Map() });
      return { rev: 0, prev: null, pos, ...told };
    }
    const session = user.sessions.get(key.sessionId) as Session;
    session.time = time;
    session.values.apply(delta.session ?? {});
    session.ids.set(id, session.events.length);
    const rev = session.events.push({ id, data: event?.data ?? '', time: event?.time ?? time });
    return { rev, prev: rev - 1, pos, ...told };
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
    const isDiverged = known.created === created && hasDiverged(session, known);
    const { changed = {} } = this.#changed(key, known);
    const isSame = (part: 'app' | 'user', scope: Pick<Scope, 'pos' | 'mark'>): boolean =>
      changed[part] !== undefined || (known.pos?.[part] === scope.pos && isSameMark(known.marks?.[part], scope.mark));
    const last = session.events.at(-1)?.id;
    return {
      created,
      rev,
      time,
      pos: { app: app.pos, user: user.pos },
      state: {
        ...(known.created === created && known.rev === rev && !isDiverged ? {} : { session: session.values.record() }),
        ...(isSame('app', app) ? {} : { app: app.values.record() }),
        ...(isSame('user', user) ? {} : { user: user.values.record() }),
      },
      ...(last !== undefined && { last }),
      marks: this.#marks(key),
      ...(Object.keys(changed).length > 0 && { changed }),
      ...(isDiverged && { diverged: true }),
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
  remove(key: SessionKey, { created }: Pick<Guard, 'created'> = {}): boolean {
    const session = this.#session(key);
    if (!isCreatedBy(session, created)) {
      return false;
    }
    this.forget(session.created);
    return this.#apps.get(key.appName)?.users.get(key.userId)?.sessions.delete(key.sessionId) ?? false;
  }

  /** Remembers the creation of a session that is gone: sent again, it does not bring the session back. */
  forget(created: string): void {
    this.#creations.add(created);
  }

  /** See `SessionStore.loadScope`. */
  scope({ app, user }: ScopeName): LoadedScope {
    const { pos, mark, values } = this.#home({ appName: app, userId: user });
    return { pos, state: values.record(), ...(mark !== undefined && { mark }) };
  }

  /** See `SessionStore.removeScope`. */
  removeScope({ app, user }: ScopeName): void {
    const scope = this.#find({ appName: app, userId: user });
    if (scope !== undefined) {
      scope.values.clear();
      scope.pos += 1;
      scope.mark = undefined;
      scope.steps.clear(scope.pos);
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

  #home(home: Home): Omit<Scope, 'updates'> {
    return this.#find(home) ?? UNTOUCHED;
  }

  #pos({ appName, userId }: Change['key']): Pos {
    return { app: this.#home({ appName }).pos, user: userId === undefined ? 0 : this.#home({ appName, userId }).pos };
  }

  /** The marks of the scopes, as far as they are known. */
  #marks({ appName, userId }: Change['key']): Marks {
    const { mark: app } = this.#home({ appName });
    const user = userId === undefined ? undefined : this.#home({ appName, userId }).mark;
    return { ...(app !== undefined && { app }), ...(user !== undefined && { user }) };
  }

  /** See `Committed.before`. */
  #before(key: Change['key']): NonNullable<Committed['before']> {
    const session = key.sessionId === undefined ? undefined : this.#session(key as SessionKey);
    const last = session?.events.at(-1)?.id;
    return { ...this.#marks(key), ...(last !== undefined && { session: last }) };
  }

  /** What has happened to the scopes since the caller was there, as far as that is known for sure. */
  #changed({ appName, userId }: Change['key'], { pos, marks }: Pick<Known, 'pos' | 'marks'> = {}): Pick<Committed, 'changed'> {
    const since = (part: 'app' | 'user', scope: Omit<Scope, 'updates'>): Delta | undefined => {
      const known = pos?.[part];
      return known === undefined || known >= scope.pos ? undefined : scope.steps.since(known, marks?.[part], scope.values);
    };
    const app = since('app', this.#home({ appName }));
    const user = userId === undefined ? undefined : since('user', this.#home({ appName, userId }));
    return app === undefined && user === undefined ? {} : { changed: { ...(app && { app }), ...(user && { user }) } };
  }

  /** What is known of a change that has been made before. */
  #duplicate({ id, kind, key, known }: Change, session: Session | undefined): Committed | undefined {
    const { length: rev = 0 } = session?.events ?? {};
    const told = { pos: this.#pos(key), duplicate: true, ...this.#changed(key, known), before: this.#before(key) } as const;
    if (kind === 'update') {
      return this.#find(key)?.updates.has(id) ? { rev: 0, prev: null, ...told } : undefined;
    }
    if (kind === 'create') {
      const isHere = session?.created === id;
      return isHere ? { rev, prev: rev, ...told } : this.#creations.has(id) ? { rev: 0, prev: 0, ...told } : undefined;
    }
    const place = session?.ids.get(id);
    return place === undefined ? undefined : { rev, prev: rev, ...told, data: session?.events[place]?.data ?? '' };
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
      app = { ...emptyScope(), users: new Map() };
      this.#apps.set(name, app);
    }
    return app;
  }
}

function ensureUser(app: App, name: string): User {
  let user = app.users.get(name);
  if (user === undefined) {
    user = { ...emptyScope(), sessions: new Map() };
    app.users.set(name, user);
  }
  return user;
}

function emptyScope(): Scope {
  return { pos: 0, mark: undefined, values: new ScopeValues(), steps: new ScopeSteps(), updates: new Remembered() };
}

/** Whether a session is there, and is the one that a change has created, if that matters. */
function isCreatedBy(session: Session | undefined, created: string | undefined): session is Session {
  return session !== undefined && (created === undefined || created === session.created);
}

/** What tells a call from every other one. */
function callOf({ id, call }: Pick<Change, 'id' | 'call'>): string {
  return call ?? id;
}

function move(scope: Scope, delta: Delta | undefined, mark: string): void {
  if (delta !== undefined && !isEmpty(delta)) {
    scope.pos += 1;
    scope.mark = mark;
    scope.steps.add(scope.pos, mark, delta, scope.values);
    scope.values.apply(delta);
  }
}

/** Two marks are compared only where both are there. */
function isSameMark(known: string | undefined, actual: string | undefined): boolean {
  return known === undefined || actual === undefined || known === actual;
}

/** Whether what a caller has of a session is not what is here. */
function hasDiverged({ events }: Session, { rev = 0, last }: Known): boolean {
  return rev > events.length || (last !== undefined && rev > 0 && events[rev - 1]?.id !== last);
}

function eventsOf({ beginning, events }: Session, query: NonNullable<LoadQuery['events']>): StoredEvent[] {
  const { from = 1, to = Infinity, since, last = Infinity } = query;
  const end = Math.min(to, events.length);
  const stored: StoredEvent[] = [];
  for (let rev = end; rev >= Math.max(0, from) && stored.length < last; rev--) {
    const event = rev === 0 ? beginning : events[rev - 1];
    if (event !== undefined && (since === undefined || event.time >= since)) {
      stored.push({ rev, data: event.data, ...(rev > 0 && { id: event.id }) });
    }
  }
  return stored.reverse();
}
