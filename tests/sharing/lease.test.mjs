// A process that holds a lease stands still in the middle of appending, another takes the lease and writes, and the
// first goes on: nothing of it is written after that, what was under way included.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SessionService } from 'statepad';
import { postgresServer, redisServer, sqliteFiles } from './databases.mjs';
import { openService, openStore } from './places.mjs';
import { USER } from '../support/fixtures.mjs';

const script = fileURLToPath(new URL('lease-child.mjs', import.meta.url));
const key = { ...USER, sessionId: 'run' };
const ROUNDS = 3;
const TTL = 400;
/** The time that a process appends before it is stopped, and goes on after a bad moment, in milliseconds. */
const RUN_MS = 60;

const databases = { sqlite: sqliteFiles(), postgres: await postgresServer(), redis: await redisServer() };
after(async () => {
  await Promise.all(Object.values(databases).map(async ({ stop }) => await stop?.()));
});

const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** Starts a process that takes the lease of the session and appends, and waits until it does. */
async function startHolder(place) {
  const child = fork(script, [], { execPath: process.execPath, execArgv: [] });
  const told = [];
  child.on('message', (message) => told.push(message));
  child.send({ place, key, ttl: TTL });
  await once(child, 'message');
  return { child, told };
}

/**
 * Takes the lease as soon as the time of its holder is over. A process that SQLite has let write keeps all others from
 * writing, also when it stands still: then it was stopped at a bad moment, goes on for a while, and is stopped anew.
 */
async function takeOver(service, child) {
  for (let tries = 0; ; tries++) {
    await sleep(RUN_MS * (0.5 + Math.random()));
    child.kill('SIGSTOP');
    try {
      return await lease(service);
    } catch (error) {
      assert.ok(error.code === 'STORE_UNAVAILABLE' && tries < 20, error.stack);
      child.kill('SIGCONT');
    }
  }
}

/** Asks for the lease until the one who has it is over. */
async function lease(service) {
  for (;;) {
    try {
      return await service.lease(await service.getSession(key), { ttl: 60_000 });
    } catch (error) {
      if (error.code !== 'LEASE_HELD') throw error;
      await sleep(20);
    }
  }
}

async function overtaken(place) {
  const { store, end } = await openStore(place);
  assert.equal(typeof store.lease, 'function', `${place.kind} has leases`);
  // A store that is locked by a process that stands still says so soon.
  const service = new SessionService({ store, retry: { attempts: 1 } });
  const eventOf = (by, more = {}) => ({ id: by, author: 'agent', ...more, actions: { stateDelta: { by } } });
  try {
    await service.createSession(key);
    const named = { ...USER, id: key.sessionId };
    await service.appendEvent({ session: named, event: eventOf('first', { invocationId: 'first' }) });
    for (let round = 0; round < ROUNDS; round++) {
      const { child, told } = await startHolder(place);
      try {
        const held = await takeOver(service, child);
        const { session, token } = held;
        assert.ok(token > told[0].leased);
        const before = session.revision;
        const ours = ['x', 'y', 'z'].map((name) => `${token} ${name}`);
        await service.appendEvent({ session, event: eventOf(ours[0]) });

        child.kill('SIGCONT');
        await service.appendEvent({ session, event: eventOf(ours[1]) });
        while (told.length < 2) await once(child, 'message');
        const [, { acknowledged, refused, isAborted }] = told;
        assert.ok(refused.length >= 6, 'it was refused in the middle of appending, and by every other way');
        assert.deepEqual(new Set(refused), new Set(['LEASE_LOST']));
        assert.equal(isAborted, true);
        await service.appendEvent({ session, event: eventOf(ours[2]) });

        const fresh = await openService(place);
        const { events, state, revision } = await fresh.service.getSession(key);
        await fresh.end();
        const ids = events.map(({ id }) => id);
        assert.deepEqual(ids.slice(before), ours, 'nothing of it was written afterwards');
        assert.equal(revision, before + 3);
        assert.deepEqual({ ...state }, { by: ours[2] });
        const written = new Set(ids);
        assert.deepEqual(
          acknowledged.filter((id) => !written.has(id)),
          [],
          'what it was told to be stored is stored',
        );
        assert.ok(acknowledged.length > 0);
        await held.release();
      } finally {
        child.kill('SIGKILL');
      }
    }
  } finally {
    await service.close();
    await end();
  }
}

for (const [name, kinds] of Object.entries({
  sqlite: ['sqlite'],
  postgres: ['postgres', 'postgres, listening'],
  redis: ['redis', 'redis, listening'],
})) {
  const database = databases[name];
  for (const kind of kinds) {
    test(
      `a holder that stood still writes nothing once it was overtaken: ${kind}`,
      { skip: database.skip },
      async () => {
        await overtaken(database.newPlace(kind));
      },
    );
  }
}
