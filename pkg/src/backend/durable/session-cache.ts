// What a service keeps in memory of the sessions that a store has: never ahead of it, and bounded.

import { afterLoad, differ, isLost, type At, type Head, type SharedPart } from './following.js';
import { deepFreeze } from '../../model/json.js';
import { Cell, OUT, eventsOf, type SessionRecord, type View } from '../../session/handle.js';
import { Memory, NO_EVENTS, type Ticket } from '../../session/registry.js';
import { newId } from '../../model/ids.js';
import { knownOf, partsOf, Positions, sentOf, SHARED, type ScopeKey, type Sent, type Shared, type Steps } from './positions.js';
import { underKeys } from '../../model/scope.js';
import { Room } from './room.js';
import { parseEvent } from './loaded-event.js';
import { write } from '../../engine/transfer.js';
import type { Append } from '../../session/append.js';
import type { CreationEvent } from '../../session/creation.js';
import type { Committed, Delta, Hint, Known, Loaded, Row, StoredEvent, Values } from '../../store/contract.js';
import type { Event, Json, Session, SessionKey } from '../../model/types.js';

/** Sessions that were loaded from a store, or created in it. */
export class Cache extends Memory {
  readonly #positions = new Positions();
  readonly #room: Room;
  readonly #stale = new WeakSet<SessionRecord>();
  /** Logs that the store does not have: it has gone back since. */
  readonly #lost = new WeakSet<SessionRecord>();
  /** Keeps about `limit` events in sessions that nobody waits for. */
  constructor(limit: number) {
    super();
    this.#room = new Room(limit, (record) => this.forget(record));
  }

  /** Whether a session is as it was loaded, as far as is known here. */
  isCurrent(record: SessionRecord): boolean {
    const [, app, user] = record.scopes;
    const isKnown = this.#positions.get(app) !== undefined && this.#positions.get(user) !== undefined;
    return record.number !== OUT && !this.#stale.has(record) && isKnown;
  }

  /** It is not known any more whether a session is as it was loaded. */
  doubt(record: SessionRecord): void {
    this.#stale.add(record);
  }

  /** What need not be loaded again. */
  known({ appName, userId }: SessionKey, record: SessionRecord | undefined): Known {
    const scopes = this.knownScopes(appName, userId);
    if (record === undefined) {
      return scopes;
    }
    const { rev, last } = headOf(record);
    return { created: record.created, rev, ...(last === undefined ? {} : { last }), ...scopes };
  }

  /** What is in memory of an app, and of a user in it. */
  knownScopes(appName: string, userId: string | undefined): Required<Pick<Known, 'pos' | 'marks'>> {
    const at = (user?: string): At | undefined => this.#positions.get(this.core.scope(appName, user) ?? OUT);
    return knownOf(at(), userId === undefined ? undefined : at(userId));
  }

