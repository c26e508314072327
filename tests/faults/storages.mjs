// All stores that run in Node, each over storage that outlives it.

import { mkdtempSync, rmSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import pg from 'pg';
import { encryptedStore } from 'statepad/stores/encrypted';
import { fileJournal, journalStore } from 'statepad/stores/journal';
import { memoryStore } from 'statepad/stores/memory';
import { postgresStore } from 'statepad/stores/postgres';
import { redisStore } from 'statepad/stores/redis';
import { sqliteStore } from 'statepad/stores/sqlite';
import { postgresForTests } from '../support/postgres.mjs';
import { deleteKeys, startRedis, whyNoRedis } from '../support/redis.mjs';
import { faultyLines, faultyStore, linesOf } from './faulty.mjs';

const keys = [{ id: 'k', key: new Uint8Array(32).fill(7) }];

/** A new folder, in memory where there is a place for that. It has to be deleted. */
export function newFolder(name, parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()) {
  return mkdtempSync(join(parent, `statepad-${name}-`));
}

/** Those of tests that have failed are left. */
const folders = new Set();
const remove = (folder) => rmSync(folder, { recursive: true, force: true });

/**
 * Storage in a folder of its own: `make(folder, plan)` opens a store over it. Only a store with a `plan` fails.
 */
function inFolder(name, make) {
  return () => {
    const folder = newFolder(name);
    folders.add(folder);
    const opened = [];
    return {
      open: (plan) => make(folder, plan, (database) => (opened.push(database), database)),
      drop: () => {
        opened.forEach((database) => database.close());
        remove(folder);
        folders.delete(folder);
      },
    };
  };
}

const spoilt = (store, plan) => (plan === undefined ? store : faultyStore(store, plan));
const sqlite = (folder, keep) =>
  sqliteStore(keep(new Database(join(folder, 'sessions.db'))), { synchronous: 'normal' });

/**
 * The stores under their names. Each is a function that makes new storage: `open(plan)` makes another store over it,
 * and `drop()` gives it back. In a place that many use at the same time, storage is new as long as nobody takes
 * another's app.
 */
export async function storages() {
  after(() => folders.forEach(remove));
  const stores = {
    memory: () => {
      const store = memoryStore();
      return { open: (plan) => spoilt(store, plan), drop: () => undefined };
    },
    'journal in memory': () => {
      const lines = linesOf();
      return { open: (plan) => spoilt(journalStore(lines), plan), drop: () => undefined };
    },
    'journal over lines that fail': () => {
      const lines = linesOf();
      return {
        open: (plan) => journalStore(plan === undefined ? lines : faultyLines(lines, plan)),
        drop: () => undefined,
      };
    },
    'journal in a file': inFolder('journal', (folder, plan) =>
      spoilt(fileJournal(join(folder, 'journal'), { sync: false }), plan),
    ),
    sqlite: inFolder('sqlite', (folder, plan, keep) => spoilt(sqlite(folder, keep), plan)),
    'encrypted over sqlite': inFolder('encrypted', (folder, plan, keep) =>
      spoilt(encryptedStore(sqlite(folder, keep), { keys }), plan),
    ),
    'encrypted over sqlite that fails': inFolder('encrypted', (folder, plan, keep) =>
      encryptedStore(spoilt(sqlite(folder, keep), plan), { keys }),
    ),
  };
  const skipped = {};
  const lite = await PGlite.create();
  after(() => lite.close());
  stores['postgres, PGlite'] = () => ({ open: (plan) => spoilt(postgresStore(lite), plan), drop: () => undefined });

  const { server, skip } = await postgresForTests();
  if (skip) {
    skipped.postgres = skip;
  } else {
    const pool = new pg.Pool({ connectionString: server.url, max: 4 });
    // A connection that ends with the server is no fault of a test.
    pool.on('error', () => undefined);
    const schema = `statepad_faults_${process.pid}`;
    after(async () => {
      await pool.query(`drop schema if exists ${schema} cascade`);
      await pool.end();
      await server.stop();
    });
    stores.postgres = () => ({ open: (plan) => spoilt(postgresStore(pool, { schema }), plan), drop: () => undefined });
  }

  const why = whyNoRedis();
  if (why) {
    skipped.redis = why;
  } else {
    const redis = await startRedis();
    const client = new Redis(redis.url);
    const prefix = `faults ${process.pid}`;
    after(async () => {
      await deleteKeys(client, prefix);
      client.disconnect();
      await redis.stop();
    });
    stores.redis = () => ({ open: (plan) => spoilt(redisStore(client, { prefix }), plan), drop: () => undefined });
  }
  return { stores, skipped };
}
