// Sessions in memory, as a store has them: the meaning of every operation of a store, in its plainest form.

import { checkFence, decideLease, type LeaseRow } from '../../store/lease.js';
import { refusedBefore, sessionExists, sessionNotFound, wrongRevision, wrongState } from '../../store/refusals.js';
import { writerOf } from '../shared/log-entries.js';
import { resolveChange, type ResolvedChange } from '../shared/operators.js';
import { callOf, hintOf, isKnownScope, isNamed } from '../shared/keys.js';
import { listOrder, placeOf } from '../shared/list-order.js';
import { beforeOf, changedOf, loadedOf, stateOf } from '../shared/parts.js';
import { emptyValues } from '../shared/values.js';
import { Remembered } from './remembered.js';
import { Scope } from './scope.js';
import { Session } from './session.js';
import type {
  Change,
  Committed,
  Guard,
  Known,
  LeaseAnswer,
  LeaseRequest,
  ListQuery,
  Loaded,
  LoadedScope,
  LoadQuery,
  LogQuery,
  Page,
  Pos,
  Rev,
  Row,
  ScopeLog,
  ScopeName,
  Values,
} from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** Where a session and its scopes are, as a guard that holds. */
export interface Where extends Guard {
  readonly rev: Rev;
  readonly pos: Pos;
}

/** The key of an app, or of a user in it. */
type ScopeKey = Pick<Change['key'], 'appName'> & { readonly userId?: string | undefined };

class User extends Scope {
  readonly sessions = new Map<string, Session>();
}

class App extends Scope {
  readonly users = new Map<string, User>();
}

const NOTHING: Values = Object.freeze(emptyValues());
/** A scope that was never written to. */
const UNTOUCHED = new Scope(false);
/** What is looked at before a session is removed. */
export type RemovalGuard = Pick<Guard, 'created' | 'fence'>;

/** A session that was never leased. */
const UNLEASED: LeaseRow = { fence: 0 };

/** The leases of sessions, by the changes that created them. */
export type Leases = Map<string, LeaseRow>;

/** What tables keep, and where. */
export interface TableOptions {
  /** Whether there is a log of app and user values; there is, unless told otherwise. */
  readonly log?: boolean;
  /** Leases that outlive these tables. */
  readonly leases?: Leases;
}

/** All sessions of a store. A change is first checked, then applied: a log writes it between the two. */
export class Tables {
  readonly #apps = new Map<string, App>();
  readonly #hasLog: boolean;
  readonly #leases: Leases;
  /** The creations of sessions that have been removed. */
  readonly #creations = new Remembered();
  /** The calls that were refused when an earlier try of theirs may have been on its way. */
  readonly #refused = new Remembered();

  constructor({ log = true, leases = new Map() }: TableOptions = {}) {
    this.#hasLog = log;
    this.#leases = leases;
  }

  /**
   * What is known of a change that has been made before. Throws when it cannot be made. Changes nothing: a refusal is
   * remembered by {@link Tables.refuse}.
   */
  check(change: Change): Committed | undefined {
    const { kind, key, guard = {} } = change;
    const session = this.#session(key);
    const isThere = isNamed(session, guard);
    const known = this.#duplicate(change, kind === 'append' && !isThere ? undefined : session);
    if (known !== undefined) {
      return known;
    }
    if (this.#refused.has(callOf(change))) {
      throw refusedBefore(change);
    }
    if (kind === 'create' && session !== undefined) {
      throw sessionExists(change);
    }
    if (kind === 'append' && !isThere) {
      throw sessionNotFound(change);
    }
    this.#checkGuard(change, session);
    this.#resolve(change);
    return undefined;
  }

  /**
   * Remembers that a call was refused: an earlier try of it that arrives later is refused, too. See `Change.attempt`.
   */
  refuse(change: Pick<Change, 'id' | 'call'>): void {
    this.#refused.add(callOf(change));
  }

