/**
 * A store in Postgres 13 to 18, over any client with `query(text, values)`: `pg`, Neon's serverless driver, PGlite.
 *
 * Everything lies in a schema of its own, which `open` makes. A commit is one statement and one round trip, so a pool
 * will do; `commitMany` is the same statement. Names of apps and users, ids and names of values have at most 2,600
 * bytes (as UTF-8).
 *
 * @packageDocumentation
 */

import { isStoreError } from '../../store/store-error.js';
import { sizeRefusal } from './commit.js';
import { commitAll } from './commits.js';
import { Sender, type PostgresClient } from './client.js';
import { listStatement, pageOf } from './list.js';
import { namePageIn, namesStatement } from './names.js';
import { Owners } from './owners.js';
import { checkArguments, type PostgresStoreOptions } from './options.js';
import { loadedOf, loadStatement, scopeOf, scopeStatement } from './read.js';
import { openStatement } from './open.js';
import { quotedSchema } from './schema-name.js';
import { durabilityOf, isInMemory, objectionTo, SERVER_STATEMENT, type Server } from './server.js';
import { reserve } from './reservations.js';
import { claimStatement, leaseIn, leaseRowIn, leaseStatement, readLeaseStatement } from './lease.js';
import { removeStatement, wasRemoved } from './remove.js';
import { countedIn, countStatement, sweepBy, sweepStatement, sweptIn } from './sweep.js';
import { cleanStatement, logOf, logStatement, trimStatement } from './log.js';
import { RESOLVES } from './operators.js';
import { Hints } from './hints.js';
import { toColumn } from '../shared/column-text.js';
import { hintOf } from '../shared/keys.js';
import { commitEach, committedOr, commitUnrefused, type Outcome } from '../shared/outcome.js';
import type { Change, Durability, Hint, LogQuery, ScopeName, SessionStore } from '../../store/contract.js';

/** While the server writes one batch, the answers to another one are applied, and the next one is made ready. */
const PARALLEL = 2;

