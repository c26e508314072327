// The sessions of one service in the core: objects go in and come out, the core's numbers and texts stay here.

import { coreError } from './core-error.js';
import { MAX_COUNT } from './limits.js';
import { write, writeDelta, type KeyedDelta } from './transfer.js';
import { Core } from './wasm.js';
import type { ScopedDelta } from '../model/delta.js';
import type { Json, SessionKey } from '../model/types.js';

/** A choice among the stored scopes of a change. `session` stands for the event, too. */
export interface ScopeSet {
  readonly session: boolean;
  readonly app: boolean;
  readonly user: boolean;
}

/** All stored scopes. */
export const ALL_SCOPES: ScopeSet = { session: true, app: true, user: true };

/** A change that the core has prepared: it must be applied or discarded. */
export interface PreparedChange {
  /** What the core calls it: for {@link SessionEngine} alone. */
  readonly token: number;
  /** The stored scopes that it changes. */
  readonly scopes: ScopeSet;
  /** Whether it has `temp:` keys. */
  readonly hasTemp: boolean;
}

/** The session has an event of this id: its place in the log, from 0. */
export interface DuplicateEvent {
  readonly duplicateOf: number;
}

/** The delta of an event, or of an update, as far as the core needs that. */
export interface IdentifiedDelta extends KeyedDelta {
  readonly id: string;
  readonly timestamp: number;
}

/** The versions that a change expects. Absent ones are not compared. */
export interface ExpectedVersions {
  readonly revision?: number | undefined;
  readonly app?: number | undefined;
  readonly user?: number | undefined;
}

/** An app, or a user in it. */
export interface ScopeKey {
  readonly appName: string;
  readonly userId: string | undefined;
}

/** Which page of the sessions of an app, or of a user in it. */
export interface SessionPageQuery extends ScopeKey {
  readonly descending: boolean;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly cursor: string | undefined;
}

/** A page of sessions, by their numbers. */
export interface SessionPage {
  readonly sessions: readonly number[];
  /** How many sessions stand before the page. */
  readonly offset: number;
  /** How many there are in all. */
  readonly total: number;
  /** Where the next page begins; absent for the last one. */
  readonly cursor: string | undefined;
}

/** The scopes that a session reads, by number: its own, its app's, its user's. */
export type SessionScopes = readonly [number, number, number];

/** What `prepare_…` answers when the core refuses. */
const REFUSED = -(2 ** 31);
/** The bits of the scopes, in what `prepare_…` answers and in what `apply` is told. */
const SESSION = 1;
const APP = 2;
const USER = 4;
const TEMP = 8;
/** Above these bits comes the token. */
const TOKEN_SHIFT = 4;

/** By their bits: the sets of scopes. */
const SCOPE_SETS: readonly ScopeSet[] = Array.from({ length: (SESSION | APP | USER) + 1 }, (_, bits) => setOf(bits));

/**
 * The core's sessions. Sessions and scopes go by numbers, which name others once theirs is gone. Every method throws
 * `CORE_FAILED` when the module has no memory for the call, or has ended.
 */
export class SessionEngine {
  readonly #core = new Core();

  /** Prepares a creation. Throws `SESSION_EXISTS`. */
  prepareCreate({ appName, userId, sessionId }: SessionKey, time: number, initial: KeyedDelta): PreparedChange {
    const [length, deleted] = writeDelta(initial);
    return this.#prepared(this.#core.prepare_create(appName, userId, sessionId, time, length, deleted));
  }

  /** Prepares an append, unless the session has an event of that id. Throws `SESSION_STALE`, `STATE_CONFLICT`. */
  prepareAppend(
    session: number,
    event: IdentifiedDelta,
    { revision = -1, app = -1, user = -1 }: ExpectedVersions,
  ): PreparedChange | DuplicateEvent {
    const [length, deleted, id] = writeDelta(event, event.id);
    const code = this.#core.prepare_append(session, event.timestamp, length, deleted, id, revision, app, user);
    return code < 0 && code !== REFUSED ? { duplicateOf: -1 - code } : this.#prepared(code);
  }

