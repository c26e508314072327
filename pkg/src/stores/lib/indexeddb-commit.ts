// Several changes in one transaction: everything they need is read first, then they are made one after the other in
// memory, and what has moved is written. So one that is refused has written nothing, and the others are not touched.

import { isStoreError, StoreError } from '../../store-error.js';
import {
  beginningWith,
  get,
  put,
  remove,
  scopeKey,
  sessionKey,
  toOrdered,
  type EventRow,
  type MetaRow,
  type ScopeKey,
  type ScopeRow,
  type SessionRow,
  type UpdateRow,
} from './indexeddb-tables.js';
import { HeldValues } from './indexeddb-values.js';
import { isEmpty } from './values.js';
import type { Change, Committed, Delta, Guard, Pos, ScopeName } from '../../store.js';
import type { SessionKey } from '../../types.js';

/** How long an update is remembered, in milliseconds: a day, as clocks may be wrong. */
const REMEMBERED = 24 * 60 * 60 * 1_000;

/** An app, or a user in it. */
interface Scope {
  row: ScopeRow;
  isThere: boolean;
  hasMoved: boolean;
  readonly values: HeldValues;
}

/** A session, or the place where one may be made. */
interface Place {
  row: SessionRow | undefined;
  hasMoved: boolean;
  readonly values: HeldValues;
  /** What is stored under the ids of the events to be appended. */
  readonly events: Map<string, string>;
  readonly added: EventRow[];
}

/** What a change is about. */
interface Target {
  readonly app: Scope;
  readonly user: Scope | undefined;
  readonly place: Place | undefined;
}

/** Makes changes in a transaction, as if one after the other. The answers come in their order. */
export async function commitAll(transaction: IDBTransaction, changes: readonly Change[]): Promise<(Committed | StoreError)[]> {
  const batch = new Batch(transaction);
  await batch.read(changes);
  const answers = changes.map((change) => batch.commit(change));
  batch.write();
  return answers;
}

/** Deletes a session in a transaction. Says whether it was there. */
export async function removeSession(transaction: IDBTransaction, key: SessionKey): Promise<boolean> {
  const keys = [scopeKey(key.appName), scopeKey(key.appName, key.userId)];
  const [session, ...scopes] = await Promise.all([
    get(transaction, 'sessions', sessionKey(key)),
    ...keys.map((scope) => get(transaction, 'scopes', scope)),
  ]);
  if (session === undefined) {
    return false;
  }
  remove(transaction, 'sessions', sessionKey(key));
  remove(transaction, 'events', beginningWith([session.number]));
  remove(transaction, 'values', beginningWith([session.number]));
  for (const row of scopes) {
    if (row !== undefined) {
      put(transaction, 'scopes', { ...row, sessions: row.sessions - 1 });
    }
  }
  return true;
}

/** Deletes all values of an app, or of a user in it, in a transaction. */
export async function removeScope(transaction: IDBTransaction, { app, user }: ScopeName): Promise<void> {
  const key = scopeKey(app, user);
  const row = await get(transaction, 'scopes', key);
  if (row !== undefined) {
    remove(transaction, 'values', beginningWith([key]));
    put(transaction, 'scopes', { ...row, pos: row.pos + 1 });
  }
}

/** The part of the database that some changes are about. */
class Batch {
  readonly #transaction: IDBTransaction;
  readonly #scopes = new Map<string, Scope>();
  readonly #places = new Map<string, Place>();
  /** The updates that have been made. */
  readonly #updates = new Set<string>();
  readonly #newUpdates: UpdateRow[] = [];
  #meta: MetaRow | undefined;
  #lastSession = 0;

  constructor(transaction: IDBTransaction) {
    this.#transaction = transaction;
  }

