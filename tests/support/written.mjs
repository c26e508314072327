// Sessions in a file, for tests of what reads it.

import { createRequire } from 'node:module';
import { SessionService } from 'statepad';
import { sqliteStore } from 'statepad/stores/sqlite';

const require = createRequire(import.meta.url);

/**
 * Writes a session with its events into an SQLite file, which need not be there.
 *
 * @param {string} path @param {import('statepad').SessionKey} key @param {object[]} events
 * @param {Record<string, any>} [state]
 */
export async function writeTo(path, key, events, state = {}) {
  const database = new (require('better-sqlite3'))(path);
  const service = new SessionService({ store: sqliteStore(database) });
  const session = await service.createSession({ ...key, state });
  for (const event of events) await service.appendEvent({ session, event });
  await service.close();
  database.close();
}
