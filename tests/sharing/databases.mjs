// Databases for tests with several processes: each is started once for a file of tests, and every place in it is new.

import { mkdtempSync, existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { Redis } from 'ioredis';
import { postgresForTests } from '../support/postgres.mjs';
import { deleteKeys, startRedis, whyNoRedis } from '../support/redis.mjs';

let count = 0;
/** A name that nobody else has, on whatever server. */
const newName = () => `statepad_sharing_${process.pid}_${(count += 1)}`;

/**
 * Files for databases of SQLite; `folder` instead of memory when what is measured is the disk. `newPlace(kind)` names
 * a new one, `stop` deletes all.
 */
export function sqliteFiles({ onDisk = false } = {}) {
  const folder = mkdtempSync(join(!onDisk && existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'statepad-sharing-'));
  return {
    newPlace: (kind = 'sqlite') => ({ kind, path: join(folder, `${newName()}.db`) }),
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/**
 * A server of Postgres, or `{ skip }` with the reason why there is none. A place of ADK's is a database, ours is a
 * schema.
 */
export async function postgresServer() {
  const { server, skip } = await postgresForTests();
  if (skip) {
    return { skip };
  }
  return placesOf(server, 'postgres', async (names) => {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    for (const name of names) {
      await client.query(`drop schema if exists ${name} cascade`);
      await client.query(`drop database if exists ${name}`);
    }
    await client.end();
  });
}

/** A server of Redis, or `{ skip }` with the reason why there is none. */
export async function redisServer() {
  const skip = whyNoRedis();
  if (skip) {
    return { skip };
  }
  const server = await startRedis();
  return placesOf(server, 'redis', async (names) => {
    const client = new Redis(server.url);
    for (const name of names) {
      await deleteKeys(client, `${name}:`);
    }
    client.disconnect();
  });
}

/** The places of a server, which `clear` empties by their names in the end. */
function placesOf(server, usual, clear) {
  const names = [];
  return {
    newPlace: (kind = usual) => {
      names.push(newName());
      return { kind, url: server.url, name: names.at(-1) };
    },
    stop: async () => {
      await clear(names);
      await server.stop();
    },
  };
}
