// A database for a file of tests.

import { after, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { postgresStore } from 'statepad/stores/postgres';
import * as changes from '../../support/changes.js';
import { postgresForTests } from '../../support/postgres.mjs';
import { plain } from '../support/plain.js';

export const context = { signal: new AbortController().signal };

/**
 * Runs `register` with a database, or says loudly that there is none. Pools and schemas that come from it are gone
 * when the tests of the file have ended.
 */
export async function withDatabase(register) {
  const { server, skip } = await postgresForTests();
  if (skip) {
    test('a real Postgres server', { skip }, () => {});
    return;
  }
  const pools = [];
  const schemas = [];
  const database = {
    url: server.url,
    pool(options) {
      const pool = new pg.Pool({ connectionString: server.url, max: 4, ...options });
      // A connection that a test cuts is no fault of the process.
      pool.on('error', () => {});
      pools.push(pool);
      return pool;
    },
    /** A connection of its own, to listen on. */
    async listener() {
      const client = new pg.Client(server.url);
      pools.push(client);
      await client.connect();
      return client;
    },
    /** The name of a schema that is not there. */
    schema() {
      schemas.push(`statepad_test_${process.pid}_${schemas.length}`);
      return schemas.at(-1);
    },
  };
  after(async () => {
    const pool = database.pool();
    for (const schema of schemas) await pool.query(`drop schema if exists ${schema} cascade`);
    await Promise.all(pools.map((each) => each.end()));
    await server.stop();
  });
  await register(database);
}

/** Runs `register` with a PGlite; not where another version of Postgres is tested, as that would test it once more. */
export async function withLite(register) {
  if (process.env.STATEPAD_TEST_POSTGRES_PACKAGE) return;
  const lite = new PGlite();
  after(() => lite.close());
  await register(lite);
}

/** A store without the context that its methods get. */
export const storeOver = (client, options) => plain(postgresStore(client, options));

/** The same, once its schema is made. */
export async function openedStore(client, options) {
  const store = storeOver(client, options);
  await store.open({ migrate: 'create' });
  return store;
}

/** A key of a session. */
export const keyOf = (sessionId = 's', userId = 'u', appName = 'a') => changes.keyOf(sessionId, userId, appName);
export const create = (id = 'c', delta = {}, key = keyOf()) => changes.create(id, key, delta, { time: 1 });
export const append = (id, delta, key = keyOf(), more = {}) => changes.append(id, key, delta, { time: 2, ...more });
export const update = (id, delta, key = { appName: 'a' }) => changes.update(id, key, delta, { time: 1 });

/** The code of the StoreError that a promise is refused with; what else it is refused with is thrown. */
export async function codeOf(promise) {
  try {
    await promise;
    return 'none';
  } catch (error) {
    if (error?.name === 'StoreError') return error.code;
    throw error;
  }
}

/** An error of the operating system, as Node throws it. */
export const systemError = (code, syscall) => Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

/**
 * Waits until the statistics of the server have all that was done so far. Before Postgres 15 connections tell of it
 * each half second at most, and what they told is written down at most as often.
 */
export async function statisticsAreWritten(client) {
  const { rows } = await client.query("select current_setting('server_version_num')::int as version");
  if (rows[0].version >= 150_000) {
    await client.query('select pg_stat_force_next_flush()');
    return;
  }
  await client.query('select pg_sleep(0.6)');
  await client.query('select pg_sleep(0.6)');
}
