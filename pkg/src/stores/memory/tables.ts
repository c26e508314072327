// Sessions in memory, as a store has them: the meaning of every operation of a store, in its plainest form.

import { defined } from '../../model/defined.js';
import { checkFence, decideLease } from '../../store/lease.js';
import { sessionNotFound } from '../../store/refusals.js';
import { answerTo, decideCommit } from '../shared/decide.js';
import { writerOf } from '../shared/log-entries.js';
import { resolveChange } from '../shared/operators.js';
import { callOf, isKnownScope, isNamed } from '../shared/keys.js';
import { listOrder, placeOf } from '../shared/list-order.js';
import { loadedOf, stateOf } from '../shared/parts.js';
import { emptyValues } from '../shared/values.js';
import { App, append, createSession, isApp, isIdle, isUser, liveSessions, User } from './app.js';
import { findExpired, type Expired } from './expired.js';
import { NamedMap } from './named-map.js';
import { Remembered } from './remembered.js';
import { Target, UNLEASED, UNTOUCHED, type Ledger, type Leases } from './target.js';
import type {
  Change,
  Committed,
  Guard,
  LeaseAnswer,
  LeaseRequest,
  LeaseRow,
  ListQuery,
  Loaded,
  LoadedScope,
  LoadQuery,
  LogEntry,
  LogQuery,
  NamePage,
  NameQuery,
  Page,
  Pos,
  Rev,
  Row,
  ScopeLog,
  ScopeName,
  SweepQuery,
  Values,
} from '../../store/contract.js';
import type { Scope } from './scope.js';
import type { Session } from './session.js';
import type { CallRecord } from '../shared/decide.js';
import type { Size } from '../shared/growth.js';
import type { SharedScope } from '../../model/scope.js';
import type { SessionKey } from '../../model/types.js';

/** The positions of a session and its scopes, as a guard that holds. */
export interface Where extends Guard {
  readonly rev: Rev;
  readonly pos: Pos;
}

const NOTHING: Values = Object.freeze(emptyValues());
const NO_NAMES: NamePage = { names: [], more: false };
/** The conditions that are checked before a session is removed. */
export type RemovalGuard = Pick<Guard, 'created' | 'fence'>;

/** Options of tables: a log or none, and leases that outlive them. */
export interface TableOptions {
  /** True, which is the default, when there is a log of app and user values. */
  readonly log?: boolean;
  /** Leases that outlive these tables. */
  readonly leases?: Leases;
  /** The same for the leases of names. */
  readonly claims?: Leases;
}

/** The circumstances of a change that is made, where the change does not say them itself. */
export interface Circumstances {
  /** Its writer. */
  readonly by?: LogEntry['by'] | undefined;
  /** The time by the store's clock, and the end of its session by that: in milliseconds since the epoch. */
  readonly now?: number;
  readonly ends?: number | undefined;
}

/** All sessions of a store. A change is first checked, then applied: a log writes it between the two. */
export class Tables {
  readonly #apps = new NamedMap<App>();
  readonly #hasLog: boolean;
  readonly #ledger: Ledger;

  constructor({ log = true, leases = new Map(), claims = new Map() }: TableOptions = {}) {
    this.#hasLog = log;
    this.#ledger = { leases, claims, tombstones: new Remembered(), refusals: new Remembered() };
  }

  /** The time by which sessions expire, in milliseconds since the epoch. */
  protected now(): number {
    return Date.now();
  }

  /**
   * Returns the known answer to a change that has been made before. Throws when it cannot be made. Changes nothing: a
   * refusal is remembered by {@link Tables.refuse}.
   */
  check(change: Change): Committed | undefined {
    const target = this.#target(change.key);
    const decision = decideCommit(change, target);
    return decision.duplicate === undefined
      ? undefined
      : { ...answerTo(decision, target.positions, target.history(change)), ...target.endOf(change) };
  }

  /**
   * Remembers that a call was refused: an earlier try of it that arrives later is refused, too. See `Change.attempt`.
   */
  refuse(change: Pick<Change, 'id' | 'call' | 'digest'>): void {
    const { refusals } = this.#ledger;
    const call = callOf(change);
    // The digest of the first refusal stays.
    refusals.add(call, refusals.get(call) ?? recordOf(change));
  }

