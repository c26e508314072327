// A service over the store of an address.

import { openAdkDatabase, openPostgres } from './postgres.js';
import { openRedis } from './redis.js';
import { openSqlite } from './sqlite.js';
import { shownAddress, type Address } from '../addresses.js';
import { CommandError } from '../errors.js';
import { SessionService } from '../../index.js';
import type { OpenedStore, OpenOptions } from './opened.js';

/** The options of a service for a command. */
export interface ServiceOptions extends OpenOptions {
  /** The changes that the store's layout may be given. */
  readonly migrate: 'create' | 'upgrade' | 'check';
}

/** A service whose store is open. */
export interface OpenedService {
  readonly service: SessionService;
  /** Makes durable what was written, and closes the store and its connections. */
  close(): Promise<void>;
}

/** Opens the store of an address. Throws `CommandError` when it cannot be used. */
export async function openedService(address: Address, options: ServiceOptions): Promise<OpenedService> {
  try {
    const { store, close } = await openedStore(address, options);
    const service = new SessionService({ store, migrate: options.migrate });
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
    return { service, close: closeAll };
  } catch (error) {
    if (error instanceof CommandError) {
      throw error;
    }
    throw new CommandError(`${shownAddress(address)} cannot be opened`, { cause: error });
  }
}

async function openedStore(address: Address, options: OpenOptions): Promise<OpenedStore> {
  switch (address.kind) {
    case 'sqlite':
      return await openSqlite(address.path, options);
    case 'postgres':
      return await openPostgres(address.url, options);
    case 'adk-database':
      return await openAdkDatabase(address.url, options);
    case 'redis':
      return await openRedis(address.url, options);
    case 'journal': {
      const { fileJournal } = await import('../../stores/journal/index.js');
      return { store: fileJournal(address.path), close: async () => undefined };
    }
    case 'memory':
      return { store: undefined, close: async () => undefined };
  }
}
