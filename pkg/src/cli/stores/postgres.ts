// Postgres by the user's pg: a pool, and for statepad's own tables a connection that listens, which is made again
// whenever it breaks.

import { installedDriver, type Driver } from './drivers.js';
import { CommandError } from '../errors.js';
import { PostgresListening, type ListeningClient } from './postgres-listening.js';
import type { OpenedStore, OpenOptions } from './opened.js';

/** The longest time to connect, in milliseconds. */
const CONNECT_MS = 10_000;

/** The members of pg that are used. */
interface Pool {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>;
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}
interface Config {
  readonly connectionString: string;
  readonly application_name: string;
  readonly connectionTimeoutMillis: number;
  readonly keepAlive: boolean;
}

/** Opens a database. Throws `CommandError` without pg, and the error of a server that refuses. */
export async function openPostgres(url: string, options: OpenOptions): Promise<OpenedStore> {
  const { config, driver, pool } = await connected(url, options);
  if (options.migrate === 'check') {
    await orClosed(refuseAdk(pool), async () => await pool.end());
  }
  const ClientOfPg = driver.member('Client') as new (config: Config) => ListeningClient;
  const listening = new PostgresListening(() => new ClientOfPg(config), options.onError);
  const close = async (): Promise<void> => {
    await Promise.all([listening.close(), pool.end()]);
  };
  await orClosed(listening.begin(), close);
  const { postgresStore } = await import('../../stores/postgres/index.js');
  return { store: postgresStore(pool, { listen: listening }), isEncryptable: true, close };
}

/** Opens a database with the tables of an ADK; to write, with those of google-adk. Throws as {@link openPostgres}. */
export async function openAdkDatabase(url: string, options: OpenOptions): Promise<OpenedStore> {
  const { pool } = await connected(url, options);
  const close = async (): Promise<void> => await pool.end();
  if (!options.write) {
    const { adkReadStore } = await import('../../import-adk.js');
    return { store: adkReadStore(pool), isReadOnly: true, close };
  }
  const { adkDatabaseStore } = await import('../../stores/adk-database/index.js');
  return { store: adkDatabaseStore(pool), close };
}

/** Throws `CommandError` for a database that has the tables of an ADK, and none of statepad. */
async function refuseAdk(pool: Pool): Promise<void> {
  const { rows } = await pool.query("select to_regclass('statepad.statepad_version') is null as missing");
  if ((rows as readonly { readonly missing: boolean }[])[0]?.missing === true) {
    const { identifyAdk } = await import('../../import-adk.js');
    const { kind } = await identifyAdk(pool);
    if (kind !== 'unknown') {
      const help = 'its address begins with adk-database:, as in adk-database:postgres://HOST/DATABASE';
      throw new CommandError(`the database is that of an ADK (${kind}): ${help}`);
    }
  }
}

/** A pool for the functions that take a database. Throws as {@link openPostgres}. */
export async function openPool(
  url: string,
  options: Pick<OpenOptions, 'folder' | 'onError'>,
): Promise<{ readonly pool: Pool; readonly close: () => Promise<void> }> {
  const { pool } = await connected(url, options);
  return { pool, close: async () => await pool.end() };
}

/** A pool that has reached its server. */
async function connected(
  url: string,
  { folder, onError }: Pick<OpenOptions, 'folder' | 'onError'>,
): Promise<{ readonly driver: Driver; readonly config: Config; readonly pool: Pool }> {
  const driver = await installedDriver(folder, 'Postgres', [{ name: 'pg' }]);
  const PoolOfPg = driver.member('Pool') as new (config: Config) => Pool;
  const config = {
    connectionString: url,
    application_name: 'statepad',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  };
  const pool = new PoolOfPg(config);
  // The pool makes another connection when it needs one.
  pool.on('error', onError);
  await orClosed(pool.query('select 1'), async () => await pool.end());
  return { driver, config, pool };
}

async function orClosed(promise: Promise<unknown>, close: () => Promise<void>): Promise<void> {
  try {
    await promise;
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}
