// A whole store over two functions: one keeps records, the other gives them back.

import { newId } from '../../model/ids.js';
import { checkMethods } from '../../checks/arguments.js';
import { outcomesLater } from '../shared/outcome.js';
import { hintOf } from '../shared/keys.js';
import { Log, type JournalCallbacks } from './log.js';
import type { Change, Committed, Hint, SessionStore } from '../../store/contract.js';
import type { Callbacks, Removal } from './log-record.js';

export type { Callbacks, LogRecord, Records, Refusal, Removal, VersionRecord } from './log-record.js';

/**
 * Makes a store over two functions. Everything is in memory, too, and read from there. Changes that wait go together.
 * There must be one such store at a time: nothing else may write.
 */
export function callbackStore(callbacks: Callbacks | JournalCallbacks): SessionStore {
  checkMethods(callbacks, 'callbacks', ['persist', 'restore']);
  const log = new Log(callbacks);
  const commit = (change: Change): Promise<Committed> => log.write(change) as Promise<Committed>;
  return {
    exclusive: true,
    keeps: ['marks', 'changed', 'calls', 'creations'],
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
      await log.write(guard?.created === undefined ? request : { ...request, guard: { created: guard.created } });
    },
    loadScope: async (scope) => (await log.tables()).scope(scope),
    // Changes behind it can only be decided when the values are gone.
    removeScope: async (scope) => {
      await log.write(removal('remove-scope', hintOf(scope)), true);
    },
    close: () => log.close(),
  };
}

function removal(kind: Removal['kind'], key: Hint): Removal {
  return { id: newId(), kind, key, time: Date.now() };
}