export type { PostgresStoreOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';
export type { PostgresClient } from './client.js';
export type { PostgresListener, PostgresNotification } from './hints.js';

/**
 * Makes a store in Postgres. The client stays open when the store is closed.
 *
 * The durability of a commit is up to the server's own settings, which are looked at when the store is opened:
 * `durability` is `undefined` until then. It is on disk unless `fsync` or `synchronous_commit` are off there, as
 * `fsync` always is in PGlite. A server whose transactions do not begin as `read committed`, or that only reads, is
 * refused then.
 *
 * Throws `INVALID_ARGUMENT` when its argument is something else than a client, and a `StoreError` (`rejected`) when a
 * schema cannot have the name.
 *
 * @example
 * ```js
 * import { Pool } from 'pg';
 * import { SessionService } from 'statepad';
 * import { postgresStore } from 'statepad/stores/postgres';
 *
 * const pool = new Pool({ connectionString: process.env.DATABASE_URL });
 * pool.on('error', console.error); // an idle connection that breaks ends a process in which nobody listens
 * const service = new SessionService({ store: postgresStore(pool) });
 * ```
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): SessionStore {
  checkArguments(client, options);
  const { schema: name = 'statepad', prepare, listen, log = true } = options;
  let durability: Durability | undefined;
  const schema = quotedSchema(name);
  const sender = new Sender(client, prepare);
  const owners = new Owners(schema, async (statement) => await sender.send(statement, true));
  const write = (text: string, ...values: (string | null)[]): Promise<readonly unknown[]> =>
    sender.send({ text, values }, false);
  const hints =
    listen &&
    new Hints(listen, schema, (messages) =>
      write('select pg_notify($1, message) from json_array_elements_text($2::json) message', name, messages),
    );

  const commitBatch = async (changes: readonly Change[]): Promise<Outcome[]> => {
    const outcomes = await commitAll(schema, (statement) => sender.send(statement, false), changes, log);
    outcomes.forEach((outcome, index) => {
      if (!isStoreError(outcome) && outcome.duplicate === undefined) {
        hints?.add((changes[index] as Change).key);
      }
    });
    return outcomes;
  };
  /** Commits changes as one batch; one after the other when one of them makes the whole batch fail. */
  const commitMany = (changes: readonly Change[]): Promise<readonly Outcome[]> =>
    commitUnrefused(changes, sizeRefusal, async (good) => {
      try {
        return await commitBatch(good);
      } catch (error) {
        if (!isStoreError(error) || error.code !== 'rejected' || good.length === 1) {
          throw error;
        }
        return await commitEach(good, commitBatch);
      }
    });

  return {
    get durability() {
      // It is `undefined` until the server was asked.
      return durability as Durability;
    },
    keeps: [
      ...(['marks', 'changed', 'calls', 'creations', 'removals', 'digests', 'limits', 'expiry'] as const),
      ...(log ? (['log'] as const) : []),
    ],
    resolves: RESOLVES,
    open: async ({ migrate }) => {
      const [server] = (await sender.send({ text: SERVER_STATEMENT, values: [] }, true)) as readonly [Server];
      const objection = objectionTo(server, migrate);
      if (objection !== undefined) {
        throw objection;
      }
      durability = durabilityOf(server, isInMemory(client));
      await write(openStatement(name, migrate));
    },
    commit: async (change) => committedOr((await commitMany([change]))[0]),
    commitMany,
    parallelCommits: PARALLEL,
    load: async (key, query) => loadedOf(await sender.send(loadStatement(schema, key, query), true), key, log),
    list: async (query) => pageOf(await sender.send(listStatement(schema, query), true), query),
    owners: async (app, sessionId) => await owners.of(app, sessionId),
    listApps: async (query) => namePageIn(await sender.send(namesStatement(schema, undefined, query), true), query),
    listUsers: async (app, query) => namePageIn(await sender.send(namesStatement(schema, app, query), true), query),
    remove: async (key, _context, guard = {}) => {
      if (wasRemoved(await sender.send(removeStatement(schema, key, guard), false), guard)) {
        hints?.add(key);
      }
    },
    loadScope: async (scope) => scopeOf(await sender.send(scopeStatement(schema, scope), true), scope),
    removeScope: async (scope) => {
      const { app, user } = scope;
      await write(
        `select ${schema}.remove_scope($1, $2, $3)`,
        toColumn(app),
        user === undefined ? null : toColumn(user),
        String(log),
      );
      hints?.add(hintOf(scope));
    },
    reserve: async (target, times, context) => {
      const ask = async (text: string, ...values: (string | null)[]): Promise<string> =>
        ((await write(text, ...values)) as readonly { answer: string }[])[0]?.answer ?? '';
      return await reserve(ask, schema, target, times, context);
    },
    lease: async (key, request) =>
      leaseIn(await sender.send(leaseStatement(schema, key, request), false), request, key),
    readLease: async (key) => leaseRowIn(await sender.send(readLeaseStatement(schema, key), true)),
    sweep: async (query, { answered }) =>
      query.dry === true
        ? countedIn(await sender.send(countStatement(schema, query), true), query)
        : await sweepBy(query, async (part) => {
            const rows = await sender.send(sweepStatement(schema, part, log), false);
            answered?.();
            return sweptIn(rows, (hint) => hints?.add(hint));
          }),
    claim: async (claimName, request) =>
      leaseIn(await sender.send(claimStatement(schema, claimName, request), false), request),
    ...(log && {
      readLog: async (scope: ScopeName, query: LogQuery) =>
        logOf(await sender.send(logStatement(schema, scope, query), true), scope),
      trimLog: async (scope: ScopeName, upTo: number) => {
        const [row] = await sender.send(trimStatement(schema, scope, upTo), false);
        await sender.send(cleanStatement(schema, scope), false);
        return Number((row as { readonly count: string }).count);
      },
    }),
    close: async () => hints?.close(),
    ...(hints && { watch: (onHint: (hint: Hint) => void) => hints.watch(onHint) }),
  };
}
