// Stores over files that are opened for reading alone.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openReadOnly, sqliteStore } from 'statepad/stores/sqlite';
import { creation, failure, plain, update } from './libraries.mjs';

const PAST = { at: 1_000 };

/** Two sessions that have expired and one that has not, and the values of three users. */
async function fill(path) {
  const store = plain(sqliteStore(path, { journalMode: 'keep' }));
  await store.open({ migrate: 'create' });
  const user = { set: { name: 'Ana' } };
  await store.commit({ ...creation('one', { userId: 'ana', user }), expires: PAST });
  await store.commit({ ...creation('two', { userId: 'ben', user }), expires: PAST });
  await store.commit(creation('stays', { userId: 'ben' }));
  await store.commit(update('idle', { userId: 'cleo', user }));
  await store.close();
}

test('a dry sweep counts what has expired in a file that is opened for reading alone, and a sweep is refused', async (t) => {
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'statepad-read-only-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'sessions.db');
  await fill(path);
  const before = readFileSync(path);
  const database = await openReadOnly(path);
  t.after(() => database.close());
  const store = plain(sqliteStore(database));
  await store.open({ migrate: 'check' });
  for (let time = 0; time < 2; time++) {
    assert.deepEqual(await store.sweep({ limit: 9, dry: true }), { sessions: 2, users: 0, more: false });
    const withUsers = { limit: 9, userTtl: -60_000, dry: true };
    assert.deepEqual(await store.sweep(withUsers), { sessions: 2, users: 2, more: false });
    assert.deepEqual(await store.sweep({ ...withUsers, limit: 3 }), { sessions: 2, users: 1, more: true });
    assert.deepEqual(await store.sweep({ ...withUsers, app: 'other' }), { sessions: 0, users: 0, more: false });
  }
  assert.notEqual(await failure(store.sweep({ limit: 9 })), 'nothing is thrown');
  assert.deepEqual(readFileSync(path), before);
});
