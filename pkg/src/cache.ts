// What a service keeps in memory of the sessions that a store has: never ahead of it, and bounded.

import { StatepadError } from './errors.js';
import { deepFreeze } from './freeze.js';
import { Cell, OUT, type SessionRecord, type View } from './handle.js';
import { Memory, NO_EVENTS, type Ticket } from './memory.js';
import { APP_PREFIX, USER_PREFIX, underKeys } from './scope.js';
import { write } from './wasm.js';
import type { Append } from './append.js';
import type { CreationEvent } from './creation.js';
import type { Committed, Hint, Loaded, LoadQuery, Row, StoredEvent, Values } from './store.js';
import type { Event, Session, SessionKey } from './types.js';

/** The scopes that sessions share: the bit in a ticket, the place in a record. */
const SHARED = [
  { part: 'app', bit: 2, place: 1, prefix: APP_PREFIX },
  { part: 'user', bit: 4, place: 2, prefix: USER_PREFIX },
] as const;

/** Sessions that were loaded from a store, or created in it. */
export class Cache extends Memory {
  /** By the scope's number in the core: the store's count of changes that its values stand for. */
  readonly #positions: (number | undefined)[] = [];
  /** The least recently used first. */
  readonly #recent = new Set<SessionRecord>();
  /** Those that somebody works with stay: how many do. */
  readonly #busy = new Map<SessionRecord, number>();
  readonly #stale = new WeakSet<SessionRecord>();
  readonly #limit: number;
  /** How many events there are, and one more for each session. */
  #held = 0;

  /** Keeps about `limit` events in sessions that nobody waits for. */
  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  /** Whether a session is as it was loaded, as far as is known here. */
  isCurrent(record: SessionRecord): boolean {
    const [, app, user] = record.scopes;
    return record.number !== OUT && !this.#stale.has(record) && this.#positions[app] !== undefined && this.#positions[user] !== undefined;
  }

  /** It is not known any more whether a session is as it was loaded. */
  doubt(record: SessionRecord): void {
    this.#stale.add(record);
  }

  /** What need not be loaded again. */
  known({ appName, userId }: SessionKey, record: SessionRecord | undefined): NonNullable<LoadQuery['known']> {
    const [app, user] = [this.#position(appName, undefined), this.#position(appName, userId)];
    const pos = { ...(app === undefined ? {} : { app }), ...(user === undefined ? {} : { user }) };
    return record === undefined ? { pos } : { created: record.created, rev: record.revision, pos };
  }

  /** Where a scope is, as far as it is in memory. */
  #position(appName: string, userId: string | undefined): number | undefined {
    const scope = this.core.scope(appName, userId);
    return scope === undefined ? undefined : this.#positions[scope];
  }

  /**
   * Takes over what a store has answered, when `before` was what memory had. `idle` is a session that only a handle
   * knows: it comes back. Answers `undefined` when memory has moved meanwhile: ask again.
   */
  take(key: SessionKey, loaded: Loaded, before: SessionRecord | undefined, idle?: SessionRecord): SessionRecord | undefined {
    const now = this.find(key);
    if (now !== before) {
      return undefined;
    }
    if (now !== undefined && now.created !== loaded.created) {
      this.drop(now);
      return undefined;
    }
    const isBack = idle?.created === loaded.created && idle.number === OUT && idle.revision <= loaded.rev;
    const record = now ?? (isBack ? idle : this.newRecord(key, loaded.created));
    try {
      if (!this.#takeEvents(record, loaded, record.number === OUT && record !== idle)) {
        return undefined;
      }
      this.#stale.delete(record);
      return SHARED.map((scope) => this.#takeScope(record, scope, loaded)).every(Boolean) ? record : undefined;
    } catch (error) {
      // The core had no memory for all of it: a part of it is no session.
      this.forget(record);
      throw error;
    }
  }

  /** Takes over the session's own part of an answer. Says whether it fits to what is here. */
  #takeEvents(record: SessionRecord, { rev, time, state, events }: Loaded, isNew: boolean): boolean {
    const first = events[0]?.rev ?? rev + 1;
    if (isNew) {
      record.base = record.revision = first - 1;
    }
    const isOut = record.number === OUT;
    const isMoved = isOut || rev > record.revision;
    if (isMoved && (first > record.revision + 1 || state.session === undefined)) {
      return false;
    }
    const parse = (stored: StoredEvent): Event => parseEvent(record, stored);
    const older = events.filter((stored) => stored.rev <= record.base).map(parse);
    const newer = events.filter((stored) => stored.rev > record.revision).map(parse);
    this.#prepend(record, older);
    if (isMoved) {
      const { appName, userId, sessionId } = record.key;
      const number = this.core.restore(appName, userId, sessionId, rev, time);
      if (isOut) {
        this.enter(record, number);
        this.#held += 1 + record.events.length;
      }
      newer.forEach((event) => record.events.push(event));
      record.revision = rev;
      record.updateTime = time;
      this.#held += newer.length;
      this.#replace(record.scopes[0], state.session as Values, '');
    }
    this.touch(record);
    return true;
  }

