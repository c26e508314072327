/**
 * The reference: a store that keeps everything in memory. Good for tests, for several services of one process, and to
 * read the meaning of each operation.
 *
 * @packageDocumentation
 */

import { isRememberedRefusal } from '../../store/refusals.js';
import { hintOf } from '../shared/keys.js';
import { outcomeOf } from '../shared/outcome.js';
import { sweptOf } from './expired.js';
import { checkMemoryOptions, type MemoryOptions } from './options.js';
import { Tables } from './tables.js';
import type { Change, Committed, Hint, ScopeName, SessionStore } from '../../store/contract.js';

export type { MemoryOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';

const KEPT = ['marks', 'changed', 'calls', 'creations', 'removals', 'digests', 'limits', 'expiry'] as const;

/** Makes a store in memory. Services that share it see each other's changes; it ends with the process. */
export function memoryStore(options: MemoryOptions = {}): SessionStore {
  checkMemoryOptions(options);
  const hasLog = options.log ?? true;
  const tables = new Tables({ log: hasLog });
  const watchers = new Set<(hint: Hint) => void>();
  const commit = (change: Change): Committed => {
    const committed = checkFirst(tables, change) ?? tables.apply(change);
    if (committed.duplicate === undefined) {
      watchers.forEach((onHint) => onHint(change.key));
    }
    return committed;
  };
  const removeScope = (scope: ScopeName): void => {
    tables.removeScope(scope, Date.now());
    watchers.forEach((onHint) => onHint(hintOf(scope)));
  };
  return {
    durability: 'memory',
    keeps: [...KEPT, ...(hasLog ? (['log'] as const) : [])],
    resolves: ['increment', 'append', 'setOnce', 'compareAndSet'],
    commit: async (change) => commit(change),
    commitMany: async (changes) => changes.map((change) => outcomeOf(() => commit(change))),
    load: async (key, query) => tables.load(key, query),
    list: async (query) => tables.list(query),
    owners: async (app, sessionId) => tables.owners(app, sessionId),
    listApps: async (query) => tables.listApps(query),
    listUsers: async (app, query) => tables.listUsers(app, query),
    remove: async (key, _context, guard) => {
      if (tables.remove(key, guard)) {
        watchers.forEach((onHint) => onHint(key));
      }
    },
    loadScope: async (scope) => tables.scope(scope),
    removeScope: async (scope) => removeScope(scope),
    lease: async (key, request) => tables.lease(key, request, Date.now()),
    readLease: async (key) => tables.readLease(key),
    sweep: async (query) => {
      const expired = tables.expired(query);
      for (const each of query.dry === true ? [] : expired) {
        tables.removeExpired(each, Date.now());
        watchers.forEach((onHint) => onHint(each.key));
      }
      return sweptOf(expired, query);
    },
    claim: async (name, request) => tables.claim(name, request),
    ...(hasLog && {
      readLog: async (scope, query) => tables.readLog(scope, query),
      trimLog: async (scope, upTo) => tables.trimLog(scope, upTo),
    }),
    watch: (onHint) => {
      watchers.add(onHint);
      return () => watchers.delete(onHint);
    },
  };
}

/** The known answer to a change that has been made before. A refusal of a later try is remembered. */
function checkFirst(tables: Tables, change: Change): Committed | undefined {
  try {
    return tables.check(change);
  } catch (error) {
    if (isRememberedRefusal(change, error)) {
      tables.refuse(change);
    }
    throw error;
  }
}
