// Batches of a log: which of the waiting requests are decided now, and which records are written for them.

import { defined } from '../../model/defined.js';
import { newId } from '../../model/ids.js';
import { isRememberedRefusal } from '../../store/refusals.js';
import { callOf, hintOf, keyText } from '../shared/keys.js';
import { isEmpty } from '../shared/values.js';
import type { LogTables } from './log-tables.js';
import { ScopeGrowth } from './scope-growth.js';
import type { Change, Committed, Delta, Guard } from '../../store/contract.js';
import type { StoreError } from '../../store/store-error.js';
import type { Numbered, Refusal, Removal, Timed, Trimming } from './log-record.js';

/** A request to write: a change, or a removal. */
export type Request = Change | Trimming | Removal;

/** The result of a request; for one that trims a log, also the number of entries that there were. */
export type Done = Committed & { readonly trimmed?: number };

/** A request that waits, and the promise of its answer. */
export interface Task {
  readonly request: Request;
  /** It shares a batch with no other request. */
  readonly isAlone: boolean;
  /** True if the request has something to do, by the tables of its turn. */
  readonly isDue?: (tables: LogTables) => boolean;
  readonly resolve: (done: Done | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** A task that has been decided, with the record that is stored of it. */
export interface Entry {
  readonly task: Task;
  readonly record: Numbered;
  /** The removal of a session that has expired, under the key of a creation. */
  readonly before?: Removal;
  /** The reason for a refusal, when the record is that of one. */
  readonly refusal?: StoreError;
}

/**
 * Takes as many of the waiting tasks as can be decided now, and answers those that are refused or done. One that
 * depends on another before it stays for the next time.
 */
export function takeBatch(waiting: Task[], tables: LogTables): readonly Entry[] {
  const time = Date.now();
  return tables.at(time, () => {
    const batch = new Batch(tables, time);
    let count = 0;
    while (count < waiting.length && batch.take(waiting[count] as Task)) {
      count += 1;
    }
    waiting.splice(0, count);
    return batch.entries;
  });
}

/** The records that are stored of an entry, in their order. */
export function recordsOf({ before, record }: Entry): readonly Numbered[] {
  return before === undefined ? [record] : [before, record];
}

/** Applies a record that is durable now, and answers its request. */
export function makeEntry(tables: LogTables, { task, record, before, refusal }: Entry): void {
  const { request, resolve, reject } = task;
  if (before !== undefined) {
    tables.replay(before);
  }
  if (refusal === undefined && 'delta' in request && 'delta' in record) {
    resolve(tables.apply(request, record));
    return;
  }
  tables.replay(record);
  if (refusal === undefined) {
    resolve(undefined);
  } else {
    reject(refusal);
  }
}

/** The requests that go together, decided by the tables as they are before all of them. */
class Batch {
  readonly entries: Entry[] = [];
  readonly #tables: LogTables;
  readonly #time: number;
  /** The sessions, updates and removed scopes that it is about: one request for each. */
  readonly #units = new Set<string>();
  /** The changes that it makes to each scope, by the scope's name. */
  readonly #moves = new Map<string, ScopeGrowth>();

  constructor(tables: LogTables, time: number) {
    this.#tables = tables;
    this.#time = time;
  }

  /** Decides a task: answers it, or adds it to the entries. `false` when it has to wait for the next batch. */
  take(task: Task): boolean {
    if (!this.#hasRoomFor(task)) {
      return false;
    }
    const { request } = task;
    let known: Committed | undefined;
    try {
      known = 'delta' in request ? this.#tables.check(request) : undefined;
      if (known === undefined && this.#isWritten(task)) {
        const before = this.#removalBefore(request);
        this.#add(task, { task, record: this.#recordOf(request), ...defined({ before }) });
        return true;
      }
    } catch (error) {
      this.#refuse(task, error);
      return true;
    }
    if (known !== undefined && this.#isMovedFor(request)) {
      // The answer to a duplicate says where its scopes are, which is known when this batch has been written.
      return false;
    }
    task.resolve(known);
    return true;
  }

  #hasRoomFor({ request, isAlone }: Task): boolean {
    if (this.entries.length === 0) {
      return true;
    }
    const looksAtScopes = (request.guard?.pos ?? request.guard?.keys) !== undefined;
    const isClosed = isAlone || this.entries.some(({ task }) => task.isAlone);
    return (
      !isClosed &&
      !this.#units.has(unitOf(request)) &&
      !(looksAtScopes && this.#isMovedFor(request)) &&
      !this.#comesNearLimits(request)
    );
  }

  /**
   * True when a request might exceed a limit of a scope together with those before it: then it is decided when they
   * are made.
   */
  #comesNearLimits(request: Request): boolean {
    if (this.#moves.size === 0 || !('delta' in request) || request.limits === undefined) {
      return false;
    }
    const { limits, delta, key } = request;
    const { keys = Infinity, state = Infinity } = limits;
    const { appName: app, userId: user } = key;
    return (
      [
        [{ app }, delta.app],
        [defined({ app, user }), user === undefined ? undefined : delta.user],
      ] as const
    ).some(([scope, part = {}]) => {
      const growth = this.#moves.get(keyText(hintOf(scope)));
      if (growth === undefined || isEmpty(part)) {
        return false;
      }
      const size = this.#tables.sizeOf(scope);
      const most = growth.mostWith(part);
      return size.keys + most.keys > keys || size.bytes + most.bytes > state;
    });
  }

  /** True when a task changes anything: a missing session need not be removed. */
  #isWritten({ request: { kind, key, guard }, isDue }: Task): boolean {
    return isDue?.(this.#tables) ?? (kind !== 'remove' || this.#tables.isRemovable(key, guard));
  }

  /** The removal of what has expired under the key of a creation. */
  #removalBefore({ kind, key }: Request): Removal | undefined {
    const created = kind === 'create' ? this.#tables.expiredUnder(key) : undefined;
    return created === undefined
      ? undefined
      : this.#tables.at(-Infinity, () =>
          this.#removalRecord({ id: newId(), kind: 'remove', key, time: this.#time, guard: { created } }),
        );
  }

  #isMovedFor({ key: { appName, userId } }: Request): boolean {
    return this.#moves.size > 0 && (this.#movesOf(appName) > 0 || this.#movesOf(appName, userId) > 0);
  }

  #add(task: Task, entry: Entry): void {
    const { request } = task;
    this.entries.push(entry);
    this.#units.add(unitOf(request));
    if (entry.refusal === undefined && 'delta' in request) {
      const {
        key: { appName, userId },
        delta,
      } = request;
      this.#move(keyText({ appName }), delta.app);
      this.#move(keyText({ appName, userId }), userId === undefined ? undefined : delta.user);
    }
  }

  #move(scope: string, delta: Delta | undefined): void {
    if (delta !== undefined && !isEmpty(delta)) {
      const growth = this.#moves.get(scope) ?? new ScopeGrowth();
      growth.add(delta);
      this.#moves.set(scope, growth);
    }
  }

  #refuse(task: Task, error: unknown): void {
    const { request } = task;
    if ('delta' in request && isRememberedRefusal(request, error)) {
      this.#add(task, { task, record: refusalRecord(request), refusal: error });
    } else {
      task.reject(error);
    }
  }

  /**
   * The part of a request that is stored: not what it says about its caller, but with the session and all positions
   * just before it.
   */
  #recordOf(request: Request): Numbered {
    if (!('delta' in request)) {
      // A session that is removed because it has expired is still there for the record of that.
      return this.#tables.at(-Infinity, () => this.#removalRecord(request));
    }
    const guard = this.#where(request.key);
    if (!('event' in request)) {
      const record: Change & { known?: unknown; attempt?: unknown; limits?: unknown } = { ...request, guard };
      delete record.known;
      delete record.attempt;
      delete record.limits;
      return { ...record, ...this.#timesOf(request) };
    }
    const { id, kind, key, time, event, delta, call, digest, reservation, expires } = request;
    const record: { -readonly [Name in keyof Change]: Change[Name] } = { id, kind, key, time, event, guard, delta };
    if (call !== undefined) {
      record.call = call;
    }
    if (digest !== undefined) {
      record.digest = digest;
    }
    if (reservation !== undefined) {
      record.reservation = reservation;
    }
    if (expires !== undefined) {
      record.expires = expires;
    }
    return { ...record, ...this.#timesOf(request) };
  }

  #removalRecord(request: Removal): Removal {
    const record = { ...request, guard: this.#where(request.key) };
    return request.kind === 'remove' ? { ...record, ...this.#tables.creationIn(request.key) } : record;
  }

  /** The session of a key, its revision and all positions, as they will be just before the next request. */
  #where({ appName, userId, sessionId }: Request['key']): Guard {
    const { created, rev, pos } = this.#tables.where(defined({ appName, userId, sessionId }));
    const moved = {
      app: pos.app + this.#movesOf(appName),
      user: pos.user + (userId === undefined ? 0 : this.#movesOf(appName, userId)),
    };
    return created === undefined ? { rev, pos: moved } : { created, rev, pos: moved };
  }

  #timesOf(request: Change): Timed {
    const written = isEmpty(request.delta.user) ? undefined : this.#time;
    return defined({ ends: this.#tables.endAfter(request), written });
  }

  #movesOf(appName: string, userId?: string): number {
    return this.#moves.size === 0 ? 0 : (this.#moves.get(keyText({ appName, userId }))?.count ?? 0);
  }
}

/** The unit that a batch has one request for: a session; each update and each removed scope is one by itself. */
function unitOf({ id, key }: Request): string {
  return keyText(key) + (key.sessionId === undefined ? id : '');
}

function refusalRecord(change: Change): Refusal {
  return defined({
    id: newId(),
    kind: 'refusal' as const,
    key: { appName: change.key.appName },
    call: callOf(change),
    digest: change.digest,
    time: Date.now(),
  });
}
