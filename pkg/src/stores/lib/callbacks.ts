// A whole store over two functions: one keeps records, the other gives them back.

import { newId } from '../../ids.js';
import { isStoreError } from '../../store-error.js';
import { LogTables, nameOf, type Damage } from './journal-tables.js';
import { isEmpty } from './values.js';
import type { Change, Committed, Guard, Hint, SessionStore } from '../../store.js';
import type { StoreError } from '../../store-error.js';

/** A session, or all values of an app or a user, that has been deleted. */
export interface Removal {
  /** Unique everywhere. */
  readonly id: string;
  /** `remove`: the session that `key` names. `remove-scope`: the user's values when there is a `userId`, else the app's. */
  readonly kind: 'remove' | 'remove-scope';
  readonly key: Hint;
  /** When, in milliseconds since the epoch. */
  readonly time: number;
  /** As in {@link LogRecord}. */
  readonly guard?: Guard;
}

/**
 * What a log keeps: plain JSON data. `guard` is not what was asked for but what was there: which session, at which
 * revision, and where the scopes were. It shows whether records have got lost.
 */
export type LogRecord = Change | Removal;

/** What is given back: all at once or one after the other. */
export type Records<T> = Iterable<T> | AsyncIterable<T>;

/** The injectable callback in its smallest form. */
export interface Callbacks {
  /**
   * Keeps records, in their order, behind all earlier ones; they are durable when it resolves. Called with all that wait, and
   * not again before it is done. A `StoreError` of code `unavailable` or `rejected` says that none of them is kept; after any
   * other error the outcome is unknown and everything is restored again before the next call: what is kept of them must
   * be there by then. A batch that is `rejected` is handed over again, record by record.
   */
  persist(changes: readonly LogRecord[]): Promise<void>;
  /** Gives back all records, in order. Records that are there twice, because a retry wrote them again, do no harm. */
  restore(): Records<LogRecord> | Promise<Records<LogRecord>>;
}

