// All sessions of one service, as far as JavaScript keeps them: the core's object, the event bodies, the handles.

import { StatepadError } from '../model/errors.js';
import { Cell, OUT, makeHandle, viewOf, type SessionRecord, type View } from './handle.js';
import { coreError } from '../engine/core-error.js';
import type { CreationEvent } from './creation.js';
import type { Draft, TempDelta } from '../input/event-draft.js';
import type { Change } from '../store/contract.js';
import type { Event, GetSessionConfig, Session, SessionKey } from '../model/types.js';
import { MOST } from '../engine/limits.js';
import { namesText, write, type DeltaText } from '../engine/transfer.js';
import { Core } from '../engine/wasm.js';

/** What has to hold for a change to be made. Absent parts are not looked at. */
export interface Guard {
  readonly revision?: number | undefined;
  readonly app?: number | undefined;
  readonly user?: number | undefined;
}

/**
 * A change that the core has prepared: stored or not, it must be applied or discarded. The core's token times 16, plus
 * the scopes that it changes as bits: 1 session, 2 app, 4 user, {@link TEMP} `temp:`.
 */
export type Ticket = number;

/** What the core answers when it refuses. */
const REFUSED = -(2 ** 31);

/** The bits of the stored scopes in a {@link Ticket}. */
const ALL = 7;

/** The bit of `temp:` in a {@link Ticket}. */
export const TEMP = 8;

/** What rows of a list show. */
export const NO_EVENTS: GetSessionConfig = { numRecentEvents: 0 };

/** How many invocations a handle remembers: those that take turns on it. */
const MOST_INVOCATIONS = 64;

/** Owns the core's object and never shows it. */
export class Memory {
  /** @internal */
  protected readonly core = new Core();
  protected readonly apps = new Map<string, Map<string, Map<string, SessionRecord>>>();
  readonly #records: (SessionRecord | undefined)[] = [];
  /** By the scope's number: the version that handles are given now. */
  readonly #cells: (Cell | undefined)[] = [];
  /** By the scope's number: how often it has moved. */
  readonly #versions: number[] = [];

  /** Finds a session by its full key. */
  find({ appName, userId, sessionId }: SessionKey): SessionRecord | undefined {
    return this.apps.get(appName)?.get(userId)?.get(sessionId);
  }

  /** A new handle of a session as it is now. */
  read(record: SessionRecord, config?: GetSessionConfig, given?: readonly Event[], cells = this.#hold(record)): Session {
    const length = record.base + record.events.length;
    return makeHandle({
      record,
      config,
      readLength: length,
      given,
      cells,
      length,
      revision: record.revision,
      updateTime: record.updateTime,
      temp: undefined,
      invocations: undefined,
      invocation: undefined,
      state: undefined,
      events: undefined,
    });
  }

  /** The view behind a handle that this service made. */
  view(session: unknown): View | undefined {
    const view = viewOf(session);
    return view?.record.owner === this ? view : undefined;
  }

  /** Prepares a creation. Throws `SESSION_EXISTS`. */
  prepareCreate({ appName, userId, sessionId }: SessionKey, time: number, { delta, deleted }: DeltaText): Ticket {
    const [length, names] = write(JSON.stringify(delta), namesText(deleted));
    return this.#agreed(this.core.prepare_create(appName, userId, sessionId, time, length, names));
  }

  /** Takes over a creation, in those of its parts that are not known already. */
  applyCreate(key: SessionKey, creation: CreationEvent, ticket: Ticket, created = '', parts = ALL): SessionRecord {
    this.#moveShared(key, ticket & parts);
    const record = this.newRecord(key, created);
    record.creation = creation;
    record.updateTime = creation.timestamp;
    this.enter(record, this.core.apply(ticket >>> 4, parts) ?? missing());
    return record;
  }

  /** A session that the core does not know yet. */
  protected newRecord({ appName, userId, sessionId }: SessionKey, created: string): SessionRecord {
    return {
      owner: this,
      number: OUT,
      key: { appName, userId, sessionId },
      created,
      scopes: [OUT, OUT, OUT],
      events: [],
      base: 0,
      revision: 0,
      last: undefined,
      updateTime: 0,
      deleted: false,
      creation: undefined,
      past: undefined,
      list: undefined,
      merged: undefined,
    };
  }

