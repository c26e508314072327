// A whole store over two functions: one keeps records, the other gives them back.

import { newId } from '../../model/ids.js';
import { checkMethods } from '../../checks/arguments.js';
import { outcomesLater } from '../shared/outcome.js';
import { hintOf } from '../shared/keys.js';
import { Log, type JournalCallbacks } from './log.js';
import { checkLogOptions } from './options.js';
import type { Change, Committed, Hint, ScopeName, SessionStore } from '../../store/contract.js';
import type { Callbacks, LogOptions, Removal, Trimming } from './log-record.js';

export type {
  Callbacks,
  LogOptions,
  LogRecord,
  Records,
  Refusal,
  Remainder,
  Removal,
  Trimming,
  VersionRecord,
} from './log-record.js';

/**
 * Makes a store over two functions. Everything is in memory, too, and read from there. Changes that wait go together.
 * There must be one such store at a time: nothing else may write.
 */
export function callbackStore(callbacks: Callbacks | JournalCallbacks, options: LogOptions = {}): SessionStore {
  checkMethods(callbacks, 'callbacks', ['persist', 'restore']);
  checkLogOptions(options);
  const hasLog = options.log ?? true;
  const log = new Log(callbacks, options);
  const commit = (change: Change): Promise<Committed> => log.write(change) as Promise<Committed>;
  return {
    exclusive: true,
    keeps: ['marks', 'changed', 'calls', 'creations', 'removals', ...(hasLog ? (['log'] as const) : [])],
    open: async ({ migrate }) => {
      log.migrate = migrate;
      await log.tables();
    },
    commit,
    commitMany: (changes) => outcomesLater(changes.map(commit)),
    load: async (key, query) => (await log.tables()).load(key, query),
    list: async (query) => (await log.tables()).list(query),
    remove: async ({ appName, userId, sessionId }, _context, guard) => {
      const request = removal('remove', { appName, userId, sessionId });
      await log.write(guard === undefined ? request : { ...request, guard });
    },
    loadScope: async (scope) => (await log.tables()).scope(scope),
    // Changes behind it can only be decided when the values are gone.
    removeScope: async (scope) => {
      await log.write(removal('remove-scope', hintOf(scope)), true);
    },
    // Nothing else can write: leases are within this process, and need not outlive it.
    lease: (key, request) => log.between((tables) => tables.lease(key, request, Date.now())),
    ...(hasLog && {
      readLog: async (scope, query) => (await log.tables()).readLog(scope, query),
      trimLog: async (scope, upTo) => (await log.write(trimming(scope, upTo), true))?.trimmed ?? 0,
    }),
    close: () => log.close(),
  };
}

function removal(kind: Removal['kind'], key: Hint): Removal {
  return { id: newId(), kind, key, time: Date.now() };
}

/** It is a change of its scope that writes nothing, which readers that know nothing of logs pass over. */
function trimming(scope: ScopeName, upTo: number): Trimming {
  const trim = Math.min(upTo, Number.MAX_SAFE_INTEGER);
  return { id: newId(), kind: 'update', key: hintOf(scope), time: Date.now(), delta: {}, trim };
}
