// The services that the tests of the sessions API run over.

import Database from 'better-sqlite3';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';

/** Opens a service, with another one beside it that shares its sessions where that is possible. */
export const PLACES = {
  'a service in memory': (options) => {
    const service = new SessionService(options);
    return { service, other: service };
  },
  'a store in memory': (options) => {
    const store = memoryStore();
    return { service: new SessionService({ ...options, store }), other: new SessionService({ ...options, store }) };
  },
  SQLite: (options) => {
    const database = new Database(':memory:');
    const open = () => new SessionService({ ...options, store: sqliteStore(database) });
    return { service: open(), other: open() };
  },
};