  /** Makes a session found, that the core knows under a number. */
  protected enter(record: SessionRecord, number: number): void {
    const { appName, userId, sessionId } = record.key;
    record.number = number;
    record.scopes = (this.core.scopes(number) ?? missing()) as unknown as SessionRecord['scopes'];
    this.#records[number] = record;
    child(child(this.apps, appName), userId).set(sessionId, record);
  }

  /** Makes a session found no more. */
  protected leave(record: SessionRecord): void {
    this.#records[record.number] = undefined;
    record.number = OUT;
    const { appName, userId, sessionId } = record.key;
    const users = this.apps.get(appName);
    const sessions = users?.get(userId);
    sessions?.delete(sessionId);
    if (sessions?.size === 0) {
      users?.delete(userId);
    }
    if (users?.size === 0) {
      this.apps.delete(appName);
    }
  }

  /** Prepares an append. Answers with the stored event when the session has one of that id. */
  prepareAppend(record: SessionRecord, { id, timestamp, delta, deleted }: Draft, { revision = -1, app = -1, user = -1 }: Guard): Ticket | Event {
    const [length, names, idLength] = write(JSON.stringify(delta), namesText(deleted), id);
    const code = this.core.prepare_append(record.number, timestamp, length, names, idLength, revision, app, user);
    return code < 0 && code !== REFUSED ? (record.events[-1 - code - record.base] ?? missing()) : this.#agreed(code);
  }

  /**
   * Takes over an append, in those of its parts that are not known already. The handle that it came `through` is
   * refreshed next: nothing needs to be kept for it.
   */
  applyAppend(record: SessionRecord, event: Event, ticket: Ticket, through: View | undefined, parts = ALL): void {
    for (let index = 0; index < 3; index++) {
      if (((ticket & parts) >> index) & 1) {
        this.move(record.scopes[index] as number, through?.cells[index]);
      }
    }
    this.core.apply(ticket >>> 4, parts);
    if (parts & 1) {
      record.events.push(event);
      record.revision += 1;
      record.updateTime = event.timestamp;
    }
  }

  /** Prepares a change of app and user state that belongs to no session. */
  prepareUpdate(appName: string, userId: string | undefined, id: string, time: number, { delta, deleted }: DeltaText, guard: Guard): Ticket {
    const [length, names] = write(JSON.stringify(delta), namesText(deleted));
    const { app = -1, user = -1 } = guard;
    return this.#agreed(this.core.prepare_update(appName, userId, id, time, length, names, app, user));
  }

  /** Takes over a change of app and user state, in those of its parts that are not known already. */
  applyUpdate(appName: string, userId: string | undefined, ticket: Ticket, parts = ALL): void {
    this.#moveShared({ appName, userId }, ticket & parts);
    this.core.apply(ticket >>> 4, parts);
  }

  /** What a store gets: the deltas of a change, split by scope. */
  scopedDelta(ticket: Ticket): Change['delta'] {
    return JSON.parse(this.core.change_json(ticket >>> 4) ?? '{}') as Change['delta'];
  }

  /** Forgets a change that is not stored. */
  discard(ticket: Ticket): void {
    this.core.discard(ticket >>> 4);
  }

  /** Brings a handle up to date. `temp:` keys are the business of {@link Memory.showTemp}. */
  refresh(view: View): void {
    const { record, cells } = view;
    for (let index = 0; index < 3; index++) {
      const cell = this.#cell(record.scopes[index] as number);
      const shown = cells[index] as Cell;
      if (cell !== shown) {
        shown.holders -= 1;
        cell.holders += 1;
        cells[index] = cell;
      }
    }
    view.length = record.base + record.events.length;
    view.revision = record.revision;
    view.updateTime = record.updateTime;
    view.state = undefined;
    view.events = undefined;
  }

  /** Shows the `temp:` keys of an event on the handle that it came through. A user's event may begin an invocation. */
  showTemp(view: View, { author, invocationId }: Event, temp: TempDelta | undefined): void {
    if (view.invocation !== invocationId) {
      const seen = (view.invocations ??= new Set());
      if (author === 'user' && !seen.has(invocationId) && seen.size > 0) {
        view.temp = undefined;
      }
      // The last one goes to the end; the one that was seen longest ago is forgotten.
      seen.delete(invocationId);
      seen.add(invocationId);
      const [oldest] = seen;
      if (seen.size > MOST_INVOCATIONS && oldest !== undefined) {
        seen.delete(oldest);
      }
      view.invocation = invocationId;
    }
    if (temp !== undefined) {
      const shown = (view.temp ??= new Map());
      temp.set.forEach((value, key) => shown.set(key, value));
      temp.unset.forEach((key) => shown.delete(key));
    }
  }

