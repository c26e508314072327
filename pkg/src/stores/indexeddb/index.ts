/**
 * A store for browsers and workers: sessions in an IndexedDB database of the page's origin. Tabs and workers may write
 * at once; each tells the others of its changes.
 *
 * @packageDocumentation
 */

import { isStoreError } from '../../store/store-error.js';
import { checkArguments, type IndexedDBStoreOptions } from './options.js';
import { commitAll } from './commit.js';
import { Connection } from './connection.js';
import { isItsOwnFault } from './errors.js';
import { Hints } from './hints.js';
import { claimName, leaseSession, readLease } from './lease.js';
import { readPage } from './list.js';
import { readLog, trimLog } from './log.js';
import { readApps, readOwners, readUsers } from './names.js';
import { readScope, readSession } from './read.js';
import { removeScope, removeSession } from './remove.js';
import { countExpired, hintsOf, sweepSlice, SLICE } from './sweep.js';
import { hintOf } from '../shared/keys.js';
import { commitEach, committedOr, type Outcome } from '../shared/outcome.js';
import type { Change, SessionStore, StoreFeature, SweepQuery, Swept } from '../../store/contract.js';
import type { Signal } from '../../async/abort.js';

export type { IndexedDBStoreOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';

/** The features of every store, with a log or without one. */
const FEATURES: readonly StoreFeature[] = [
  'marks',
  'changed',
  'calls',
  'creations',
  'removals',
  'digests',
  'limits',
  'expiry',
];

/**
 * Makes a store in the IndexedDB database of this name; tabs and workers that use the same name share it.
 *
 * Its `open` throws `rejected` when the browser has no storage for the page, when the database is of a newer version
 * or another's, and when there is none and `check` forbids to make it; `unavailable` when another tab keeps an older
 * version open. Its other methods throw `unavailable` when the page's quota is used up, and `rejected` when the
 * database was deleted or upgraded by another tab meanwhile: then the page has to be loaded again.
 */
export function indexedDBStore(name = 'statepad', options: IndexedDBStoreOptions = {}): SessionStore {
  checkArguments(name, options);
  const { durability = 'strict', log: hasLog = true, indexedDB } = options;
  const connection = new Connection(name, indexedDB);
  const hints = new Hints(`statepad:${name}`, options.BroadcastChannel ?? globalThis.BroadcastChannel);
  const write = (changes: readonly Change[]): Promise<Outcome[]> =>
    connection.write(durability, (transaction) => commitAll(transaction, changes, hasLog));
  const commitMany = async (changes: readonly Change[]): Promise<Outcome[]> => {
    const answers = await write(changes).catch((error: unknown) => {
      // A change that is too big made the whole transaction fail.
      if (changes.length > 1 && isItsOwnFault(error)) {
        return commitEach(changes, write);
      }
      throw error;
    });
    hints.send(changes.filter((_, index) => isNews(answers[index])).map(({ key }) => key));
    return answers;
  };
  const sweep = async (query: SweepQuery, signal: Signal): Promise<Swept> => {
    let [sessions, users] = [0, 0];
    for (;;) {
      signal.throwIfAborted();
      const count = Math.min(SLICE, query.limit - sessions - users);
      const slice = await connection.write(durability, (transaction) => sweepSlice(transaction, query, count, hasLog));
      hints.send(hintsOf(slice));
      sessions += slice.sessions.length;
      users += slice.users.length;
      if (slice.sessions.length + slice.users.length < count || sessions + users >= query.limit) {
        return { sessions, users, more: sessions + users >= query.limit };
      }
    }
  };
  return {
    durability: durability === 'strict' ? 'disk' : 'os',
    keeps: hasLog ? [...FEATURES, 'log'] : FEATURES,
    resolves: ['increment', 'append', 'setOnce', 'compareAndSet'],
    commit: async (change) => committedOr((await commitMany([change]))[0]),
    commitMany,
    load: (key, query) => connection.read((transaction) => readSession(transaction, key, query)),
    list: (query) => connection.read((transaction) => readPage(transaction, query)),
    owners: (app, sessionId) => connection.read((transaction) => readOwners(transaction, app, sessionId)),
    listApps: (query) => connection.read((transaction) => readApps(transaction, query)),
    listUsers: (app, query) => connection.read((transaction) => readUsers(transaction, app, query)),
    loadScope: (scope) => connection.read((transaction) => readScope(transaction, scope)),
    remove: async (key, _, guard) => {
      if (await connection.write(durability, (transaction) => removeSession(transaction, key, guard))) {
        hints.send([key]);
      }
    },
    removeScope: async (scope) => {
      await connection.write(durability, (transaction) => removeScope(transaction, scope, hasLog));
      hints.send([hintOf(scope)]);
    },
    sweep: (query, { signal }) =>
      query.dry === true ? connection.read((transaction) => countExpired(transaction, query)) : sweep(query, signal),
    lease: (key, request) => connection.write(durability, (transaction) => leaseSession(transaction, key, request)),
    claim: (name, request) => connection.write(durability, (transaction) => claimName(transaction, name, request)),
    readLease: (key) => connection.read((transaction) => readLease(transaction, key)),
    ...(hasLog && {
      readLog: (scope, query) => connection.read((transaction) => readLog(transaction, scope, query)),
    }),
    // An earlier log can be trimmed even if none is kept now.
    trimLog: (scope, upTo) => connection.write(durability, (transaction) => trimLog(transaction, scope, upTo)),
    watch: (onHint) => hints.watch(onHint),
    open: async ({ migrate }) => {
      await connection.open(migrate);
    },
    close: async () => {
      connection.close();
      hints.close();
    },
  };
}

/** True when a change has been written now. */
function isNews(answer: Outcome | undefined): boolean {
  return answer !== undefined && !isStoreError(answer) && answer.duplicate === undefined;
}
