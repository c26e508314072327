// Postgres by the user's pg: a pool, and a connection that listens, which is made again whenever it breaks.

import { installedDriver } from './drivers.js';
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
export async function openPostgres(url: string, { folder, onError }: OpenOptions): Promise<OpenedStore> {
  const driver = await installedDriver(folder, 'Postgres', [{ name: 'pg' }]);
  const PoolOfPg = driver.member('Pool') as new (config: Config) => Pool;
  const ClientOfPg = driver.member('Client') as new (config: Config) => ListeningClient;
  const config = {
    connectionString: url,
    application_name: 'statepad',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  };
  const pool = new PoolOfPg(config);
  // The pool makes another connection when it needs one.
  pool.on('error', onError);
  const listening = new PostgresListening(() => new ClientOfPg(config), onError);
  const close = async (): Promise<void> => {
    await Promise.all([listening.close(), pool.end()]);
  };
  try {
    await pool.query('select 1');
    await listening.begin();
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  const { postgresStore } = await import('../../stores/postgres/index.js');
  return { store: postgresStore(pool, { listen: listening }), close };
}
