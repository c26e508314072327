// Databases of adk-python, made by running it: brought over, and compared with what it reads itself.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import pg from 'pg';
import { SessionService } from 'statepad';
import { identifyAdk, importAdk } from 'statepad/import-adk';
import { postgresForTests } from '../support/postgres.mjs';
import { asShown, madeBy, pythonForTests } from './python.mjs';
import { CORRECTION, inTemporary, shownBy, sorted } from './imported-sessions.mjs';

const { python, skip } = await pythonForTests();
const APPS = ['shop', 'a/b "c\'; 😀 \\ %s ü'];
const KINDS = { v1: 'adk-python-v1', v0: 'adk-python-v0', sqlite: 'adk-python-sqlite' };

/** Brings a database over and holds what comes out to what adk-python reads. */
async function holds(database, read, kind) {
  assert.equal((await identifyAdk(database)).kind, kind);
  const service = new SessionService();
  const result = await importAdk(database, service);
  assert.deepEqual(result.problems, []);
  assert.deepEqual([result.kind, result.sessions, result.imported, result.events], [kind, 4, 4, 9]);
  // The events of one session went back in time: in the order of their times they end with another state.
  assert.equal(result.corrected, 1);
  const rich = await service.getSession({ appName: 'shop', userId: 'ana', sessionId: 'rich' });
  assert.deepEqual([rich.events.at(-1).id, rich.events.at(-1).actions.stateDelta], [CORRECTION, { count: 3 }]);
  assert.deepEqual(await shownBy(service, APPS), sorted(read.map(asShown)));
  assert.deepEqual(await service.getUserState({ appName: 'shop', userId: 'eve' }), { left: 1 });
  assert.deepEqual(await service.getAppState({ appName: 'alone' }), { left: { x: null } });

  const again = await importAdk(database, service);
  assert.deepEqual([again.sessions, again.imported, again.problems], [4, 0, []]);
  return service;
}

describe('the SQLite databases of adk-python', { skip }, () => {
  for (const [layout, kind] of Object.entries(KINDS)) {
    test(`${kind}: everything is as adk-python reads it`, async () => {
      await inTemporary(async (folder) => {
        const path = join(folder, 'sessions.db');
        const read = await madeBy(python, layout, layout === 'sqlite' ? path : `sqlite+aiosqlite:///${path}`);
        const database = new Database(path);
        try {
          await holds(database, read, kind);
        } finally {
          database.close();
        }
      });
    });
  }
});

describe('the Postgres databases of adk-python', { skip }, () => {
  let server;
  let pool;
  before(async () => {
    ({ server } = await postgresForTests());
    pool = server && new pg.Pool({ connectionString: server.url, max: 2 });
    // A connection that is closing may be cut when the server stops.
    pool?.on('error', () => undefined);
  });
  after(async () => {
    await pool?.end();
    await server?.stop();
  });

  for (const layout of ['v1', 'v0']) {
    test(`${KINDS[layout]}: everything is as adk-python reads it, by a pool and by a client`, async (t) => {
      if (server === undefined) return t.skip('no Postgres');
      await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      const read = await madeBy(python, layout, server.url.replace(/^postgres:/, 'postgresql+asyncpg:'));
      await holds(pool, read, KINDS[layout]);
      assert.deepEqual([pool.totalCount, pool.idleCount], [1, 1]);
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await holds(client, read, KINDS[layout]);
      await client.end();
    });
  }
});