  /** Reads what the changes need: all that can be asked for at once, at once. */
  async read(changes: readonly Change[]): Promise<void> {
    const reads = changes.map((change) => this.#readChange(change));
    if (changes.some(({ kind }) => kind === 'create')) {
      reads.push(this.#readMeta());
    }
    await Promise.all(reads);
    // What belongs to a session is found by its number.
    await Promise.all(changes.map((change) => this.#readInside(change)));
  }

  /** Makes a change, or says why it cannot be made. */
  commit(change: Change): Committed | StoreError {
    const target = this.#target(change);
    try {
      return this.#check(change, target) ?? this.#apply(change, target);
    } catch (error) {
      if (isStoreError(error)) {
        return error;
      }
      throw error;
    }
  }

  /** Writes what has moved. */
  write(): void {
    const transaction = this.#transaction;
    for (const { row, hasMoved, values } of this.#scopes.values()) {
      if (hasMoved) {
        put(transaction, 'scopes', { ...row, next: values.next });
        values.write(transaction, row.scope);
      }
    }
    for (const { row, hasMoved, values, added } of this.#places.values()) {
      if (hasMoved && row !== undefined) {
        put(transaction, 'sessions', { ...row, next: values.next });
        values.write(transaction, row.number);
        added.forEach((event) => put(transaction, 'events', event));
      }
    }
    if (this.#meta !== undefined && this.#meta.sessions !== this.#lastSession) {
      put(transaction, 'meta', { ...this.#meta, sessions: this.#lastSession });
    }
    if (this.#newUpdates.length > 0) {
      remove(transaction, 'updates', IDBKeyRange.upperBound([Date.now() - REMEMBERED]));
      this.#newUpdates.forEach((row) => put(transaction, 'updates', row));
    }
  }

  #readChange({ id, kind, key, delta, guard }: Change): Promise<unknown> {
    const user = key.userId === undefined ? undefined : scopeKey(key.appName, key.userId);
    return Promise.all([
      this.#readScope(scopeKey(key.appName), delta.app, guard?.keys?.app),
      user && this.#readScope(user, delta.user, guard?.keys?.user),
      key.sessionId === undefined ? undefined : this.#readPlace(key as SessionKey),
      kind === 'update' ? this.#readUpdate(user ?? scopeKey(key.appName), id) : undefined,
    ]);
  }

  async #readMeta(): Promise<void> {
    this.#meta = await get(this.#transaction, 'meta', 'database');
    this.#lastSession = this.#meta?.sessions ?? 0;
  }

  async #readScope(key: ScopeKey, delta: Delta | undefined, expected: Delta | undefined): Promise<void> {
    const text = JSON.stringify(key);
    const known = this.#scopes.get(text);
    const scope = known ?? { row: untouched(key), isThere: false, hasMoved: false, values: new HeldValues() };
    this.#scopes.set(text, scope);
    const values = scope.values.read(this.#transaction, key, delta, expected);
    const row = known === undefined ? await get(this.#transaction, 'scopes', key) : undefined;
    if (row !== undefined) {
      scope.row = row;
      scope.isThere = true;
      scope.values.next = row.next;
    }
    await values;
  }

  async #readPlace(key: SessionKey): Promise<void> {
    const text = textOf(key);
    if (!this.#places.has(text)) {
      const place: Place = { row: undefined, hasMoved: false, values: new HeldValues(), events: new Map(), added: [] };
      this.#places.set(text, place);
      place.row = await get(this.#transaction, 'sessions', sessionKey(key));
      place.values.next = place.row?.next ?? 0;
    }
  }

  async #readUpdate(scope: ScopeKey, id: string): Promise<void> {
    if ((await get(this.#transaction, 'updates', [scope, id], 'id')) !== undefined) {
      this.#updates.add(JSON.stringify([scope, id]));
    }
  }

  async #readInside({ id, kind, key, delta, guard }: Change): Promise<void> {
    const place = key.sessionId === undefined ? undefined : this.#places.get(textOf(key as SessionKey));
    if (place?.row !== undefined) {
      const session = place.row.number;
      const values = place.values.read(this.#transaction, session, delta.session, guard?.keys?.session);
      const event = kind === 'append' ? await get(this.#transaction, 'events', [session, id], 'id') : undefined;
      if (event !== undefined) {
        place.events.set(id, event.data);
      }
      await values;
    }
  }

  #target({ key }: Change): Target {
    const { appName, userId, sessionId } = key;
    return {
      app: this.#scopes.get(JSON.stringify(scopeKey(appName))) as Scope,
      user: userId === undefined ? undefined : this.#scopes.get(JSON.stringify(scopeKey(appName, userId))),
      place: sessionId === undefined ? undefined : this.#places.get(textOf(key as SessionKey)),
    };
  }

  /** What is known of a change that has been made before. Throws when it cannot be made. */
  #check({ id, kind, key, guard = {} }: Change, target: Target): Committed | undefined {
    const { place } = target;
    const session = place?.row;
    if (kind === 'create') {
      if (session !== undefined && session.created !== id) {
        throw new StoreError('exists', `session "${key.sessionId ?? ''}" exists already`);
      }
      if (session !== undefined) {
        return { ...answerOf(target), duplicate: true };
      }
    } else if (kind === 'append') {
      if (session === undefined || (guard.created !== undefined && guard.created !== session.created)) {
        throw new StoreError('not-found', `session "${key.sessionId ?? ''}" is not there`);
      }
      const data = place?.events.get(id);
      if (data !== undefined) {
        return { ...answerOf(target), duplicate: true, data };
      }
    } else if (this.#updates.has(JSON.stringify([scopeKey(key.appName, key.userId), id]))) {
      return { ...answerOf(target), prev: null, duplicate: true };
    }
    guardAgainst(target, guard);
    return undefined;
  }

  #apply({ id, key, time, event, delta }: Change, target: Target): Committed {
    const { app, user, place } = target;
    const isNew = place !== undefined && place.row === undefined;
    move(app, delta.app, isNew);
    if (user !== undefined) {
      move(user, delta.user, isNew);
    }
    if (place === undefined) {
      const scope = scopeKey(key.appName, key.userId);
      this.#updates.add(JSON.stringify([scope, id]));
      this.#newUpdates.push({ at: Date.now(), scope, id });
      return { ...answerOf(target), prev: null };
    }
    place.hasMoved = true;
    place.values.apply(delta.session ?? {});
    if (place.row === undefined) {
      place.row = this.#newSession(key as SessionKey, id, time);
      if (event !== undefined) {
        place.added.push({ session: place.row.number, rev: 0, time: event.time, peak: event.time, data: event.data });
        place.row = { ...place.row, first: 0, peak: event.time };
      }
      return { ...answerOf(target), prev: null };
    }
    const rev = place.row.rev + 1;
    const eventTime = event?.time ?? time;
    const peak = Math.max(place.row.peak, eventTime);
    const data = event?.data ?? '';
    place.events.set(id, data);
    place.added.push({ session: place.row.number, rev, id, time: eventTime, peak, data });
    place.row = { ...place.row, ...times(time), rev, peak };
    return { ...answerOf(target), prev: rev - 1 };
  }

  #newSession({ appName, userId, sessionId }: SessionKey, created: string, time: number): SessionRow {
    this.#lastSession += 1;
    return {
      app: toOrdered(appName),
      user: toOrdered(userId),
      id: toOrdered(sessionId),
      number: this.#lastSession,
      created,
      ...times(time),
      rev: 0,
      peak: -Infinity,
      next: 0,
    };
  }
}

/** Throws when what is there is not what was expected. */
function guardAgainst({ app, user, place }: Target, { rev, pos, keys }: Guard): void {
  const actual = place?.row?.rev ?? 0;
  if (rev !== undefined && rev !== actual) {
    throw new StoreError('conflict', `the session is at revision ${actual}, not at the expected ${rev}`, { actual });
  }
  const now = posOf(app, user);
  const hasMoved = (pos?.app ?? now.app) !== now.app || (pos?.user ?? now.user) !== now.user;
  const nothing = new HeldValues();
  const parts = [
    [app.values, keys?.app],
    [user?.values ?? nothing, keys?.user],
    [place?.values ?? nothing, keys?.session],
  ] as const;
  if (hasMoved || !parts.every(([values, expected]) => values.holds(expected ?? {}))) {
    throw new StoreError('conflict', 'the state is not what it was expected to be');
  }
}

/** Makes the delta of a scope, which is there from now on. */
function move(scope: Scope, delta: Delta | undefined, hasNewSession: boolean): void {
  const isTouched = delta !== undefined && !isEmpty(delta);
  if (isTouched) {
    scope.values.apply(delta);
  }
  const { pos, sessions } = scope.row;
  scope.hasMoved ||= isTouched || hasNewSession || !scope.isThere;
  scope.row = { ...scope.row, pos: pos + (isTouched ? 1 : 0), sessions: sessions + (hasNewSession ? 1 : 0) };
}

/** Where everything is now. */
function answerOf({ app, user, place }: Target): Committed {
  const rev = place?.row?.rev ?? 0;
  return { rev, prev: rev, pos: posOf(app, user) };
}

function posOf(app: Scope, user: Scope | undefined): Pos {
  return { app: app.row.pos, user: user?.row.pos ?? 0 };
}

/** A scope that nobody has written to yet. */
function untouched(scope: ScopeKey): ScopeRow {
  return { scope, pos: 0, sessions: 0, next: 0 };
}

function textOf({ appName, userId, sessionId }: SessionKey): string {
  return JSON.stringify([appName, userId, sessionId]);
}

/** A time and its opposite. Neither is -0, which is another key than 0 in some browsers. */
function times(time: number): Pick<SessionRow, 'time' | 'back'> {
  return { time: time + 0, back: 0 - time };
}
