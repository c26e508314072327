// A whole store over two functions: one keeps records, the other gives them back.

import { newId } from '../../model/ids.js';
import { checkMethods } from '../../checks/arguments.js';
import { sweptOf } from '../memory/expired.js';
import { outcomesLater } from '../shared/outcome.js';
import { hintOf } from '../shared/keys.js';
import { recordsIn, isObjectText } from './restored-record.js';
import { Log, type LogSource } from './log.js';
import type { LogTables } from './log-tables.js';
import { checkLogOptions } from './options.js';
import { FORMAT } from './version.js';
import type {
  Change,
  Committed,
  Hint,
  ScopeName,
  SessionStore,
  StoreContext,
  SweepQuery,
  Swept,
} from '../../store/contract.js';
import type { Callbacks, LogOptions, Removal, Trimming } from './log-record.js';

export type {
  Callbacks,
  LogOptions,
  LogRecord,
  Records,
  Refusal,
  Remainder,
  Removal,
  Timed,
  Trimming,
  VersionRecord,
} from './log-record.js';

/**
 * Makes a store over two functions, or over one: see {@link Callbacks.restore}. Everything is in memory, too, and read
 * from there. Changes that wait go together. There must be one such store at a time: nothing else may write.
 *
 * A record that is damaged in storage makes its session `corrupt`, and no other; one that changed the values of an app
 * or a user, and whose part of that is damaged, makes these `corrupt`. If a record does not tell its owner, nothing
 * can be read.
 */
export function callbackStore(callbacks: Callbacks, options: LogOptions = {}): SessionStore {
  checkMethods(callbacks, 'callbacks', ['persist'], ['restore']);
  checkLogOptions(options);
  return logStore(sourceOf(callbacks, recordsIn), options);
}

/** As {@link callbackStore}, for a service: its events are JSON. */
export function recordStore(callbacks: Callbacks): SessionStore {
  return logStore(
    sourceOf(callbacks, (value, place) => recordsIn(value, place, isObjectText)),
    {},
  );
}

function sourceOf(callbacks: Callbacks, admit: NonNullable<LogSource['admit']>): LogSource {
  return {
    persist: (records) => callbacks.persist(records),
    ...(callbacks.restore !== undefined && { restore: () => callbacks.restore?.() ?? [] }),
    admit,
  };
}

const KEPT = ['marks', 'changed', 'calls', 'creations', 'removals', 'digests', 'limits', 'expiry'] as const;

/** @internal Makes a store over the storage of a log's records. */
export function logStore(source: LogSource, options: LogOptions, format = FORMAT): SessionStore {
  const hasLog = options.log ?? true;
  const log = new Log(source, options, format);
  const commit = (change: Change, context: StoreContext): Promise<Committed> =>
    log.write(change, context) as Promise<Committed>;
  return {
    exclusive: true,
    keeps: [...KEPT, ...(hasLog ? (['log'] as const) : [])],
    open: async ({ migrate }) => {
      log.migrate = migrate;
      await log.tables();
    },
    commit,
    commitMany: (changes, context) => outcomesLater(changes.map((change) => commit(change, context))),
    load: async (key, query) => (await log.tables()).load(key, query),
    list: async (query) => (await log.tables()).list(query),
    owners: async (app, sessionId) => (await log.tables()).owners(app, sessionId),
    listApps: async (query) => (await log.tables()).listApps(query),
    listUsers: async (app, query) => (await log.tables()).listUsers(app, query),
    remove: async ({ appName, userId, sessionId }, context, guard) => {
      const request = removal('remove', { appName, userId, sessionId });
      await log.write(guard === undefined ? request : { ...request, guard }, context);
    },
    loadScope: async (scope) => (await log.tables()).scope(scope),
    // Changes behind it can only be decided when the values are deleted.
    removeScope: async (scope, context) => {
      await log.write(removal('remove-scope', hintOf(scope)), context, { isAlone: true });
    },
    // Nothing else can write: leases are within this process, and need not outlive it.
    lease: (key, request) => log.between((tables) => tables.lease(key, request, Date.now())),
    readLease: async (key) => (await log.tables()).readLease(key),
    sweep: (query, context) => sweepLog(log, query, context),
    claim: (name, request) => log.between((tables) => tables.claim(name, request)),
    ...(hasLog && {
      readLog: async (scope, query) => (await log.tables()).readLog(scope, query),
      trimLog: async (scope, upTo, context) => {
        const request = trimming(scope, upTo);
        // A scope that was never written to has no log, and is none afterwards.
        const isDue = (tables: LogTables): boolean => {
          const { app, user } = tables.where(request.key).pos;
          return (scope.user === undefined ? app : user) > 0;
        };
        return (await log.write(request, context, { isAlone: true, isDue }))?.trimmed ?? 0;
      },
    }),
    close: () => log.close(),
  };
}

/** Removes what has expired: all at once, as far as each has not been written to by its turn; or counts it. */
async function sweepLog(log: Log, query: SweepQuery, context: StoreContext): Promise<Swept> {
  const found = (await log.tables()).expired(query);
  if (query.dry === true) {
    return sweptOf(found, query);
  }
  const removals = found.map(async (expired) => {
    const { key, created } = expired;
    let isRemoved = false;
    const isDue = (tables: LogTables): boolean => (isRemoved = tables.isExpired(expired, query.userTtl));
    await (created === undefined
      ? log.write(removal('remove-scope', key), context, { isAlone: true, isDue })
      : log.write({ ...removal('remove', key), guard: { created } }, context, { isDue }));
    return isRemoved;
  });
  const outcomes = await Promise.all(removals);
  const removed = found.filter((_, index) => outcomes[index]);
  return { ...sweptOf(removed, query), more: found.length >= query.limit };
}

function removal(kind: Removal['kind'], key: Hint): Removal {
  return { id: newId(), kind, key, time: Date.now() };
}

/** It is a change of its scope that writes nothing, which readers that know nothing of logs pass over. */
function trimming(scope: ScopeName, upTo: number): Trimming {
  const trim = Math.min(upTo, Number.MAX_SAFE_INTEGER);
  return { id: newId(), kind: 'update', key: hintOf(scope), time: Date.now(), delta: {}, trim };
}