  /** Deletes a session. Handles keep showing what they show. */
  remove(record: SessionRecord): void {
    const { number, past, scopes: [own, app, user], key: { appName, userId } } = record;
    this.move(own, undefined);
    this.core.remove(number);
    this.leave(record);
    record.deleted = true;
    record.past = undefined;
    past?.free();
    // The core keeps no user, and no app, without sessions and state: the numbers of their scopes name others next.
    for (const [scope, left] of [[app, this.core.scope(appName)], [user, this.core.scope(appName, userId)]] as const) {
      if (left === undefined) {
        this.move(scope, undefined);
      }
    }
  }

  /** One page of sessions, in the core's order. */
  list(query: {
    appName: string;
    userId: string | undefined;
    descending: boolean;
    limit: number | undefined;
    offset: number;
    cursor: string | undefined;
  }): { sessions: Session[]; offset: number; total: number; cursor: string | undefined } {
    const { appName, userId, descending, limit, offset, cursor } = query;
    const [before = 0, total = 0, ...numbers] =
      this.core.list(appName, userId, descending, limit && Math.min(limit, MOST), Math.min(offset, MOST), cursor) ?? this.#refused();
    const sessions = numbers.map((number) => this.read(this.#records[number] ?? missing(), NO_EVENTS));
    const last = numbers.at(-1);
    const isLast = last === undefined || before + numbers.length >= total;
    return { sessions, offset: before, total, cursor: isLast ? undefined : this.core.cursor(last) };
  }

  /** The values of an app, or of a user in it, as JSON text. */
  scopeText(appName: string, userId: string | undefined, fullKeys: boolean): string {
    const scope = this.core.scope(appName, userId);
    return scope === undefined ? '{}' : (this.core.scope_json(scope, fullKeys) ?? '{}');
  }

  /** The version of an app's scope, or of a user's in it. */
  scopeVersion(appName: string, userId: string | undefined): number {
    const scope = this.core.scope(appName, userId);
    return scope === undefined ? 0 : this.core.scope_version(scope);
  }

  #agreed(code: number): Ticket {
    return code === REFUSED ? this.#refused() : code;
  }

  #refused(): never {
    throw coreError(this.core.take_error() ?? '{}');
  }

  #cell(scope: number): Cell {
    return (this.#cells[scope] ??= new Cell(this.core, scope, this.#versions[scope] ?? 0));
  }

  #hold({ scopes: [own, app, user] }: SessionRecord): [Cell, Cell, Cell] {
    const cells: [Cell, Cell, Cell] = [this.#cell(own), this.#cell(app), this.#cell(user)];
    for (const cell of cells) {
      cell.holders += 1;
    }
    return cells;
  }

  /** Before app or user values move. */
  #moveShared({ appName, userId }: { appName: string; userId: string | undefined }, ticket: Ticket): void {
    const app = ticket & 2 ? this.core.scope(appName) : undefined;
    const user = ticket & 4 ? this.core.scope(appName, userId) : undefined;
    for (const scope of [app, user]) {
      if (scope !== undefined) {
        this.move(scope, undefined);
      }
    }
  }

  /**
   * Before values move. Handles that show them and have not looked yet keep them; `leaving` is what the handle shows that
   * moves on with them. The next handle gets the new version.
   */
  protected move(scope: number, leaving: Cell | undefined): void {
    this.#versions[scope] = (this.#versions[scope] ?? 0) + 1;
    const cell = this.#cells[scope];
    if (cell === undefined) {
      return;
    }
    if (cell.holders === (cell === leaving ? 1 : 0)) {
      cell.moveOn();
    } else {
      cell.keep();
      this.#cells[scope] = undefined;
    }
  }
}

function child<K, V>(map: Map<string, Map<K, V>>, key: string): Map<K, V> {
  let inner = map.get(key);
  if (inner === undefined) {
    inner = new Map();
    map.set(key, inner);
  }
  return inner;
}

/** The core and this side disagree: a fault of this package. */
function missing(): never {
  throw new StatepadError('SESSION_NOT_FOUND', 'the core does not know a session that it should know');
}