  /** Makes a change that has been checked. `by`: who wrote it, where the change does not say so itself. */
  apply(change: Change, by = writerOf(change)): Committed {
    const { kind, key, time } = change;
    const app = this.#ensureApp(key.appName);
    const user = key.userId === undefined ? undefined : this.#ensureUser(app, key.userId);
    // As it is before the change.
    const { delta, results } = this.#resolve(change);
    const told = {
      ...this.#changed(key, change.known),
      before: this.#before(key),
      ...(results !== undefined && { results }),
    };
    const origin = { time, by };
    app.move(delta.app, callOf(change), origin);
    user?.move(delta.user, callOf(change), origin);
    const pos = { app: app.pos, user: user?.pos ?? 0 };
    if (user === undefined || key.sessionId === undefined) {
      (user ?? app).updates.add(change.id, results);
      return { rev: 0, prev: null, pos, ...told };
    }
    const kept = { results, pos: this.#hasLog ? pos : undefined };
    const session = kind === 'create' ? createSession(user, change, kept) : append(user, change, kept);
    session.values.apply(delta.session ?? {});
    const { rev } = session;
    return { rev, prev: kind === 'create' ? null : rev - 1, pos, ...told };
  }

  /** See `SessionStore.lease`. `now` is the time in milliseconds since the epoch. */
  lease(key: SessionKey, request: LeaseRequest, now: number): LeaseAnswer {
    const session = this.#session(key);
    if (!isNamed(session, request)) {
      throw sessionNotFound({ key });
    }
    const row = decideLease(this.#leaseOf(session.created), request, now);
    this.#leases.set(session.created, row);
    return { fence: row.fence, until: row.until ?? now };
  }

  /** Where a session and its scopes are. A log writes it with each change, and finds missing records by it. */
  where(key: Change['key']): Where {
    const session = this.#session(key);
    const pos = this.#pos(key);
    return session === undefined ? { rev: 0, pos } : { created: session.created, rev: session.rev, pos };
  }

  /** See `SessionStore.load`. */
  load(key: SessionKey, { events = {}, known = {} }: LoadQuery): Loaded | null {
    const session = this.#session(key);
    if (session === undefined) {
      return null;
    }
    const { created, rev, time, last } = session;
    const [app, user] = [this.#scope({ appName: key.appName }), this.#scope(key)];
    const isDiverged = session.hasDiverged(known);
    const { changed } = this.#changed(key, known);
    const isTold = (part: 'app' | 'user', { pos, mark }: Scope): boolean =>
      changed?.[part] !== undefined || isKnownScope(known, part, pos, mark);
    const isKnown = known.created === created && known.rev === rev && !isDiverged;
    return loadedOf({
      created,
      rev,
      time,
      pos: { app: app.pos, user: user.pos },
      state: stateOf(
        isKnown ? undefined : session.values.record(),
        isTold('app', app) ? undefined : app.values.record(),
        isTold('user', user) ? undefined : user.values.record(),
      ),
      last,
      marks: [app.mark, user.mark],
      changed,
      isDiverged,
      events: session.events(events),
    });
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
      rows: page.map(({ key, created, rev, time, values }): Row => ({
        key,
        created,
        rev,
        time,
        state: values.record(),
      })),
      app: app?.values.record() ?? NOTHING,
      users: new Map(page.map(({ key: { userId } }) => [userId, app?.users.get(userId)?.values.record() ?? NOTHING])),
      total: sorted.length,
    };
  }

  /** See `SessionStore.remove`. Says whether it was there. */
  remove(key: SessionKey, guard: RemovalGuard = {}): boolean {
    const session = this.#session(key);
    if (!isNamed(session, guard)) {
      return false;
    }
    this.checkFenceOf(session.created, guard);
    this.forget(session.created);
    return this.#apps.get(key.appName)?.users.get(key.userId)?.sessions.delete(key.sessionId) ?? false;
  }

  /** Throws `fenced` when the session that this change has created is not at the token of a guard. */
  checkFenceOf(created: string, { fence }: RemovalGuard = {}): void {
    checkFence(this.#leaseOf(created).fence, fence);
  }

  /** Remembers the creation of a session that is gone: sent again, it does not bring the session back. */
  forget(created: string): void {
    this.#creations.add(created);
    this.#leases.delete(created);
  }

  /** See `SessionStore.loadScope`. */
  scope(name: ScopeName): LoadedScope {
    const { pos, mark, values } = this.#scope(hintOf(name));
    return { pos, state: values.record(), ...(mark !== undefined && { mark }) };
  }

  /** See `SessionStore.removeScope`. `time` is that of the removal, in milliseconds since the epoch. */
  removeScope(name: ScopeName, time: number): void {
    this.#find(hintOf(name))?.clear({ time });
  }

  /** See `SessionStore.readLog`. */
  readLog(name: ScopeName, query: LogQuery): ScopeLog {
    return this.#scope(hintOf(name)).readLog(query);
  }

  /** See `SessionStore.trimLog`. */
  trimLog(name: ScopeName, upTo: number): number {
    return this.#scope(hintOf(name)).trimLog(upTo);
  }

  #session({ appName, userId = '', sessionId }: Change['key']): Session | undefined {
    return sessionId === undefined ? undefined : this.#apps.get(appName)?.users.get(userId)?.sessions.get(sessionId);
  }

  #find({ appName, userId }: ScopeKey): Scope | undefined {
    const app = this.#apps.get(appName);
    return userId === undefined ? app : app?.users.get(userId);
  }

  #scope(key: ScopeKey): Scope {
    return this.#find(key) ?? UNTOUCHED;
  }