  /**
   * Takes over what a store has answered, when `before` was what memory had and the store was told what is `known`. `idle` is
   * a session that only a handle knows: it comes back. Answers `undefined` when memory has moved meanwhile, or was not what
   * the store has: ask again.
   */
  take(key: SessionKey, loaded: Loaded, before: SessionRecord | undefined, known: Known, idle?: SessionRecord): SessionRecord | undefined {
    const now = this.find(key);
    if (now !== before) {
      return undefined;
    }
    if (now !== undefined && now.created !== loaded.created) {
      this.drop(now);
      return undefined;
    }
    const isIdle = idle?.created === loaded.created && idle.number === OUT;
    const old = now ?? (isIdle && !this.#lost.has(idle) ? idle : undefined);
    if (old !== undefined && this.#isGone(old, loaded, known)) {
      this.lose(old);
      return undefined;
    }
    const record = old ?? this.newRecord(key, loaded.created);
    try {
      if (!this.#takeEvents(record, loaded, old === undefined)) {
        return undefined;
      }
      this.#stale.delete(record);
      return SHARED.map((scope) => this.#takeScope(record, scope, loaded, known)).every(Boolean) ? record : undefined;
    } catch (error) {
      // The core had no memory for all of it: a part of it is no session.
      this.forget(record);
      throw error;
    }
  }

  /** Whether a log that is here is none that the store has. */
  #isGone(record: SessionRecord, { rev, last, events, diverged }: Loaded, known: Known): boolean {
    const sent = record.number === OUT ? headOf(record) : { rev: known.rev ?? 0, last: known.last };
    if (diverged || isLost({ rev, last }, sent) || (rev === record.revision && differ(last, record.last))) {
      return true;
    }
    return events.some((stored) => {
      const here = record.events[stored.rev - record.base - 1];
      return here !== undefined && here.id !== (stored.id ?? parseEvent(record, stored).id);
    });
  }

  /** Takes over the session's own part of an answer. Says whether it fits to what is here. */
  #takeEvents(record: SessionRecord, { rev, time, state, events, last }: Loaded, isNew: boolean): boolean {
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
        this.#room.grow(1 + record.events.length);
      }
      newer.forEach((event) => record.events.push(event));
      record.revision = rev;
      record.updateTime = time;
      this.#room.grow(newer.length);
      this.#replace(record.scopes[0], state.session as Values, '');
    }
    if (rev === record.revision) {
      record.last = last ?? record.events.at(-1)?.id;
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
      this.#room.grow(record.number === OUT ? 0 : older.length);
    }
  }

  /** Takes over what an answer says of a shared scope. Says whether its values are here now. */
  #takeScope(record: SessionRecord, { part, place, prefix }: Shared, { pos, marks, state, changed }: Loaded, known: Known): boolean {
    const scope = record.scopes[place];
    const at: At = { pos: pos[part], mark: marks?.[part] };
    const values = state[part];
    const delta = changed?.[part];
    const now = this.#positions.get(scope);
    const step = afterLoad(now, sentOf(known, part), { at, hasValues: values !== undefined, hasChanged: delta !== undefined });
    switch (step) {
      case 'keep':
        if (now?.pos === at.pos && now.mark === undefined) {
          this.#positions.set(scope, at);
        }
        return true;
      case 'add':
        this.#add(record.key, part, prefix, delta as Delta);
        break;
      case 'replace':
        this.#replace(scope, values as Values, prefix);
        break;
      case 'forget':
        this.#positions.forget(scope);
        return false;
    }
    this.#positions.set(scope, at);
    return true;
  }

  #replace(scope: number, values: Values, prefix: string): void {
    this.move(scope, undefined);
    const [length] = write(JSON.stringify(underKeys(prefix, values)));
    this.core.replace(scope, length);
  }

  /** Takes over what others have done to a shared scope. What is deleted and written again goes to the end. */
  #add({ appName, userId }: SessionKey | ScopeKey, part: SharedPart, prefix: string, { set = {}, unset = [] }: Delta): void {
    const user = part === 'user' ? userId : undefined;
    const apply = (delta: Readonly<Record<string, Json>>, deleted: readonly string[]): void => {
      this.applyUpdate(appName, user, this.prepareUpdate(appName, user, newId(), 0, { delta, deleted }, {}));
    };
    if (unset.length > 0) {
      const gone = underKeys(prefix, Object.fromEntries(unset.map((name) => [name, null])));
      apply(gone, Object.keys(gone));
    }
    if (Object.keys(set).length > 0) {
      apply(underKeys(prefix, set), []);
    }
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
   * A handle for a session as it was created, when it is not so in memory: others have written to it or deleted it, or it
   * cannot be read now. `scopes` are the values of its app and its user.
   */
  created(key: SessionKey, created: string, creation: CreationEvent, own: Values, scopes: readonly [Cell, Cell], isDeleted: boolean): Session {
    const session = this.row({ key, created, rev: 0, time: creation.timestamp, state: own }, scopes);
    const { record } = this.view(session) as View;
    record.creation = creation;
    record.deleted = isDeleted;
    return session;
  }

  /**
   * Takes over an append that is stored. Answers with the event as it is here, or with `undefined` when memory does not lead
   * up to it: nothing has changed here then, and the session has to be loaded.
   */
  settle(record: SessionRecord, { event, ticket = 0 }: Append, sent: Sent, committed: Committed, view: View | undefined): Event | undefined {
    const { rev } = committed;
    const isNews = rev > record.revision;
    const isNext = this.#follows(record, event.id, sent.known, committed);
    const steps = isNext ? this.#positions.steps(record.scopes, ticket, sent, committed) : undefined;
    if (steps === undefined) {
      this.discard(ticket);
      this.doubt(record);
      return undefined;
    }
    this.#addChanged(record.key, steps, committed);
    const shared = partsOf(steps, ticket);
    this.applyAppend(record, event, ticket, view?.record === record ? view : undefined, shared | (isNews ? 1 : 0));
    this.#positions.moved(record.scopes, ticket, steps, sent, committed);
    if (isNews) {
      record.last = event.id;
      this.#room.grow(1);
    }
    return isNews ? event : record.events[rev - record.base - 1];
  }

  /** Whether the session in memory leads up to an append that is stored. One that the store does not have is lost. */
  #follows(record: SessionRecord, id: string, known: Known, { rev, prev, before }: Committed): boolean {
    if (record.number === OUT) {
      return false;
    }
    const told: Head = { rev: prev ?? rev - 1, last: before?.session };
    const isAhead = rev <= record.revision;
    const here = isAhead ? record.events[rev - record.base - 1] : undefined;
    const isOther = (told.rev === record.revision && differ(told.last, record.last)) || (here !== undefined && here.id !== id);
    if (isLost(told, { rev: known.rev ?? 0, last: known.last }) || isOther) {
      this.lose(record);
      return false;
    }
    return isAhead ? here !== undefined : told.rev === record.revision;
  }

  /** Takes over a creation that is stored, as {@link Cache.settle} does an append. */
  settleCreate(key: SessionKey, creation: CreationEvent, ticket: Ticket, sent: Sent, committed: Committed): SessionRecord | undefined {
    const { pos, duplicate } = committed;
    const scopes = [OUT, this.core.scope(key.appName) ?? OUT, this.core.scope(key.appName, key.userId) ?? OUT];
    const steps = this.#positions.steps(scopes, ticket, sent, committed);
    // What is not in memory is known when nobody has ever written to it.
    const isKnown = SHARED.every(({ part, bit, place }) => scopes[place] !== OUT || pos[part] === (ticket & bit ? 1 : 0));
    if (duplicate || steps === undefined || !isKnown || this.find(key) !== undefined) {
      this.discard(ticket);
      return undefined;
    }
    this.#addChanged(key, steps, committed);
    const record = this.applyCreate(key, creation, ticket, sent.change.id, partsOf(steps, ticket) | 1);
    this.#positions.moved(record.scopes, ticket, steps, sent, committed);
    this.#room.grow(1);
    this.touch(record);
    return record;
  }

  /** Takes over a change of app and user state that is stored, where it follows what is known. */
  settleUpdate({ appName, userId }: ScopeKey, ticket: Ticket, sent: Sent, committed: Committed): void {
    const scopes = [OUT, this.core.scope(appName) ?? OUT, (userId === undefined ? undefined : this.core.scope(appName, userId)) ?? OUT];
    const steps = committed.duplicate ? undefined : this.#positions.steps(scopes, ticket, sent, committed);
    if (steps === undefined) {
      this.discard(ticket);
      this.forgetPositions(appName, userId);
      return;
    }
    this.#addChanged({ appName, userId }, steps, committed);
    const parts = partsOf(steps, ticket) & SHARED.reduce((bits, { bit, place }) => bits | (scopes[place] === OUT ? 0 : bit), 0);
    if (parts === 0) {
      this.discard(ticket);
    } else {
      this.applyUpdate(appName, userId, ticket, parts);
    }
    this.#positions.moved(scopes, ticket, steps, sent, committed);
  }

  /** It is not known any more where an app, or a user in it, is: whoever needs them next loads them. */
  forgetPositions(appName: string, userId: string | undefined): void {
    for (const scope of [this.core.scope(appName), userId === undefined ? undefined : this.core.scope(appName, userId)]) {
      if (scope !== undefined) {
        this.#positions.forget(scope);
      }
    }
  }

  #addChanged(key: SessionKey | ScopeKey, steps: Steps, { changed }: Committed): void {
    for (const { part, prefix } of SHARED) {
      if (steps[part] === 'add') {
        this.#add(key, part, prefix, changed?.[part] as Delta);
      }
    }
  }

  /** Puts the events of a handle before those of a session that is in memory now, where both are known to be of one log. */
  join({ record: old }: View, record: SessionRecord): void {
    const overlap = record.events[0];
    const isSame = overlap !== undefined && old.events[record.base - old.base]?.id === overlap.id;
    if (old !== record && record.base > old.base && isSame && !this.#lost.has(old)) {
      this.#prepend(record, old.events.slice(0, record.base - old.base));
    }
  }

  /** Whether a handle has been read from a log that is not that of a session in memory: it shows that from now on. */
  isOther({ record: old, readLength }: View, record: SessionRecord): boolean {
    return old !== record && (this.#lost.has(old) || record.revision < readLength);
  }

  /** Lets a handle go on with a session that is in memory now, in place of what it was read from. */
  rebind(view: View, record: SessionRecord): void {
    if (this.isOther(view, record)) {
      // Until it is refreshed it shows what it shows.
      view.events ??= eventsOf(view);
      view.readLength = record.revision;
      view.given = undefined;
    }
    view.record = record;
  }

  /** Whether a log is known to be none that the store has. */
  isLost(record: SessionRecord): boolean {
    return this.#lost.has(record);
  }

  /** A session in memory is not what the store has. Its handles show what they show until they are used. */
  lose(record: SessionRecord): void {
    this.#lost.add(record);
    this.forget(record);
  }

  /** Keeps a session in memory while it is worked with. */
  hold(record: SessionRecord): SessionRecord {
    this.#room.hold(record);
    return record;
  }

  /** Ends what {@link Cache.hold} has begun. */
  release(record: SessionRecord): void {
    this.#room.release(record);
  }

  /** A session is used: others are dropped first. */
  touch(record: SessionRecord): void {
    this.#room.touch(record);
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
    const { number, scopes } = record;
    const { appName, userId } = record.key;
    record.past?.free();
    record.past = undefined;
    this.leave(record);
    const users = this.apps.get(appName);
    const left = [scopes[0], users === undefined ? scopes[1] : undefined, users?.has(userId) ? undefined : scopes[2]];
    for (const scope of left) {
      if (scope !== undefined) {
        this.move(scope, undefined);
        this.#positions.forget(scope);
      }
    }
    this.core.forget(number);
    this.#room.left(record);
  }
}

function headOf({ revision, last }: SessionRecord): Head {
  return { rev: revision, last };
}