/** A record on its way, and who waits for it. */
interface Task {
  readonly record: LogRecord;
  /** Goes by itself. */
  readonly isAlone: boolean;
  readonly resolve: (committed: Committed | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** What a journal needs besides: it counts what it misses, and compares that with what sessions miss. */
interface JournalCallbacks extends Pick<Callbacks, 'persist'> {
  restore(found: { readonly missing: number }): Records<LogRecord | Damage> | Promise<Records<LogRecord | Damage>>;
}

/**
 * Makes a store over two functions. Everything is in memory, too, and read from there. Changes that wait go together. There
 * must be one such store at a time: nobody else may write.
 */
export function callbackStore(callbacks: Callbacks | JournalCallbacks): SessionStore {
  const waiting: Task[] = [];
  let reading: Promise<LogTables> | undefined;
  let writing: Promise<void> | undefined;
  let isUnknown = false;

  /** What the log says. */
  const opened = (): Promise<LogTables> => (reading ??= Promise.resolve().then(read));
  const read = async (): Promise<LogTables> => {
    try {
      const tables = new LogTables();
      for await (const record of await callbacks.restore(tables)) {
        tables.replay(record);
      }
      isUnknown = false;
      return tables;
    } catch (error) {
      reading = undefined;
      // What is sent again may be there already: not even a store that is unavailable says that it is not.
      throw isUnknown ? new Error('the log cannot be read again: what became of the last changes is unknown', { cause: error }) : error;
    }
  };

  const write = async (): Promise<void> => {
    while (waiting.length > 0) {
      try {
        const tables = await opened();
        const batch = take(waiting, tables);
        if (batch.length > 0) {
          await keep(batch, tables);
        }
      } catch (error) {
        waiting.splice(0).forEach(({ reject }) => reject(error));
      }
    }
    writing = undefined;
  };
  const keep = async (batch: readonly Entry[], tables: LogTables): Promise<void> => {
    try {
      await callbacks.persist(batch.map(({ record }) => record));
    } catch (error) {
      const isCertain = isStoreError(error) && (error.code === 'unavailable' || error.code === 'rejected');
      if (!isCertain) {
        isUnknown = true;
        reading = undefined;
      }
      if (isCertain && error.code === 'rejected' && batch.length > 1) {
        // One of them is to blame, not all.
        waiting.unshift(...batch.map(({ task }) => ({ ...task, isAlone: true })));
        return;
      }
      const reason = isCertain || !isStoreError(error) ? error : new Error(error.message, { cause: error });
      batch.forEach(({ task }) => task.reject(reason));
      return;
    }
    batch.forEach(({ task, record }) => task.resolve(make(tables, record)));
  };
  const log = (record: LogRecord, isAlone = false): Promise<Committed | undefined> =>
    new Promise((resolve, reject) => {
      waiting.push({ record, isAlone, resolve, reject });
      writing ??= write();
    });
  const commit = (change: Change): Promise<Committed> => log(change) as Promise<Committed>;
  const removal = (kind: Removal['kind'], key: Hint): Removal => ({ id: newId(), kind, key, time: Date.now() });

  return {
    exclusive: true,
    open: async () => {
      await opened();
    },
    commit,
    commitMany: async (changes) => {
      const answers = await Promise.allSettled(changes.map(commit));
      return answers.map((answer): Committed | StoreError => {
        if (answer.status === 'fulfilled') {
          return answer.value;
        }
        if (isStoreError(answer.reason)) {
          return answer.reason;
        }
        throw answer.reason;
      });
    },
    load: async (key, query) => (await opened()).load(key, query),
    list: async (query) => (await opened()).list(query),
    remove: async ({ appName, userId, sessionId }) => {
      await log(removal('remove', { appName, userId, sessionId }));
    },
    loadScope: async (scope) => (await opened()).scope(scope),
    // What comes behind it cannot be decided before it is made.
    removeScope: async ({ app, user }) => {
      await log(removal('remove-scope', { appName: app, ...(user !== undefined && { userId: user }) }), true);
    },
    close: async () => {
      await writing;
      reading = undefined;
    },
  };
}

/** A task that has been decided, with the record that is kept of it. */
interface Entry {
  readonly task: Task;
  readonly record: LogRecord;
}

/**
 * Takes as many of those who wait as can be decided now, and answers those that are refused or done. One that depends on
 * another before it stays for the next time.
 */
function take(waiting: Task[], tables: LogTables): Entry[] {
  const batch: Entry[] = [];
  const units = new Set<string>();
  const moves = new Map<string, number>();
  let count = 0;
  for (const task of waiting) {
    const { record, isAlone } = task;
    const { id, kind, key, guard } = record;
    const unit = nameOf(key) + (key.sessionId === undefined ? id : '');
    const [app, user] = [nameOf({ appName: key.appName }), nameOf({ ...key, sessionId: undefined })];
    const isMoved = moves.has(app) || moves.has(user);
    if (batch.length > 0 && (isAlone || units.has(unit) || (isMoved && (guard?.pos ?? guard?.keys) !== undefined))) {
      break;
    }
    try {
      const known = 'delta' in record ? tables.check(record) : undefined;
      if (known !== undefined && isMoved) {
        // Its answer says where the scopes are.
        break;
      }
      count += 1;
      if (known !== undefined || (kind === 'remove' && !tables.has(key))) {
        task.resolve(known);
        continue;
      }
    } catch (error) {
      count += 1;
      task.reject(error);
      continue;
    }
    const { pos, ...where } = tables.where(key);
    const before = { app: pos.app + (moves.get(app) ?? 0), user: pos.user + (key.userId === undefined ? 0 : (moves.get(user) ?? 0)) };
    batch.push({ task, record: { ...record, guard: { ...where, pos: before } } });
    units.add(unit);
    const delta = 'delta' in record ? record.delta : {};
    [[app, delta.app] as const, [user, delta.user] as const].forEach(([scope, part]) => {
      if (!isEmpty(part)) {
        moves.set(scope, (moves.get(scope) ?? 0) + 1);
      }
    });
    if (isAlone) {
      break;
    }
  }
  waiting.splice(0, count);
  return batch;
}

function make(tables: LogTables, record: LogRecord): Committed | undefined {
  if ('delta' in record) {
    return tables.apply(record);
  }
  tables.replay(record);
  return undefined;
}
