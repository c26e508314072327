// A whole store over two functions: one keeps records, the other gives them back.

import { newId } from '../../model/ids.js';
import { isStoreError } from '../../store/store-error.js';
import { checkMethods } from '../../checks/arguments.js';
import { LogTables, nameOf, type Found } from './log-tables.js';
import { LOG_VERSION, versionRecord, type LogRecord, type Records, type Refusal, type Removal, type VersionRecord } from './log-record.js';
import { olderVersion } from '../../store/refusals.js';
import { isEmpty } from '../shared/scope-values.js';
import type { Change, Committed, Hint, Migrate, SessionStore } from '../../store/contract.js';
import type { StoreError } from '../../store/store-error.js';

export type { LogRecord, Records, Refusal, Removal, VersionRecord } from './log-record.js';

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

/** What is asked for. */
type Request = Change | Removal;

/** A request on its way, and what waits for it. */
interface Task {
  readonly request: Request;
  /** Goes by itself. */
  readonly isAlone: boolean;
  readonly resolve: (committed: Committed | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/** What a journal needs besides: it counts what it misses, and compares that with what sessions miss. */
interface JournalCallbacks extends Pick<Callbacks, 'persist'> {
  restore(found: { readonly missing: number }): Records<Found> | Promise<Records<Found>>;
  /** What messages call it. */
  readonly name?: string;
}

/**
 * Makes a store over two functions. Everything is in memory, too, and read from there. Changes that wait go together. There
 * must be one such store at a time: nobody else may write.
 */
export function callbackStore(callbacks: Callbacks | JournalCallbacks): SessionStore {
  checkMethods(callbacks, 'callbacks', ['persist', 'restore']);
  const waiting: Task[] = [];
  let reading: Promise<LogTables> | undefined;
  let writing: Promise<void> | undefined;
  let isUnknown = false;
  let migrate: Migrate = 'create';

  /** What the log says. */
  const opened = (): Promise<LogTables> => (reading ??= Promise.resolve().then(read));
  const read = async (): Promise<LogTables> => {
    try {
      const tables = new LogTables();
      for await (const record of await callbacks.restore(tables)) {
        tables.replay(record);
      }
      if (tables.version !== undefined && tables.version < LOG_VERSION) {
        await upgrade(tables, tables.version);
      }
      isUnknown = false;
      return tables;
    } catch (error) {
      reading = undefined;
      // What is sent again may be there already: not even a store that is unavailable says that it is not.
      throw isUnknown ? new Error('the log cannot be read again: what became of the last changes is unknown', { cause: error }) : error;
    }
  };
  /** Says behind all records which version comes from here on. What is said twice does no harm. */
  const upgrade = async (tables: LogTables, found: number): Promise<void> => {
    if (migrate !== 'upgrade') {
      throw olderVersion((callbacks as JournalCallbacks).name ?? 'the log', found, LOG_VERSION);
    }
    const record = versionRecord();
    await callbacks.persist([record]);
    tables.replay(record);
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
      const version = tables.version === undefined ? [versionRecord()] : [];
      await callbacks.persist([...version, ...batch.map(({ record }) => record)]);
      version.forEach((record) => tables.replay(record));
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
    batch.forEach((entry) => make(tables, entry));
  };
  const log = (request: Request, isAlone = false): Promise<Committed | undefined> =>
    new Promise((resolve, reject) => {
      waiting.push({ request, isAlone, resolve, reject });
      writing ??= write();
    });
  const commit = (change: Change): Promise<Committed> => log(change) as Promise<Committed>;
  const removal = (kind: Removal['kind'], key: Hint): Removal => ({ id: newId(), kind, key, time: Date.now() });

  return {
    exclusive: true,
    keeps: ['marks', 'changed', 'calls', 'creations'],
    open: async (options) => {
      ({ migrate } = options);
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
    remove: async ({ appName, userId, sessionId }, _context, guard) => {
      const request = removal('remove', { appName, userId, sessionId });
      await log(guard?.created === undefined ? request : { ...request, guard: { created: guard.created } });
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
  readonly record: Exclude<LogRecord, VersionRecord>;
  /** Why it is refused, when that is what the record says. */
  readonly refusal?: StoreError;
}

/**
 * Takes as many of those that wait as can be decided now, and answers those that are refused or done. One that depends on
 * another before it stays for the next time.
 */
function take(waiting: Task[], tables: LogTables): Entry[] {
  const batch: Entry[] = [];
  const units = new Set<string>();
  const moves = new Map<string, number>();
  let count = 0;
  for (const task of waiting) {
    const { request, isAlone } = task;
    const { id, key, guard } = request;
    const unit = nameOf(key) + (key.sessionId === undefined ? id : '');
    const [app, user] = [nameOf({ appName: key.appName }), nameOf({ ...key, sessionId: undefined })];
    const isMoved = moves.has(app) || moves.has(user);
    if (batch.length > 0 && (isAlone || units.has(unit) || (isMoved && (guard?.pos ?? guard?.keys) !== undefined))) {
      break;
    }
    try {
      const known = 'delta' in request ? tables.check(request) : undefined;
      if (known !== undefined && isMoved) {
        // Its answer says where the scopes are.
        break;
      }
      count += 1;
      if (known !== undefined || (request.kind === 'remove' && !tables.isRemovable(key, guard?.created))) {
        task.resolve(known);
        continue;
      }
    } catch (error) {
      count += 1;
      const refused = refusalOf(request, error);
      if (refused === undefined) {
        task.reject(error);
      } else {
        batch.push({ task, ...refused });
        units.add(unit);
      }
      continue;
    }
    const { pos, ...where } = tables.where(key);
    const before = { app: pos.app + (moves.get(app) ?? 0), user: pos.user + (key.userId === undefined ? 0 : (moves.get(user) ?? 0)) };
    batch.push({ task, record: { ...lasting(request), guard: { ...where, pos: before } } });
    units.add(unit);
    const delta = 'delta' in request ? request.delta : {};
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

/** What is kept of a request: not what it said about its caller. */
function lasting(request: Request): Request {
  const record = { ...request } as { -readonly [Name in keyof Change]?: Change[Name] };
  delete record.known;
  delete record.attempt;
  return record as Request;
}

/** What is kept when a later try of a call is refused: an earlier one may still arrive. See `Change.attempt`. */
function refusalOf(request: Request, error: unknown): Required<Pick<Entry, 'refusal'>> & { readonly record: Refusal } | undefined {
  const isKept = 'delta' in request && request.attempt !== undefined;
  if (!isKept || !isStoreError(error) || !['conflict', 'exists', 'not-found'].includes(error.code)) {
    return undefined;
  }
  const { id, call = id, key: { appName } } = request;
  return { record: { id: newId(), kind: 'refusal', key: { appName }, call, time: Date.now() }, refusal: error };
}

/** Makes what is kept now, and answers. */
function make(tables: LogTables, { task, record, refusal }: Entry): void {
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
