// Programs that several hosts run.

/** Prints what the conversation answers. */
export const conversing = `
  import { converse } from './conversation.js';
  console.log(JSON.stringify(await converse()));
`;

/**
 * Runs the published store cases over SQLite and prints which failed, and how many passed. `Database` is what a text
 * imports, and takes a path.
 */
export const sqliteCases = (importing) => `
  ${importing}
  import { existsSync, mkdtempSync, rmSync } from 'node:fs';
  import { tmpdir } from 'node:os';
  import { join } from 'node:path';
  import { sqliteStore } from 'statepad/stores/sqlite';
  import { runStoreCase, storeCases } from 'statepad/testing';

  function open() {
    // In memory where there is a place for that: much faster.
    const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'statepad-cases-'));
    const connections = [];
    const store = () => {
      connections.push(new Database(join(folder, 'sessions.db')));
      return sqliteStore(connections.at(-1));
    };
    const disconnect = () => connections.splice(0).forEach((database) => database.close());
    const reopen = () => {
      disconnect();
      return store();
    };
    const dispose = () => {
      disconnect();
      rmSync(folder, { recursive: true });
    };
    return { store: store(), another: store, reopen, dispose };
  }

  const failed = [];
  const cases = storeCases.filter(({ needs }) => !needs.includes('watch'));
  for (const storeCase of cases) {
    await runStoreCase(storeCase, open).catch((error) => failed.push(storeCase.name + ': ' + error));
  }
  console.log(JSON.stringify({ cases: cases.length, failed }));
`;