  /** Puts events before those that are here. */
  #prepend(record: SessionRecord, older: Event[]): void {
    if (older.length > 0) {
      record.events = older.concat(record.events);
      record.base -= older.length;
      record.list = undefined;
      this.#held += record.number === OUT ? 0 : older.length;
    }
  }

  #takeScope(record: SessionRecord, { part, place, prefix }: (typeof SHARED)[number], { pos, state }: Loaded): boolean {
    const scope = record.scopes[place];
    const known = this.#positions[scope];
    if (known !== undefined && known >= pos[part]) {
      return true;
    }
    const values = state[part];
    if (values === undefined) {
      return false;
    }
    this.#replace(scope, values, prefix);
    this.#positions[scope] = pos[part];
    return true;
  }

  #replace(scope: number, values: Values, prefix: string): void {
    this.move(scope, undefined);
    const [length] = write(JSON.stringify(underKeys(prefix, values)));
    this.core.replace(scope, length);
  }

  /** Some session in memory that is concerned when something moves. */
  findAny({ appName, userId, sessionId }: Hint): SessionRecord | undefined {
    for (const [user, sessions] of this.apps.get(appName) ?? []) {
      if (userId === undefined || userId === user) {
        return sessionId === undefined ? sessions.values().next().value : sessions.get(sessionId);
      }
    }
    return undefined;
  }

  /** A handle for a session as a list shows it: whoever appends through it has it loaded. */
  row({ key, created, rev, time, state }: Row, [app, user]: readonly [Cell, Cell]): Session {
    const record = this.newRecord(key, created);
    record.base = record.revision = rev;
    record.updateTime = time;
    return this.read(record, NO_EVENTS, undefined, [Cell.of(deepFreeze(state)), app, user]);
  }

  /**
   * Takes over an append that is stored. Answers with the event as it is here, or with `undefined` when others have
   * written meanwhile: nothing has changed here then, and the session has to be loaded.
   */
  settle(record: SessionRecord, { event, ticket = 0 }: Append, { rev, prev, pos }: Committed, view: View | undefined): Event | undefined {
    const isNews = rev > record.revision;
    const shared = record.number === OUT || (isNews && prev !== record.revision) ? undefined : this.#continued(record.scopes, ticket, pos);
    if (shared === undefined) {
      this.discard(ticket);
      this.doubt(record);
      return undefined;
    }
    this.applyAppend(record, event, ticket, view?.record === record ? view : undefined, shared | (isNews ? 1 : 0));
    this.#count(record.scopes, shared);
    this.#held += isNews ? 1 : 0;
    return isNews ? event : record.events[rev - record.base - 1];
  }

  /** Takes over a creation that is stored, as {@link Cache.settle} does an append. */
  settleCreate(key: SessionKey, creation: CreationEvent, created: string, ticket: Ticket, { pos, duplicate }: Committed): SessionRecord | undefined {
    const [app, user] = [this.core.scope(key.appName), this.core.scope(key.appName, key.userId)];
    const before = [pos.app - ((ticket >> 1) & 1), pos.user - ((ticket >> 2) & 1)];
    const isContinued = [app, user].every((scope, index) => (scope === undefined ? 0 : this.#positions[scope]) === before[index]);
    if (duplicate || !isContinued || this.find(key) !== undefined) {
      this.discard(ticket);
      return undefined;
    }
    const record = this.applyCreate(key, creation, ticket, created);
    this.#positions[record.scopes[1]] = pos.app;
    this.#positions[record.scopes[2]] = pos.user;
    this.#held += 1;
    this.touch(record);
    return record;
  }

  /** Takes over a change of app and user state that is stored, where it follows what is known. */
  settleUpdate(appName: string, userId: string | undefined, ticket: Ticket, { pos }: Committed): void {
    const [app = OUT, user = OUT] = [this.core.scope(appName), userId === undefined ? undefined : this.core.scope(appName, userId)];
    const shared = this.#continued([OUT, app, user], ticket, pos);
    if (shared) {
      this.applyUpdate(appName, userId, ticket, shared);
      this.#count([OUT, app, user], shared);
      return;
    }
    this.discard(ticket);
    if (shared === undefined) {
      this.forgetPositions(appName, userId);
    }
  }

  /** It is not known any more where an app, or a user in it, is: whoever needs them next loads them. */
  forgetPositions(appName: string, userId: string | undefined): void {
    for (const scope of [this.core.scope(appName), userId === undefined ? undefined : this.core.scope(appName, userId)]) {
      if (scope !== undefined) {
        this.#positions[scope] = undefined;
      }
    }
  }

  /** The shared scopes that a change moves on from where they are here; `undefined` when others have moved one of them. */
  #continued(scopes: readonly number[], ticket: Ticket, pos: Committed['pos']): number | undefined {
    let parts = 0;
    for (const { part, bit, place } of SHARED) {
      const scope = scopes[place] as number;
      const known = this.#positions[scope];
      const touched = ticket & bit ? 1 : 0;
      if (scope === OUT) {
        continue;
      }
      if (known === undefined || pos[part] > known + touched) {
        return undefined;
      }
      parts |= touched && pos[part] === known + 1 ? bit : 0;
    }
    return parts;
  }

  #count(scopes: readonly number[], parts: number): void {
    for (const { bit, place } of SHARED) {
      if (parts & bit) {
        const scope = scopes[place] as number;
        this.#positions[scope] = (this.#positions[scope] ?? 0) + 1;
      }
    }
  }

  /** Lets a handle go on with a session that is in memory now, in place of what it was read from. */
  rebind(view: View, record: SessionRecord): void {
    const old = view.record;
    if (old !== record && record.base > old.base && record.base <= old.base + old.events.length) {
      this.#prepend(record, old.events.slice(0, record.base - old.base));
    }
    view.record = record;
  }

  /** Keeps a session in memory while somebody works with it. */
  hold(record: SessionRecord): SessionRecord {
    this.#busy.set(record, (this.#busy.get(record) ?? 0) + 1);
    this.touch(record);
    return record;
  }

  /** Ends what {@link Cache.hold} has begun. */
  release(record: SessionRecord): void {
    const left = (this.#busy.get(record) ?? 1) - 1;
    if (left > 0) {
      this.#busy.set(record, left);
    } else {
      this.#busy.delete(record);
      this.#makeRoom(undefined);
    }
  }

  /** A session is used: others are dropped first. */
  touch(record: SessionRecord): void {
    this.#recent.delete(record);
    this.#recent.add(record);
    this.#makeRoom(record);
  }

  #makeRoom(used: SessionRecord | undefined): void {
    if (this.#held > this.#limit) {
      for (const oldest of this.#recent) {
        if (oldest !== used && !this.#busy.has(oldest)) {
          this.forget(oldest);
        }
        if (this.#held <= this.#limit) {
          return;
        }
      }
    }
  }

  /** Forgets a session that others have deleted. */
  drop(record: SessionRecord): void {
    this.forget(record);
    record.deleted = true;
  }

  /** Lets go of a session. Its handles keep showing what they show, and may bring it back. */
  forget(record: SessionRecord): void {
    if (record.number === OUT) {
      return;
    }
    const { number, scopes, events } = record;
    const { appName, userId } = record.key;
    record.past?.free();
    record.past = undefined;
    this.leave(record);
    const users = this.apps.get(appName);
    const left = [scopes[0], users === undefined ? scopes[1] : undefined, users?.has(userId) ? undefined : scopes[2]];
    for (const scope of left) {
      if (scope !== undefined) {
        this.move(scope, undefined);
        this.#positions[scope] = undefined;
      }
    }
    this.core.forget(number);
    this.#recent.delete(record);
    this.#held -= 1 + events.length;
  }
}

/** The values of a shared scope under their full keys, for rows of a list. */
export function sharedCell(part: 'app' | 'user', values: Values): Cell {
  return Cell.of(deepFreeze(underKeys(part === 'app' ? APP_PREFIX : USER_PREFIX, values)));
}

/** An event as it was stored. Throws `STORE_CORRUPT`. */
export function parseEvent({ key: { sessionId: id } }: Pick<SessionRecord, 'key'>, { rev, data }: StoredEvent): Event {
  try {
    return deepFreeze(JSON.parse(data) as Event);
  } catch (cause) {
    throw new StatepadError('STORE_CORRUPT', `event ${rev} of session "${id}" cannot be read`, { id, cause });
  }
}
