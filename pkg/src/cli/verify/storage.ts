// The checks that a storage has itself.

import { existsSync } from 'node:fs';
import { problem, type Fault } from './fault.js';
import { readOnlySqlite } from '../stores/sqlite.js';
import type { Address } from '../addresses.js';

/** The faults of an SQLite file that it lists at most. */
const MOST = 100;

/**
 * The faults that the storage itself reports; nothing for a file that is not there. Postgres, Redis and journals are
 * checked when they are opened.
 */
export async function checkedStorage(
  address: Address,
  { folder, isQuick }: { readonly folder: string; readonly isQuick: boolean },
): Promise<readonly Fault[]> {
  if (address.kind !== 'sqlite' || !existsSync(address.path)) {
    return [];
  }
  const database = await readOnlySqlite(address.path, folder);
  try {
    const pragma = isQuick ? 'quick_check' : 'integrity_check';
    const rows = database.prepare(`PRAGMA ${pragma}(${MOST})`).all() as readonly object[];
    const lines = rows.map((row) => String(Object.values(row)[0]));
    return lines.filter((line) => line !== 'ok').map((line) => problem({}, `SQLite's own check says: ${line}`));
  } catch (error) {
    return [problem({}, `SQLite's own check says: ${(error as Error).message}`)];
  } finally {
    database.close();
  }
}
