// No room left, under a service: what was acknowledged stays, nothing is half there, and with more room it goes on.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs/promises';
import sync, { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { Redis } from 'ioredis';
import { SessionService, isStatepadError } from 'statepad';
import { fileJournal } from 'statepad/stores/journal';
import { redisStore } from 'statepad/stores/redis';
import { sqliteStore } from 'statepad/stores/sqlite';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { newFolder } from './storages.mjs';
import { KEY } from '../support/fixtures.mjs';

const context = { signal: new AbortController().signal };
/** More than is appended before any of the places here is full. */
const ENOUGH = 2_000;

/**
 * Appends until there is no room, and again when there is. `open()` answers a store, `refill` is called when the
 * session is there, `stayFull` at the first refusal, `makeRoom` at the end of refusals.
 */
async function fill(t, open, makeRoom, refill = () => undefined, stayFull = () => undefined) {
  const store = await open();
  const service = new SessionService({ store, retry: { attempts: 2, pause: 1 } });
  const session = await service.createSession({ ...KEY, state: { 'app:n': 0 } });
  await refill();
  const acknowledged = [];
  const append = async (id, size) => {
    const stateDelta = { last: id, [`app:${id}`]: 'é'.repeat(size), 'user:last': id };
    await service.appendEvent({
      session,
      event: {
        id,
        invocationId: 'i',
        author: 'agent',
        content: { parts: [{ text: id.repeat(size) }] },
        actions: { stateDelta },
      },
    });
    acknowledged.push(id);
  };
  const refused = async (promise) => {
    await assert.rejects(promise, (error) => {
      assert.ok(isStatepadError(error), `${error}`);
      assert.equal(error.code, 'STORE_UNAVAILABLE');
      return true;
    });
  };
  const whole = () => {
    assert.deepEqual(
      session.events.map(({ id }) => id),
      acknowledged,
    );
    assert.equal(session.state.last, acknowledged.at(-1));
  };
  let full;
  for (let number = 0; full === undefined; number++) {
    assert.ok(number < ENOUGH);
    full = await append(`e${number}`, 2_000).catch(async (error) => {
      await refused(Promise.reject(error));
      return `e${number}`;
    });
  }
  const first = acknowledged.length;
  whole();
  await stayFull();
  await refused(append(full, 2_000));
  await refused(service.createSession({ ...KEY, sessionId: 'big', state: { text: 'x'.repeat(1_000_000) } }));
  await refused(service.updateState({ appName: 'app' }, () => ({ 'app:n': 'x'.repeat(1_000_000) })));
  assert.equal((await service.getSession(KEY)).revision, first, 'what is there can be read');
  assert.equal(await service.getSession({ ...KEY, sessionId: 'big' }), undefined);

  await makeRoom();
  await append(full, 2_000);
  await append('more', 10);
  await service.updateState({ appName: 'app' }, (state) => ({ 'app:n': state['app:n'] + 1 }));
  whole();
  await service.close();

  const again = await open();
  const fresh = new SessionService({ store: again });
  const read = await fresh.getSession(KEY);
  assert.deepEqual(
    read.events.map(({ id }) => id),
    acknowledged,
  );
  for (const { id, actions, content } of read.events) {
    assert.equal(read.state[`app:${id}`], actions.stateDelta[`app:${id}`]);
    assert.equal(content.parts[0].text.length % id.length, 0);
  }
  assert.deepEqual([read.state.last, read.state['user:last'], read.state['app:n']], ['more', 'more', 1]);
  assert.equal(Object.keys(read.state).length, acknowledged.length + 3, 'nothing is half there');
  assert.equal((await again.loadScope({ app: 'app' }, context)).pos, 1 + acknowledged.length + 1);
  assert.equal((await fresh.listSessions({ appName: 'app' })).totalItems, 1);
  await fresh.close();
  t.diagnostic(`${first} acknowledged before there was no room, ${acknowledged.length - first} afterwards`);
}

/** Calls `use` with a folder on a disk of 1 MB, if this process may make one, and with what makes half of it free. */
async function onSmallDisk(t, use) {
  const folder = newFolder('full');
  // Also with a file that is open, when a test has failed.
  const umount = () => execFileSync('umount', ['-l', folder]);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    rmSync(folder, { recursive: true });
    t.diagnostic('no file system can be mounted here: the test beside this one stands for it');
    return;
  }
  try {
    const ballast = join(folder, 'ballast');
    writeFileSync(ballast, Buffer.alloc(500_000));
    await use(folder, () => rmSync(ballast));
  } finally {
    umount();
    rmSync(folder, { recursive: true });
  }
}

/** Calls `use` with a folder. */
async function inFolder(use) {
  const folder = newFolder('full');
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Opens an SQLite store in a folder; `database()` is its connection. */
function sqliteIn(folder) {
  let database;
  return {
    database: () => database,
    open: async () => {
      database?.close();
      database = new Database(join(folder, 'sessions.db'));
      return sqliteStore(database);
    },
  };
}

test('sqlite on a full disk', (t) =>
  onSmallDisk(t, async (folder, makeRoom) => {
    const { open, database } = sqliteIn(folder);
    await fill(t, open, makeRoom);
    database().close();
  }));

test('sqlite, a file that may have no more pages', (t) =>
  inFolder(async (folder) => {
    const { open, database } = sqliteIn(folder);
    await fill(
      t,
      open,
      () => database().pragma('max_page_count = 1000000'),
      () => database().pragma('max_page_count = 100'),
    );
    database().close();
  }));

test('a journal on a full disk', (t) =>
  onSmallDisk(t, (folder, makeRoom) => fill(t, async () => fileJournal(join(folder, 'journal')), makeRoom)));

test('a journal in a file that takes no more, in the middle of a line', (t) =>
  inFolder(async (folder) => {
    const { open } = fs;
    const { writeSync } = sync;
    const opened = new Set();
    let room = 300_000;
    const take = (bytes, offset) => {
      const length = Math.min(bytes.length - offset, room);
      if (length === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      room -= length;
      return length;
    };
    fs.open = async (...args) => {
      const handle = await open(...args);
      opened.add(handle.fd);
      return new Proxy(handle, {
        get: (target, name) => {
          if (name !== 'write') {
            return typeof target[name] === 'function' ? target[name].bind(target) : target[name];
          }
          return async (bytes, offset) => await target.write(bytes, offset, take(bytes, offset));
        },
      });
    };
    sync.writeSync = (fd, bytes, offset, ...more) =>
      opened.has(fd) ? writeSync(fd, bytes, offset, take(bytes, offset)) : writeSync(fd, bytes, offset, ...more);
    try {
      await fill(
        t,
        async () => fileJournal(join(folder, 'journal'), { sync: false }),
        () => void (room = 1e9),
      );
    } finally {
      fs.open = open;
      sync.writeSync = writeSync;
    }
  }));

test('redis without memory', { skip: whyNoRedisServer() }, async (t) => {
  const server = await startRedisServer();
  const client = new Redis(server.url);
  try {
    const limit = async () => {
      const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))[1]);
      await client.config('SET', 'maxmemory', String(used + 500_000));
    };
    await fill(
      t,
      async () => redisStore(client),
      () => client.config('SET', 'maxmemory', '0'),
      limit,
      // Redis counts the buffers of its clients, too: what they give back would make room for one more.
      () => client.config('SET', 'maxmemory', '1'),
    );
  } finally {
    client.disconnect();
    await server.stop();
  }
});