  /** The user's scope of a key; one without values where it names no user. */
  #user({ appName, userId }: Change['key']): Scope {
    return userId === undefined ? UNTOUCHED : this.#scope({ appName, userId });
  }

  #pos(key: Change['key']): Pos {
    return { app: this.#scope({ appName: key.appName }).pos, user: this.#user(key).pos };
  }

  /** See `Committed.before`. */
  #before(key: Change['key']): NonNullable<Committed['before']> {
    return beforeOf(this.#scope({ appName: key.appName }).mark, this.#user(key).mark, this.#session(key)?.last);
  }

  /** What has happened to the scopes since the caller was there, as far as that is known for sure. */
  #changed(key: Change['key'], known: Pick<Known, 'pos' | 'marks'> = {}): Pick<Committed, 'changed'> {
    return changedOf(this.#scope({ appName: key.appName }).since('app', known), this.#user(key).since('user', known));
  }

  /** What is known of a change that has been made before. */
  #duplicate(change: Change, session: Session | undefined): Committed | undefined {
    const { id, kind, key } = change;
    const rev = session?.rev ?? 0;
    if (kind === 'update') {
      const updates = this.#find(key)?.updates;
      return updates?.has(id) ? this.#known(change, { rev: 0, prev: null }, { results: updates.get(id) }) : undefined;
    }
    if (kind === 'create') {
      return session?.created === id
        ? this.#known(change, { rev, prev: rev })
        : this.#creations.has(id)
          ? this.#known(change, { rev: 0, prev: 0 })
          : undefined;
    }
    const event = session?.find(id);
    return event && this.#known(change, { rev, prev: rev }, event);
  }

  /** The answer to a change that has been made before. `event`: the one that is stored under its id. */
  #known(
    { key, known }: Change,
    session: Pick<Committed, 'rev' | 'prev'>,
    { data, results }: { readonly data?: string; readonly results?: Committed['results'] | undefined } = {},
  ): Committed {
    return {
      ...session,
      pos: this.#pos(key),
      duplicate: true,
      ...this.#changed(key, known),
      before: this.#before(key),
      ...(data !== undefined && { data }),
      ...(results !== undefined && { results }),
    };
  }

  /** The lease of the session that this change has created. */
  #leaseOf(created: string | undefined): LeaseRow {
    return (created === undefined ? undefined : this.#leases.get(created)) ?? UNLEASED;
  }

  /** What the operators of a change come to now. Throws when one does not fit. */
  #resolve(change: Change): ResolvedChange {
    const { key } = change;
    return resolveChange(change, (scope, name) => {
      const of = { app: this.#scope({ appName: key.appName }), user: this.#user(key), session: this.#session(key) };
      return of[scope]?.values.get(name);
    });
  }

  /** Throws `conflict` when the guard of a change does not hold. */
  #checkGuard(change: Change, session: Session | undefined): void {
    const { key, guard: { fence, rev, pos, keys } = {} } = change;
    checkFence(this.#leaseOf(session?.created).fence, fence);
    const actual = session?.rev ?? 0;
    if (rev !== undefined && rev !== actual) {
      throw wrongRevision(change, actual);
    }
    if (pos === undefined && keys === undefined) {
      return;
    }
    const [app, user] = [this.#scope({ appName: key.appName }), this.#user(key)];
    const isMoved = (pos?.app ?? app.pos) !== app.pos || (pos?.user ?? user.pos) !== user.pos;
    const parts = [
      [app.values, keys?.app],
      [user.values, keys?.user],
      [session?.values ?? UNTOUCHED.values, keys?.session],
    ] as const;
    if (isMoved || !parts.every(([values, expected]) => values.holds(expected ?? {}))) {
      throw wrongState();
    }
  }

  #ensureApp(name: string): App {
    let app = this.#apps.get(name);
    if (app === undefined) {
      app = new App(this.#hasLog);
      this.#apps.set(name, app);
    }
    return app;
  }

  #ensureUser(app: App, name: string): User {
    let user = app.users.get(name);
    if (user === undefined) {
      user = new User(this.#hasLog);
      app.users.set(name, user);
    }
    return user;
  }
}

/** What is kept beside an event. */
type Kept = Pick<NonNullable<ReturnType<Session['find']>>, 'results' | 'pos'>;

function createSession(user: User, { id, key, time, event }: Change, kept: Kept): Session {
  const { appName, userId, sessionId } = key as SessionKey;
  const beginning = event && { id, data: event.data, time: event.time, ...kept };
  const session = new Session({ appName, userId, sessionId }, id, time, beginning);
  user.sessions.set(sessionId, session);
  return session;
}

function append(user: User, { id, key, time, event }: Change, kept: Kept): Session {
  const session = user.sessions.get(key.sessionId ?? '') as Session;
  session.time = time;
  session.append({ id, data: event?.data ?? '', time: event?.time ?? time, ...kept });
  return session;
}
