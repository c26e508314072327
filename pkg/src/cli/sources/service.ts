// A service over the store of an address.

import { shownAddress, type StoreAddress } from '../addresses.js';
import { CommandError } from '../errors.js';
import { openJournal } from '../stores/journal.js';
import { openAdkDatabase, openPostgres } from '../stores/postgres.js';
import { openRedis } from '../stores/redis.js';
import { openSqlite } from '../stores/sqlite.js';
import { withKeys } from '../stores/keys.js';
import { SessionService, type SessionServiceOptions } from '../../index.js';
import type { OpenedStore, OpenOptions } from '../stores/opened.js';

/** The options of a service about what it keeps, and for how long. */
export type GrowthOptions = Pick<SessionServiceOptions, 'limits' | 'ttl' | 'userTtl' | 'sweepEvery'>;

/** The options of a service for a command. */
export interface ServiceOptions extends OpenOptions {
  /** The approximate number of events that stay in memory; by default that of a service. */
  readonly cachedEvents?: number | undefined;
  readonly growth?: GrowthOptions | undefined;
}

/** A service whose store is open. */
export interface OpenedService {
  readonly service: SessionService;
  /** True when the store refuses writes, or was opened for reading alone. */
  readonly isReadOnly: boolean;
  /** Makes durable what was written, and closes the store and its connections. */
  readonly close: () => Promise<void>;
}

/** Opens the store of an address. Throws `CommandError` when it cannot be used. */
export async function openedService(address: StoreAddress, options: ServiceOptions): Promise<OpenedService> {
  try {
    const { store: plain, isReadOnly = !options.write, isEncryptable, close } = await openedStore(address, options);
    const store = plain !== undefined && isEncryptable ? await withKeys(plain, options.secrets) : plain;
    const { migrate, cachedEvents, growth } = options;
    const service = new SessionService({ store, migrate, cachedEvents, ...growth });
    const closeAll = async (): Promise<void> => {
      await service.close();
      await close();
    };
    try {
      // The first call opens the store.
      await service.getSession({ appName: 'statepad', userId: 'statepad', sessionId: 'statepad' });
    } catch (error) {
      await closeAll().catch(() => undefined);
      throw error;
    }
    return { service, isReadOnly, close: closeAll };
  } catch (error) {
    if (error instanceof CommandError) {
      throw error;
    }
    throw new CommandError(`${shownAddress(address)} cannot be opened`, { cause: error });
  }
}

async function openedStore(address: StoreAddress, options: OpenOptions): Promise<OpenedStore> {
  switch (address.kind) {
    case 'sqlite':
      return await openSqlite(address.path, options);
    case 'postgres':
      return await openPostgres(address.url, options);
    case 'adk-database':
      return await openAdkDatabase(address.url, options);
    case 'redis':
      return await openRedis(address.url, options);
    case 'journal':
      return await openJournal(address.path, options);
    case 'memory':
      return { store: undefined, close: async () => undefined };
  }
}
