// Watching what other services write: other processes over a file, other connections over a server, with hints and by
// polling alone. Readers are cut and go on from where they were.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SessionService, DELETED } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { applied, take } from '../support/watching.mjs';
import { KEY, setting } from '../support/fixtures.mjs';
import { postgresServer, redisServer, sqliteFiles } from './databases.mjs';
import { openService, openStore } from './places.mjs';
import { startProcesses } from './processes.mjs';

const APP = { appName: KEY.appName };
const USER = { ...APP, userId: KEY.userId };

/**
 * Reads changes until a place is reached, by readers that are cut after a few and followed by one that goes on with
 * `since`. Answers with all that was told. `isKept`: whether what was there at any place is known.
 */
async function readCut(service, target, place, end, options, isKept = true) {
  const told = [];
  let since = 0;
  let cut = 0;
  while (since < end) {
    const changes = service.watch(target, { ...options, since });
    const stop = isKept ? (cut += 1) * 7 : Infinity;
    for (let count = 0; count < stop && since < end; count++) {
      const [change] = await take(changes, 1);
      told.push(change);
      since = change[place];
    }
    await changes.return();
  }
  return told;
}

/** Fails unless each revision came once, in order, and the deltas of all events come to the state. */
function tellsSession(told, { revision, events }) {
  assert.deepEqual(
    told.map(({ type, revision: at }) => [type, at]),
    Array.from({ length: revision }, (_, index) => ['event', index + 1]),
  );
  assert.deepEqual(
    told.map(({ event }) => event.id),
    events.map(({ id }) => id),
  );
}

/** Fails unless the positions follow one another and the deltas come to the values. */
function tellsValues(told, prefix, values) {
  let state = {};
  let position = 0;
  for (const change of told) {
    assert.deepEqual([change.type, change.from], ['values', position]);
    position = change.position;
    state = applied(state, change, (value) => value === DELETED);
  }
  assert.deepEqual(state, Object.fromEntries(Object.entries(values).map(([name, value]) => [prefix + name, value])));
}

/** Several services write at the same time and are read at the same time. */
async function writeAndRead(services, count, options, isKept) {
  const [first, ...others] = services;
  await first.createSession({ ...KEY, state: { 'app:n': 0 } });
  const write = async (service, who) => {
    const session = await service.getSession(KEY);
    for (let number = 1; number <= count; number++) {
      const shared = { [`app:${who}`]: number, [`user:${who}`]: number % 3 === 0 ? DELETED : number };
      await service.appendEvent({ session, event: setting({ n: number, ...(number % 2 === 0 ? shared : {}) }) });
      if (number % 5 === 0) {
        await service.updateState(APP, () => ({ 'app:n': number }));
      }
    }
  };
  const revision = services.length * count;
  const writes = Math.floor(count / 2) * services.length;
  const reads = services.flatMap((service) => [
    readCut(service, KEY, 'revision', revision, options),
    readCut(service, APP, 'position', writes + services.length * Math.floor(count / 5) + 1, options, isKept),
    readCut(service, USER, 'position', writes, options, isKept),
  ]);
  await Promise.all([first, ...others].map((service, index) => write(service, `w${index}`)));
  const told = await Promise.all(reads);
  const session = await first.getSession(KEY);
  const [app, user] = [await first.getAppState(APP), await first.getUserState(USER)];
  for (let index = 0; index < told.length; index += 3) {
    tellsSession(told[index], session);
    tellsValues(told[index + 1], 'app:', app);
    tellsValues(told[index + 2], 'user:', user);
  }
}

const files = sqliteFiles();
const servers = { postgres: await postgresServer(), redis: await redisServer() };
after(async () => {
  await files.stop();
  await Promise.all(Object.values(servers).map((server) => server.stop?.()));
});

describe('two services in one process', () => {
  const stores = {
    'a memory store with hints': () => memoryStore(),
    'a memory store without hints': () => ({ ...memoryStore(), watch: undefined }),
    'a memory store without a log': () => memoryStore({ log: false }),
  };
  for (const [name, make] of Object.entries(stores)) {
    test(name, async () => {
      const store = make();
      const services = [new SessionService({ store }), new SessionService({ store, cachedEvents: 0 })];
      await writeAndRead(services, 60, { poll: 2 }, store.readLog !== undefined && store.keeps.includes('log'));
      await Promise.all(services.map((service) => service.close()));
    });
  }

  test('memory alone', async () => {
    for (const log of [true, false]) {
      const service = new SessionService({ log });
      await writeAndRead([service], 120, {}, log);
      await service.close();
    }
  });

  for (const kind of ['sqlite', 'postgres', 'postgres, listening', 'redis', 'redis, listening']) {
    const { newPlace, skip } = kind === 'sqlite' ? files : servers[kind.split(',')[0]];
    test(kind, { skip }, async () => {
      const place = newPlace(kind);
      const opened = [await openService(place), await openService(place)];
      try {
        // With hints the polling would be too slow to be of use.
        const poll = kind.includes('listening') ? 2_000 : 10;
        await writeAndRead(
          opened.map(({ service }) => service),
          40,
          { poll },
        );
      } finally {
        await Promise.all(opened.map(({ end }) => end()));
      }
    });
  }
});

test('what another process writes to a file is told, each event once', async () => {
  const place = files.newPlace();
  const { service, end } = await openService(place);
  const processes = startProcesses(2);
  try {
    await processes.all('open', place);
    await service.createSession({ ...KEY, state: { 'app:n': 0 } });
    const count = 40;
    const events = (process) =>
      Array.from({ length: count }, (_, number) => ({
        id: `p${process}-${number}`,
        delta: { n: number, [`app:p${process}`]: number },
      }));
    const read = readCut(service, KEY, 'revision', 2 * count, { poll: 5 });
    const readApp = readCut(service, APP, 'position', 2 * count + 1, { poll: 5 });
    await processes.all('append', (process) => ({ key: KEY, events: events(process), atOnce: 1 }));
    tellsSession(await read, await service.getSession(KEY));
    tellsValues(await readApp, 'app:', await service.getAppState(APP));
  } finally {
    await processes.all('end').catch(() => undefined);
    await processes.stop();
    await end();
  }
});

test('a reader that never reads holds no writer, and the changes of 10,000 appends are not kept for it', async () => {
  const place = files.newPlace();
  const [{ store, end }, other] = [await openStore(place), await openService(place)];
  const service = new SessionService({ store, cachedEvents: 100 });
  const session = await other.service.createSession(KEY);
  const slow = service.watch(KEY, { since: 0, poll: 5, buffer: 10 });
  const first = slow.next();
  const text = 'x'.repeat(10_000);
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  const memory = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  await other.service.appendEvent({ session, event: setting({ n: 0 }) });
  assert.equal((await first).value.revision, 1);
  const before = memory();
  const writer = other.service;
  for (let number = 1; number < 10_000; number += 100) {
    const events = Array.from({ length: 100 }, (_, index) => setting({ n: number + index, text }));
    await Promise.all(events.map((event) => writer.appendEvent({ session: { ...KEY, id: KEY.sessionId }, event })));
  }
  await writer.close();
  // All events have 100 MB; what the file has of them is not in memory.
  const grown = (memory() - before) / 2 ** 20;
  assert.ok(grown < 20, `${grown} MB`);
  for (let revision = 2; revision <= 300; revision++) {
    assert.equal((await take(slow, 1))[0].revision, revision);
  }
  await service.close();
  await Promise.all([end(), other.end()]);
});