  /** Makes a change that has been checked. */
  apply(change: Change, { by = writerOf(change), now = this.now(), ends }: Circumstances = {}): Committed {
    const { kind, key, time } = change;
    if (kind === 'create') {
      // One that is there although the change was checked has expired.
      this.#drop(this.#target(key, -Infinity).session);
    }
    // What was there when the change was checked is there now.
    const target = this.#target(key, -Infinity);
    const { delta, results } = resolveChange(change, target);
    const history = target.history(change);
    const report = results === undefined ? history : { ...history, results };
    const app = this.#apps.ensure(key.appName, () => new App(this.#hasLog));
    const user = key.userId === undefined ? undefined : app.users.ensure(key.userId, () => new User(this.#hasLog));
    const origin = { time, by, now };
    app.move(delta.app, callOf(change), origin);
    if (user !== undefined && key.userId !== undefined && user.move(delta.user, callOf(change), origin)) {
      app.changedUser(key.userId, user);
    }
    const pos = { app: app.pos, user: user?.pos ?? 0 };
    if (user === undefined || key.sessionId === undefined) {
      (user ?? app).updates.add(change.id, { ...recordOf(change), ...defined({ results }) });
      return { rev: 0, prev: null, pos, ...report };
    }
    const extras = { results, pos: this.#hasLog ? pos : undefined };
    const session =
      kind === 'create' ? createSession(app, user, change, extras, now) : append(user, change, extras, now);
    session.values.apply(delta.session ?? {});
    session.expires = ends ?? session.expires;
    app.expiring.note(session);
    const { rev, expires } = session;
    return { rev, prev: kind === 'create' ? null : rev - 1, pos, ...report, ...defined({ expires }) };
  }

  /** See `SessionStore.lease`. `now` is the time in milliseconds since the epoch. */
  lease(key: SessionKey, request: LeaseRequest, now: number): LeaseAnswer {
    const { session, lease } = this.#target(key);
    if (!isNamed(session, request)) {
      throw sessionNotFound({ key });
    }
    const row = decideLease(lease, request, now);
    this.#ledger.leases.set(session.created, row);
    return { fence: row.fence, until: row.until ?? now };
  }

  /** See `SessionStore.readLease`. */
  readLease(key: SessionKey): LeaseRow | null {
    const { session, lease } = this.#target(key);
    return session === undefined ? null : { ...lease };
  }

  /** See `SessionStore.claim`. */
  claim(name: string, request: LeaseRequest): LeaseAnswer {
    const now = this.now();
    const row = decideLease(this.#ledger.claims.get(name) ?? UNLEASED, request, now);
    this.#ledger.claims.set(name, row);
    return { fence: row.fence, until: row.until ?? now };
  }

  /** The end that a session gets by a change that is made now; `undefined` where it has none. */
  endAfter({ kind, key, expires }: Change): number | undefined {
    const session = kind === 'append' ? this.#target(key, -Infinity).session : undefined;
    const { ttl, at } = expires ?? {};
    const lasts = kind === 'create' ? ttl : session?.ttl;
    return lasts === undefined ? (at ?? session?.expires) : this.now() + lasts;
  }

  /** The creation of the session under a key that has expired; `undefined` where there is none. */
  expiredUnder(key: Change['key']): string | undefined {
    return this.#target(key).expired?.created;
  }

  /** True while a sweep would still remove what it has found. */
  isExpired({ key, created }: Expired, userTtl = Infinity): boolean {
    if (created !== undefined) {
      return this.expiredUnder(key) === created;
    }
    const user = this.#apps.get(key.appName)?.users.get(key.userId ?? '');
    const now = this.now();
    return user !== undefined && isIdle(user, now, now - userTtl);
  }

  /** The size of the values of an app, or of a user in it. */
  sizeOf(name: ScopeName): Size {
    return (this.#scope(name) ?? UNTOUCHED).values.size;
  }

  /** What a sweep removes, as it is now: sessions first, those that expired first before the others. */
  expired(query: SweepQuery): readonly Expired[] {
    const { app } = query;
    return findExpired(
      [...this.#apps.entries()].filter(([name]) => app === undefined || app === name),
      query,
      this.now(),
    );
  }

  /** Removes what {@link Tables.expired} has found. */
  removeExpired({ key }: Expired, time: number): void {
    if (key.sessionId === undefined) {
      this.removeScope(defined({ app: key.appName, user: key.userId }), time);
    } else {
      this.#drop(this.#target(key, -Infinity).session);
    }
  }

  /**
   * The positions of a session and its scopes. A log writes them with each change, and finds missing records by them.
   */
  where(key: Change['key']): Where {
    const { session, positions: pos } = this.#target(key);
    return session === undefined ? { rev: 0, pos } : { created: session.created, rev: session.rev, pos };
  }

  /** The record of the creation of a session; empty where there is no session. */
  creationIn(key: Change['key']): CallRecord {
    return this.#target(key).creationOf();
  }

  /** See `SessionStore.load`. */
  load(key: SessionKey, { events = {}, known = {} }: LoadQuery): Loaded | null {
    const target = this.#target(key);
    const { session, app, user } = target;
    if (session === undefined) {
      return null;
    }
    const { created, rev, time, last } = session;
    const isDiverged = session.hasDiverged(known);
    const { changed } = target.changed(known);
    const isReported = (part: SharedScope, { pos, mark }: Scope): boolean =>
      changed?.[part] !== undefined || isKnownScope(known, part, pos, mark);
    const isKnown = known.created === created && known.rev === rev && !isDiverged;
    return loadedOf({
      created,
      rev,
      time,
      expires: session.expires,
      pos: target.positions,
      state: stateOf(
        isKnown ? undefined : session.values.record(),
        isReported('app', app) ? undefined : app.values.record(),
        isReported('user', user) ? undefined : user.values.record(),
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
    const now = this.now();
    const sessions = users.flatMap((user) => (user === undefined ? [] : liveSessions(user, now)));
    const order = listOrder(query);
    const sorted = sessions.sort((a, b) => order(placeOf(a), placeOf(b)));
    const { after, offset = 0, limit = Infinity } = query;
    const start = after === undefined ? offset : sorted.findIndex((session) => order(placeOf(session), after) > 0);
    const page = start < 0 ? [] : sorted.slice(start, start + limit);
    return {
      rows: page.map(({ key, created, rev, time, expires, values }): Row => ({
        key,
        created,
        rev,
        time,
        ...defined({ expires }),
        state: values.record(),
      })),
      app: app?.values.record() ?? NOTHING,
      users: new Map(page.map(({ key: { userId } }) => [userId, app?.users.get(userId)?.values.record() ?? NOTHING])),
      total: sorted.length,
    };
  }

  /** See `SessionStore.owners`. */
  owners(app: string, sessionId: string): readonly string[] {
    const { owners, users } = this.#apps.get(app) ?? {};
    const now = this.now();
    return (owners?.of(sessionId) ?? []).filter(
      (user) => users?.get(user)?.sessions.get(sessionId)?.hasExpired(now) === false,
    );
  }

  /** See `SessionStore.listApps`. */
  listApps(query: NameQuery): NamePage {
    const now = this.now();
    return this.#apps.page(query, (item) => isApp(item, now));
  }

  /** See `SessionStore.listUsers`. */
  listUsers(app: string, query: NameQuery): NamePage {
    const now = this.now();
    return this.#apps.get(app)?.users.page(query, (item) => isUser(item, now)) ?? NO_NAMES;
  }

  /** See `SessionStore.remove`. Says whether it was there. */
  remove(key: SessionKey, guard: RemovalGuard = {}): boolean {
    const { session, expired } = this.#target(key);
    if (isNamed(expired, guard)) {
      // It is not there for its caller, and must not stay any longer either.
      this.#drop(expired);
    }
    if (!isNamed(session, guard)) {
      return false;
    }
    this.checkFenceOf(session.created, guard);
    this.#drop(session);
    return true;
  }

  /** Deletes a session, if there is one, and remembers its creation. */
  #drop(session: Session | undefined): void {
    if (session === undefined) {
      return;
    }
    const { key, created } = session;
    this.forget(created, recordOf(session));
    const app = this.#apps.get(key.appName);
    app?.owners.remove(key);
    app?.users.get(key.userId)?.sessions.delete(key.sessionId);
    app?.expiring.removed(session);
  }

  /** Throws `fenced` when the session that this change has created is not at the token of a guard. */
  checkFenceOf(created: string, { fence }: RemovalGuard = {}): void {
    checkFence(this.#ledger.leases.get(created)?.fence ?? 0, fence);
  }

  /** Remembers the creation of a deleted session: sent again, it does not bring the session back. */
  forget(created: string, record: CallRecord): void {
    this.#ledger.tombstones.add(created, record);
    this.#ledger.leases.delete(created);
  }

  /** See `SessionStore.loadScope`. */
  scope(name: ScopeName): LoadedScope {
    const { pos, mark, values } = this.#scope(name) ?? UNTOUCHED;
    return defined({ pos, state: values.record(), mark });
  }

  /** See `SessionStore.removeScope`. `time` is that of the removal, in milliseconds since the epoch. */
  removeScope(name: ScopeName, time: number): void {
    this.#scope(name)?.clear({ time, now: this.now() });
    const app = this.#apps.get(name.app);
    const user = name.user === undefined ? undefined : app?.users.get(name.user);
    if (app !== undefined && user !== undefined && name.user !== undefined) {
      app.changedUser(name.user, user);
    }
  }

  /** See `SessionStore.readLog`. */
  readLog(name: ScopeName, query: LogQuery): ScopeLog {
    return (this.#scope(name) ?? UNTOUCHED).readLog(query);
  }

  /** See `SessionStore.trimLog`. */
  trimLog(name: ScopeName, upTo: number): number {
    return (this.#scope(name) ?? UNTOUCHED).trimLog(upTo);
  }

  /** `now`: a session that has expired by then is not there. */
  #target({ appName, userId, sessionId }: Change['key'], now = this.now()): Target {
    const app = this.#apps.get(appName);
    const user = userId === undefined ? undefined : app?.users.get(userId);
    const session = sessionId === undefined ? undefined : user?.sessions.get(sessionId);
    return new Target(this.#ledger, app, user, session, now);
  }

  #scope({ app: appName, user }: ScopeName): Scope | undefined {
    const app = this.#apps.get(appName);
    return user === undefined ? app : app?.users.get(user);
  }
}

/** The part of a change, or of the session that it made, that is remembered with its id. */
function recordOf({ digest }: CallRecord | Session): CallRecord {
  return defined({ digest });
}
