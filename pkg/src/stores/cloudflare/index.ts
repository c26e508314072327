/**
 * Stores on Cloudflare's platform: in the SQLite storage of a Durable Object, and in D1.
 *
 * Both keep their rows in tables that begin with `statepad_`; others may lie beside them. An event, and a value under
 * its name, takes up to 2,000,000 bytes; a bigger one is `rejected`.
 *
 * @packageDocumentation
 */

import {
  checkD1Arguments,
  checkObjectArguments,
  type D1StoreOptions,
  type DurableObjectStoreOptions,
} from './options.js';
import { sizeRefusal } from './sizes.js';
import { objectDriver, type DurableObjectStorageLike } from './durable-object.js';
import { batch, type D1DatabaseLike, type D1Query } from './d1/client.js';
import { listQueries, pageFrom } from './d1/list.js';
import { claimFrom, claimQueries, leaseFrom, leaseQueries, readLeaseQuery } from './d1/lease.js';
import { leaseIn } from '../sqlite-core/lease.js';
import { loadedFrom, loadQueries } from './d1/load.js';
import { openD1 } from './d1/open.js';
import { namesQuery, ownersQuery } from './d1/names.js';
import { logFrom, logQueries, trimmedFrom, trimQueries } from './d1/read-log.js';
import { scopeFrom, scopeQueries } from './d1/read.js';
import { checkRemoval, checkRemoved, removeQueries, removeScopeQueries } from './d1/remove.js';
import { commit, commitMany } from './d1/write.js';
import { count, sweep } from './d1/sweep.js';
import { KEPT, sqliteCore } from '../sqlite-core/core.js';
import { namesIn, ownersIn } from '../sqlite-core/names.js';
import { commitUnrefused } from '../shared/outcome.js';
import type { SessionStore } from '../../store/contract.js';

export type { D1DatabaseLike, D1StatementLike } from './d1/client.js';
export type { DurableObjectStorageLike } from './durable-object.js';
export type { D1StoreOptions, DurableObjectStoreOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';

/**
 * Makes a store in the storage of a Durable Object. Its class must be one of `new_sqlite_classes`: throws a
 * `StoreError` `rejected` otherwise, at once or when it is opened.
 *
 * A change is written when it resolves. It is durable, on several machines, before anything that the object sends or
 * answers after that leaves it: this is what the platform's output gates are for.
 *
 * ```js
 * export class Chat extends DurableObject {
 *   service = new SessionService({ store: durableObjectStore(this.ctx.storage, { exclusive: true }) });
 * }
 * ```
 */
export function durableObjectStore(
  storage: DurableObjectStorageLike,
  options: DurableObjectStoreOptions = {},
): SessionStore {
  checkObjectArguments(storage, options);
  const core = sqliteCore(objectDriver(storage), options.log);
  return {
    ...core,
    durability: 'replicated',
    ...(options.exclusive === true && { exclusive: true }),
    commit: async (change, context) => {
      const refusal = sizeRefusal(change);
      if (refusal !== undefined) {
        throw refusal;
      }
      return await core.commit(change, context);
    },
    commitMany: (changes, context) =>
      commitUnrefused(changes, sizeRefusal, (fitting) => core.commitMany(fitting, context)),
  };
}

/**
 * Makes a store in a D1 database. Every operation takes one round trip; so does `open`, once for a binding, and two
 * more when it makes the tables. Changes that might come to a limit, and creations under the key of a session that has
 * expired, take another one each; a sweep that removes values of users takes two.
 *
 * Make the service in the request that uses it: what one request has begun may end with it, so that others must not
 * wait for it.
 *
 * ```js
 * export default {
 *   async fetch(request, env) {
 *     const service = new SessionService({ store: d1Store(env.DB) });
 *   },
 * };
 * ```
 */
export function d1Store(database: D1DatabaseLike, options: D1StoreOptions = {}): SessionStore {
  checkD1Arguments(database, options);
  const { log: hasLog = true } = options;
  const run = (queries: readonly D1Query[]) => batch(database, queries);
  const rowsOf = async (one: D1Query) => (await run([one]))[0] ?? [];
  return {
    durability: 'replicated',
    keeps: [...KEPT, ...(hasLog ? (['log'] as const) : [])],
    open: async ({ migrate }) => openD1(database, migrate),
    commit: async (change) => commit(database, change, hasLog),
    commitMany: async (changes) => commitMany(database, changes, hasLog),
    load: async (key, query) => loadedFrom(key, query, await run(loadQueries(key, query))),
    list: async (query) => pageFrom(query, await run(listQueries(query))),
    owners: async (app, sessionId) => ownersIn(await rowsOf(ownersQuery(app, sessionId))),
    listApps: async (query) => namesIn(await rowsOf(namesQuery(undefined, query)), query),
    listUsers: async (app, query) => namesIn(await rowsOf(namesQuery(app, query)), query),
    remove: async (key, _, guard = {}) => checkRemoved(await run(removeQueries(key, guard, Date.now())), guard),
    loadScope: async (scope) => scopeFrom(scope, await run(scopeQueries(scope))),
    removeScope: async (scope) => checkRemoval(await run(removeScopeQueries(scope, hasLog ? Date.now() : undefined))),
    lease: async (key, request) => leaseFrom(key, request, await run(leaseQueries(key, request))),
    readLease: async (key) => {
      const [[row] = []] = await run([readLeaseQuery(key)]);
      return row === undefined ? null : leaseIn(row);
    },
    sweep: async (query, context) =>
      query.dry === true ? await count(database, query) : await sweep(database, query, hasLog, context),
    claim: async (name, request) => claimFrom(request, await run(claimQueries(name, request))),
    ...(hasLog && { readLog: async (scope, query) => logFrom(scope, query, await run(logQueries(scope, query))) }),
    trimLog: async (scope, upTo) => trimmedFrom(await run(trimQueries(scope, upTo))),
  };
}
