/**
 * A store in the Postgres tables of adk-python's `DatabaseSessionService` (schema version 1), as they are: processes
 * of adk-python and of statepad work in the same sessions at the same time, and nothing is made or altered.
 *
 * @packageDocumentation
 */

import { Commits } from './commits.js';
import { Database } from './client.js';
import { canBe } from './limits.js';
import { EMPTY_PAGE, listStatement, pageOf } from './list.js';
import { appsStatement, namePageIn, namesIn, ownersStatement, usersStatement } from './names.js';
import { checkTables } from './open.js';
import { checkArguments, type AdkDatabaseStoreOptions } from './options.js';
import { Positions } from './positions.js';
import { headIn, loadedOf, loadedScopeOf, loadStatement, rowVersionOf } from './read.js';
import { removeScopeStatement, scopeIn, scopeStatement } from './read.js';
import { tablesIn } from './sql.js';
import { removeStatements } from './write.js';
import { quotedSchema } from '../postgres/schema-name.js';
import { durabilityOf, isInMemory, objectionTo, SERVER_STATEMENT, type Server } from '../postgres/server.js';
import { valuesOf } from '../shared/values.js';
import type { PostgresClient } from '../postgres/client.js';
import type { Durability, Loaded, LoadQuery, ScopeName, SessionStore, StoreLack } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

export type { AdkDatabaseStoreOptions } from './options.js';
export type { Integers } from './numbers.js';
export type { PostgresClient } from '../postgres/client.js';
export type { SessionStore } from '../../store/contract.js';

/** The tables are what adk-python has made of them. */
const LACKS: readonly StoreLack[] = [
  'revisions',
  'order',
  'texts',
  'ids',
  'times',
  'created',
  'beginnings',
  'repeats',
  'operators',
];

/**
 * The number of times that a session is read again because others have read later versions of its scopes meanwhile.
 */
const MAX_READS = 4;

/**
 * Makes a store in the tables of adk-python's `DatabaseSessionService`, on Postgres 13 to 18, in the layout that it
 * calls version 1. Another database, or an empty one, is refused when the store is opened (`rejected`, with what it
 * is). The client is a pool or a connected client of `pg`, or of what is made like it, or PGlite, and stays open when
 * the store is closed. A single client has to be the store's alone: what it writes goes in transactions.
 *
 * The tables have no index of the ids of sessions: `owners` looks at all sessions of the app. `listApps` and
 * `listUsers` read all names for each page, once each, as the order of the indexes is that of the database.
 *
 * Throws `INVALID_ARGUMENT` when its argument is something else than a client, and a `StoreError` (`rejected`) when a
 * schema cannot have the name.
 *
 * @example
 * ```js
 * import { Pool } from 'pg';
 * import { SessionService } from 'statepad';
 * import { adkDatabaseStore } from 'statepad/stores/adk-database';
 *
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * pool.on('error', console.error); // an idle connection that breaks ends a process in which nobody listens
 * const service = new SessionService({ store: adkDatabaseStore(pool) });
 * ```
 */
export function adkDatabaseStore(client: PostgresClient, options: AdkDatabaseStoreOptions = {}): SessionStore {
  checkArguments(client, options);
  const { schema = 'public', prepare, integers } = options;
  const quoted = quotedSchema(schema);
  const tables = tablesIn(quoted);
  const database = new Database(client, prepare);
  const positions = new Positions();
  const commits = new Commits(database, tables, positions, integers);
  let durability: Durability | undefined;

  const load = async (key: SessionKey, query: LoadQuery): Promise<Loaded | null> => {
    const [ofApp, ofUser] = [{ app: key.appName }, { app: key.appName, user: key.userId }];
    for (let read = 1; ; read++) {
      const tops = [positions.top(ofApp), positions.top(ofUser)] as const;
      const rows = await database.send(loadStatement(tables, key, query, positions), true);
      const headAnswer = headIn(rows, integers);
      const head = headAnswer?.row;
      const isTimely =
        head === undefined ||
        (positions.isTimely(ofApp, rowVersionOf(head.app), tops[0]) &&
          positions.isTimely(ofUser, rowVersionOf(head.user), tops[1]));
      if (isTimely || read === MAX_READS) {
        return headAnswer === undefined ? null : loadedOf(rows, headAnswer, key, positions, integers);
      }
    }
  };
  return {
    guards: 'keys',
    lacks: LACKS,
    get durability() {
      // It is `undefined` until the server was asked.
      return durability as Durability;
    },
    async open({ migrate }) {
      const [server] = (await database.send({ text: SERVER_STATEMENT, values: [] }, true)) as [Server];
      const objection = objectionTo(server, migrate);
      if (objection !== undefined) {
        throw objection;
      }
      await checkTables(database, schema, quoted);
      durability = durabilityOf(server, isInMemory(client));
    },
    commit: async (change) => await commits.commit(change),
    load: async (key, query) => (canBe(key.appName, key.userId, key.sessionId) ? await load(key, query) : null),
    async list(query) {
      if (!canBe(query.app, query.user)) {
        return EMPTY_PAGE;
      }
      return pageOf(await database.send(listStatement(tables, query), true), query, integers);
    },
    async owners(app, sessionId) {
      const isPossible = canBe(app, sessionId);
      return isPossible ? namesIn(await database.send(ownersStatement(tables, app, sessionId), true)) : [];
    },
    listApps: async (query) => namePageIn(await database.send(appsStatement(tables, query), true), query),
    async listUsers(app, query) {
      if (!canBe(app)) {
        return { names: [], more: false };
      }
      return namePageIn(await database.send(usersStatement(tables, app, query), true), query);
    },
    async remove(key, _context, { created } = {}) {
      if (canBe(key.appName, key.userId, key.sessionId)) {
        await database.run(removeStatements(tables, key, created));
      }
    },
    async loadScope(scope: ScopeName) {
      if (!canBe(scope.app, scope.user)) {
        return { pos: 0, state: valuesOf([]) };
      }
      const rows = await database.send(scopeStatement(tables, scope), true);
      return loadedScopeOf(scopeIn(rows, integers), scope, positions);
    },
    async removeScope(scope) {
      if (canBe(scope.app, scope.user)) {
        await database.send(removeScopeStatement(tables, scope), false);
      }
    },
  };
}
