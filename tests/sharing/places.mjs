// Services over databases that several processes can use at once. A place is plain data, so that it can be told to
// another process: `{ kind, path }` or `{ kind, url, name }`.

import { createRequire } from 'node:module';
import pg from 'pg';
import { Redis } from 'ioredis';
import { SessionService } from 'statepad';
import { postgresStore } from 'statepad/stores/postgres';
import { redisStore } from 'statepad/stores/redis';
import { sqliteStore } from 'statepad/stores/sqlite';

const require = createRequire(import.meta.url);

/** @typedef {Record<string, string>} Place `kind`, and `path`, or `url` and `name` */

/**
 * The stores of each kind, with what they let go of in the end.
 *
 * @typedef {import('statepad/store').SessionStore} SessionStore
 * @type {Record<string, (place: Place) => Promise<{ store: SessionStore, end: () => Promise<void> }>>}
 */
const stores = {
  sqlite: async ({ path }) => {
    const database = new (require('better-sqlite3'))(path);
    return { store: sqliteStore(database), end: async () => void database.close() };
  },
  postgres: async ({ url, name }) => {
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    return { store: postgresStore(pool, { schema: name }), end: () => pool.end() };
  },
  'postgres, listening': async ({ url, name }) => {
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    const listen = new pg.Client({ connectionString: url });
    await listen.connect();
    const end = async () => {
      await listen.end();
      await pool.end();
    };
    return { store: postgresStore(pool, { schema: name, listen }), end };
  },
  redis: async ({ url, name }) => {
    const client = new Redis(url);
    return { store: redisStore(client, { prefix: name }), end: async () => void client.disconnect() };
  },
  'redis, listening': async ({ url, name }) => {
    const [client, subscriber] = [new Redis(url), new Redis(url)];
    const end = async () => [client, subscriber].forEach((each) => each.disconnect());
    return { store: redisStore(client, { prefix: name, subscriber }), end };
  },
};

/**
 * ADK's own service over its drivers, for comparison.
 *
 * @type {Record<string, (place: Place) => Promise<object>>}
 */
const ofAdk = {
  'ADK, sqlite': async ({ path }) => {
    const { BetterSqliteDriver: driver } = await import('@mikro-orm/better-sqlite');
    return { driver, dbName: path };
  },
  'ADK, postgres': async ({ url, name }) => {
    const { PostgreSqlDriver: driver } = await import('@mikro-orm/postgresql');
    return { driver, clientUrl: url, dbName: name };
  },
};

/**
 * Opens the store of a place.
 *
 * @param {Place} place
 */
export async function openStore(place) {
  return await stores[place.kind](place);
}

/**
 * Opens a service at a place, with the function that makes an event for it. `end` closes everything.
 *
 * @param {Place} place @returns {Promise<any>}
 */
export async function openService(place) {
  if (place.kind in ofAdk) {
    return await openAdk(await ofAdk[place.kind](place));
  }
  const { store, end } = await openStore(place);
  const service = new SessionService({ store });
  const close = async () => {
    await service.close();
    await end();
  };
  /** @param {string} id @param {object} stateDelta */
  const eventOf = (id, stateDelta) => ({ id, author: 'agent', actions: { stateDelta } });
  return { service, eventOf, end: close };
}

/** @param {any} options @returns {Promise<any>} */
async function openAdk(options) {
  const { createEvent, createEventActions, DatabaseSessionService, LogLevel, setLogLevel } =
    await import('@google/adk');
  setLogLevel(LogLevel.ERROR);
  /** @type {any} */
  const service = new DatabaseSessionService(options);
  /** @param {string} id @param {any} stateDelta */
  const eventOf = (id, stateDelta) =>
    createEvent({ id, author: 'agent', actions: createEventActions({ stateDelta }) });
  // It has no way to close what it has opened but this.
  return { service, eventOf, end: async () => await service.orm?.close(true) };
}
