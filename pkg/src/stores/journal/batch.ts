// Batches of a log: which of the waiting requests are decided now, and which records are written for them.

import { defined } from '../../model/defined.js';
import { newId } from '../../model/ids.js';
import { isRememberedRefusal } from '../../store/refusals.js';
import { callOf, keyText } from '../shared/keys.js';
import { isEmpty } from '../shared/values.js';
import type { LogTables } from './log-tables.js';
import type { Change, Committed, Guard } from '../../store/contract.js';
import type { StoreError } from '../../store/store-error.js';
import type { Numbered, Refusal, Removal, Trimming } from './log-record.js';

/** A request to write: a change, or a removal. */
export type Request = Change | Trimming | Removal;

/** The result of a request; for one that trims a log, also the number of entries that there were. */
export type Done = Committed & { readonly trimmed?: number };

/** A request that waits, and the promise of its answer. */
export interface Task {
  readonly request: Request;
  /** It shares a batch with no other request. */
  readonly isAlone: boolean;
  readonly resolve: (done: Done | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** A task that has been decided, with the record that is stored of it. */
export interface Entry {
  readonly task: Task;
  readonly record: Numbered;
  /** The reason for a refusal, when the record is that of one. */
  readonly refusal?: StoreError;
}

/**
 * Takes as many of the waiting tasks as can be decided now, and answers those that are refused or done. One that
 * depends on another before it stays for the next time.
 */
export function takeBatch(waiting: Task[], tables: LogTables): readonly Entry[] {
  const batch = new Batch(tables);
  let count = 0;
  while (count < waiting.length && batch.take(waiting[count] as Task)) {
    count += 1;
  }
  waiting.splice(0, count);
  return batch.entries;
}

/** Applies a record that is durable now, and answers its request. */
export function makeEntry(tables: LogTables, { task, record, refusal }: Entry): void {
  const { request, resolve, reject } = task;
  if (refusal === undefined && 'delta' in request) {
    resolve(tables.apply(request));
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
  /** The sessions, updates and removed scopes that it is about: one request for each. */
  readonly #units = new Set<string>();
  /** The number of times that it moves each scope, by the scope's name. */
  readonly #moves = new Map<string, number>();

  constructor(tables: LogTables) {
    this.#tables = tables;
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
      if (known === undefined && this.#isWrittenBy(request)) {
        this.#add(task, { task, record: this.#recordOf(request) });
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
    return !isClosed && !this.#units.has(unitOf(request)) && !(looksAtScopes && this.#isMovedFor(request));
  }

  /** True when a request changes anything: a missing session need not be removed. */
  #isWrittenBy({ kind, key, guard }: Request): boolean {
    return kind !== 'remove' || this.#tables.isRemovable(key, guard);
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
      this.#move(isEmpty(delta.app) ? undefined : keyText({ appName }));
      this.#move(isEmpty(delta.user) || userId === undefined ? undefined : keyText({ appName, userId }));
    }
  }

  #move(scope: string | undefined): void {
    if (scope !== undefined) {
      this.#moves.set(scope, (this.#moves.get(scope) ?? 0) + 1);
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
  #recordOf(request: Request): Request {
    const {
      key: { appName, userId },
    } = request;
    const { created, rev, pos } = this.#tables.where(request.key);
    const moved = {
      app: pos.app + this.#movesOf(appName),
      user: pos.user + (userId === undefined ? 0 : this.#movesOf(appName, userId)),
    };
    const guard: Guard = created === undefined ? { rev, pos: moved } : { created, rev, pos: moved };
    if (!('event' in request)) {
      const record: Request & { known?: unknown; attempt?: unknown } = { ...request, guard };
      delete record.known;
      delete record.attempt;
      return request.kind === 'remove' ? { ...record, ...this.#tables.creationIn(request.key) } : record;
    }
    const { id, kind, key, time, event, delta, call, digest, reservation } = request;
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
    return record;
  }

  #movesOf(appName: string, userId?: string): number {
    return this.#moves.size === 0 ? 0 : (this.#moves.get(keyText({ appName, userId })) ?? 0);
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
