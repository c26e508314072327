// The contestants: every store that runs in Node, on real files and servers, the engine under each by itself, and
// ADK's own database service on two of them.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSessionService } from '@google/adk';
import { BetterSqliteDriver } from '@mikro-orm/better-sqlite';
import { PostgreSqlDriver } from '@mikro-orm/postgresql';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import pg from 'pg';
import { SessionService } from 'statepad';
import { encryptedStore } from 'statepad/stores/encrypted';
import { fileJournal } from 'statepad/stores/journal';
import { memoryStore } from 'statepad/stores/memory';
import { postgresStore } from 'statepad/stores/postgres';
import { redisStore } from 'statepad/stores/redis';
import { sqliteStore } from 'statepad/stores/sqlite';
import { rawJournal } from './raw/journal.mjs';
import { rawPostgres } from './raw/postgres.mjs';
import { rawRedis } from './raw/redis.mjs';
import { rawSqlite } from './raw/sqlite.mjs';
import { startPostgres } from '../../tests/support/postgres.mjs';
import { startRedis } from '../../tests/support/redis.mjs';

/**
 * Starts the servers. Answers the contestants, and `stop()`.
 *
 * A contestant's `open()` makes a fresh database. Its answer has `connect()`, which makes one more service over that
 * database, with connections of its own, and `close()`. Of one that stands `alone` there can be only one service. A
 * store is compared with its `peer` of ADK, and with its `raw` engine, which is measured right beside it.
 */
export async function startContestants() {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-bench-'));
  const postgres = await startPostgres();
  const redis = await startRedis();
  let count = 0;
  const fresh = (kind) => `${kind}_${++count}`;
  const file = (kind) => join(folder, fresh(kind));
  /** `client()` connects, `store(client)` makes a store over that. */
  const ours = (client, store, end) => {
    const ends = [];
    return {
      connect: () => {
        const connected = client();
        const service = new SessionService({ store: store(connected) });
        ends.push(async () => {
          await service.close();
          await end?.(connected);
        });
        return service;
      },
      close: async () => {
        for (const each of ends) await each();
      },
    };
  };
  const adk = (options) => {
    const services = [];
    return {
      connect: () => {
        const service = new DatabaseSessionService(options);
        services.push(service);
        return service;
      },
      // The service has no way to end its connections.
      close: async () => await Promise.all(services.map(({ orm }) => orm?.close(true))),
    };
  };
  const sqlite = (store) => {
    const path = file('sqlite');
    return ours(
      () => new Database(path),
      store,
      (database) => database.close(),
    );
  };

  const all = [
    { name: 'memory', durability: 'none', open: () => ours(memoryStore, (shared) => shared), alone: true },
    {
      name: 'journal',
      durability: 'a file, fdatasync',
      raw: 'raw journal',
      open: () =>
        ours(
          () => file('journal'),
          (path) => fileJournal(path),
        ),
      alone: true,
    },
    { name: 'raw journal', durability: 'a file, fdatasync', isRaw: true, open: () => rawJournal(file('raw')) },
    {
      name: 'sqlite',
      durability: 'better-sqlite3, WAL, synchronous',
      peer: 'adk sqlite',
      raw: 'raw sqlite',
      open: () => sqlite((database) => sqliteStore(database)),
    },
    {
      name: 'raw sqlite',
      durability: 'better-sqlite3, WAL, synchronous',
      isRaw: true,
      open: () => rawSqlite(file('raw')),
    },
    {
      name: 'encrypted sqlite',
      durability: 'better-sqlite3, WAL, synchronous',
      open: () => {
        const keys = [{ id: '1', key: randomBytes(32) }];
        return sqlite((database) => encryptedStore(sqliteStore(database), { keys }));
      },
    },
    {
      name: 'postgres',
      durability: 'pg, server with fsync',
      peer: 'adk postgres',
      raw: 'raw postgres',
      open: () => {
        const schema = fresh('bench');
        return ours(
          () => new pg.Pool({ connectionString: postgres.url, max: 4 }),
          (pool) => postgresStore(pool, { schema }),
          (pool) => pool.end(),
        );
      },
    },
    {
      name: 'raw postgres',
      durability: 'pg, server with fsync',
      isRaw: true,
      open: () => rawPostgres(postgres.url, fresh('raw')),
    },
    {
      name: 'redis',
      durability: 'ioredis, appendfsync always',
      raw: 'raw redis',
      open: () => {
        const prefix = fresh('bench');
        return ours(
          () => new Redis(redis.url),
          (client) => redisStore(client, { prefix }),
          (client) => client.quit(),
        );
      },
    },
    {
      name: 'raw redis',
      durability: 'ioredis, appendfsync always',
      isRaw: true,
      open: () => rawRedis(redis.url, fresh('raw')),
    },
    {
      name: 'adk sqlite',
      durability: "better-sqlite3, the driver's default",
      isAdk: true,
      open: () => adk({ driver: BetterSqliteDriver, dbName: file('adk') }),
    },
    {
      name: 'adk postgres',
      durability: 'pg, server with fsync',
      isAdk: true,
      open: () => adk({ driver: PostgreSqlDriver, clientUrl: postgres.url, dbName: fresh('adk') }),
    },
  ];
  const stop = async () => {
    await Promise.allSettled([postgres.stop(), redis.stop()]);
    rmSync(folder, { recursive: true, force: true });
  };
  return { all, stop };
}
