// Databases of ADKs, made by running them: read where they are, beside what the ADKs themselves read, and nothing of
// them is altered.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { DatabaseSessionService, createEvent } from '@google/adk';
import { BetterSqliteDriver } from '@mikro-orm/better-sqlite';
import Database from 'better-sqlite3';
import pg from 'pg';
import { SessionService } from 'statepad';
import { adkReadStore, importAdk } from 'statepad/import-adk';
import { postgresForTests } from '../support/postgres.mjs';
import { asShown, madeBy, pythonForTests } from './python.mjs';
import { inTemporary, shownBy, sorted } from './imported-sessions.mjs';
import { goRows, goTables, javaRows, javaTables } from './adk-go-java.mjs';
import { pythonTables, writes } from './tables.mjs';

const { python, skip } = await pythonForTests();
const APPS = ['shop', 'a/b "c\'; 😀 \\ %s ü'];
const KINDS = { v1: 'adk-python-v1', v0: 'adk-python-v0', sqlite: 'adk-python-sqlite' };
const RICH = { appName: 'shop', userId: 'ana', sessionId: 'rich' };

/** A service over a database that is only read. */
function reading(database, options) {
  return new SessionService({ store: adkReadStore(database, options), retry: { attempts: 1 } });
}

/** Reads all of a database, and holds it to what adk-python reads. */
async function reads(database, read) {
  const service = reading(database);
  assert.deepEqual(await shownBy(service, APPS), sorted(read.map(asShown)));
  assert.deepEqual(await service.getUserState({ appName: 'shop', userId: 'eve' }), { left: 1 });
  assert.deepEqual(await service.getAppState({ appName: 'alone' }), { left: { x: null } });
  assert.deepEqual(await service.listApps(), { apps: ['a/b "c\'; 😀 \\ %s ü', 'alone', 'shop'] });
  assert.deepEqual((await service.listUsers({ appName: 'shop' })).users, ['ana', 'ben', 'eve']);
  await refusesWrites(service);
  await service.close();
}

/** Holds every write to its refusal by name. */
async function refusesWrites(service) {
  const session = await service.getSession(RICH);
  const isRefused = { code: 'INVALID_ARGUMENT', message: /only read.*npx statepad import/ };
  const calls = [
    () => service.createSession({ appName: 'shop', userId: 'ana', sessionId: 'new', state: { a: 1 } }),
    () => service.appendEvent({ session, event: { author: 'x', actions: { stateDelta: { a: 1 } } } }),
    () => service.updateState(session, () => ({ count: 7 })),
    () => service.deleteSession(RICH),
    () => service.deleteAppState({ appName: 'shop' }),
    () => service.deleteUserState({ appName: 'shop', userId: 'ana' }),
  ];
  for (const call of calls) await assert.rejects(call, isRefused, String(call));
}

/** The files of a folder, with the digests of their bytes. */
function filesIn(folder) {
  const digest = (name) => createHash('sha256').update(readFileSync(join(folder, name))).digest('hex');
  return Object.fromEntries(readdirSync(folder).map((name) => [name, digest(name)]));
}

describe('the SQLite databases of adk-python, in place', { skip }, () => {
  for (const [layout, kind] of Object.entries(KINDS)) {
    test(`${kind}: all is as adk-python reads it, by the path of the file, whose bytes stay`, async () => {
      await inTemporary(async (folder) => {
        const path = join(folder, 'sessions.db');
        const read = await madeBy(python, layout, layout === 'sqlite' ? path : `sqlite+aiosqlite:///${path}`);
        const before = filesIn(folder);
        await reads(path, read);
        assert.deepEqual(filesIn(folder), before);
        const database = new Database(path);
        await reads(database, read);
        database.close();
      });
    });
  }
});

describe('the Postgres databases of adk-python, in place', { skip }, () => {
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
    test(`${KINDS[layout]}: all is as adk-python reads it, and no connection stays in a transaction`, async (t) => {
      if (server === undefined) return t.skip('no Postgres');
      await pool.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      const read = await madeBy(python, layout, server.url.replace(/^postgres:/, 'postgresql+asyncpg:'));
      await reads(pool, read);
      assert.deepEqual([pool.totalCount, pool.idleCount], [1, 1]);
      const { rows } = await pool.query(`SELECT count(*)::int AS n FROM pg_stat_activity WHERE state LIKE 'idle in%'`);
      assert.deepEqual(rows, [{ n: 0 }]);
    });
  }
});