  /** Prepares a change of app and user state that belongs to no session. Throws `STATE_CONFLICT`. */
  prepareUpdate(
    { appName, userId }: ScopeKey,
    change: IdentifiedDelta,
    { app = -1, user = -1 }: ExpectedVersions,
  ): PreparedChange {
    const { id, timestamp } = change;
    const [length, deleted] = writeDelta(change);
    return this.#prepared(this.#core.prepare_update(appName, userId, id, timestamp, length, deleted, app, user));
  }

  /** Applies a change that is stored, in these parts. Returns the number of its session, if it has one. */
  apply({ token }: PreparedChange, { session, app, user }: ScopeSet): number | undefined {
    return this.#core.apply(token, (session ? SESSION : 0) | (app ? APP : 0) | (user ? USER : 0));
  }

  /** Forgets a change that is not stored. */
  discard({ token }: PreparedChange): void {
    this.#core.discard(token);
  }

  /** The delta of a change, split by scope, under names. */
  scopedDelta({ token }: PreparedChange): ScopedDelta {
    return JSON.parse(this.#core.change_json(token) ?? '{}') as ScopedDelta;
  }

  /** The scopes that a session reads; `undefined` for a number that names none. */
  scopesOf(session: number): SessionScopes | undefined {
    return this.#core.scopes(session) as unknown as SessionScopes | undefined;
  }

  /** The scope of an app, or of a user in it, once anything has been there. */
  scopeOf(appName: string, userId?: string): number | undefined {
    return this.#core.scope(appName, userId);
  }

  /** The values of a scope as JSON text, under full keys or under names. */
  scopeText(scope: number, fullKeys: boolean): string {
    return this.#core.scope_json(scope, fullKeys) ?? '{}';
  }

  /** The version of a scope: another number whenever its values may have changed. */
  scopeVersion(scope: number): number {
    return this.#core.scope_version(scope);
  }

  /** Replaces the values of a scope by these, which go under full keys. */
  replaceScope(scope: number, values: Readonly<Record<string, Json>>): void {
    const [length] = write(JSON.stringify(values));
    this.#core.replace(scope, length);
  }

  /** Takes over a session that a store has, at a revision. Returns its number. */
  restore({ appName, userId, sessionId }: SessionKey, revision: number, time: number): number {
    return this.#core.restore(appName, userId, sessionId, revision, time);
  }

  /** Deletes a session. */
  remove(session: number): void {
    this.#core.remove(session);
  }

  /** Forgets a session that a store keeps; its user and its app, too, when no other session of theirs is here. */
  forget(session: number): void {
    this.#core.forget(session);
  }

  /** One page of sessions, in the order of lists. Throws `INVALID_ARGUMENT` for a cursor that it has not made. */
  list({ appName, userId, descending, limit, offset, cursor }: SessionPageQuery): SessionPage {
    const most = limit && Math.min(limit, MAX_COUNT);
    const [before = 0, total = 0, ...sessions] =
      this.#core.list(appName, userId, descending, most, Math.min(offset, MAX_COUNT), cursor) ?? this.#refuse();
    const last = sessions.at(-1);
    const isLast = last === undefined || before + sessions.length >= total;
    return { sessions, offset: before, total, cursor: isLast ? undefined : this.#core.cursor(last) };
  }

  #prepared(code: number): PreparedChange {
    if (code === REFUSED) {
      this.#refuse();
    }
    const scopes = SCOPE_SETS[code & (SESSION | APP | USER)] as ScopeSet;
    return { token: code >>> TOKEN_SHIFT, scopes, hasTemp: (code & TEMP) !== 0 };
  }

  /** Throws why the core has refused the last call. */
  #refuse(): never {
    throw coreError(this.#core.take_error() ?? '{}');
  }
}

function setOf(bits: number): ScopeSet {
  return { session: (bits & SESSION) !== 0, app: (bits & APP) !== 0, user: (bits & USER) !== 0 };
}
