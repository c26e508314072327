// The wire to a server is cut while a service writes: it goes on by itself, and nothing is lost or there twice.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import pg from 'pg';
import { SessionService } from 'statepad';
import { postgresStore } from 'statepad/stores/postgres';
import { redisStore } from 'statepad/stores/redis';
import { startProxy } from '../stores/redis/proxy.mjs';
import { randomFrom } from '../support/random.js';
import { postgresForTests } from '../support/postgres.mjs';
import { startRedisServer, whyNoRedisServer } from '../support/redis.mjs';
import { sleep } from './faulty.mjs';

const { server: postgres, skip: noPostgres } = await postgresForTests();
after(() => postgres?.stop());
const noRedis = whyNoRedisServer();
const redis = noRedis ? undefined : await startRedisServer();
after(() => redis?.stop());

/** The clients, each over a port of this machine. `sends`: the client itself sends again what was not answered. */
const clients = {
  postgres: {
    skip: noPostgres ?? (postgres.pid === undefined ? 'the server is not on this machine' : undefined),
    port: () => Number(new URL(postgres.url).port),
    open: (port) => {
      const pool = new pg.Pool({ connectionString: Object.assign(new URL(postgres.url), { port }).href, max: 3 });
      pool.on('error', () => undefined);
      return { store: postgresStore(pool), end: () => pool.end() };
    },
  },
  'redis, whose client sends again by itself': {
    skip: noRedis,
    port: () => redis.port,
    open: (port) => openRedis(port, {}),
  },
  'redis, whose client gives up at once': {
    skip: noRedis,
    port: () => redis.port,
    open: (port) =>
      openRedis(port, { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, retryStrategy: () => 5 }),
  },
};

function openRedis(port, options) {
  const client = new Redis({ port, ...options });
  client.on('error', () => undefined);
  return { store: redisStore(client), end: async () => client.disconnect() };
}

/** A store that counts how often it was not known what became of a change, or that it was there already. */
function counting(inner, counts) {
  const note = (answers) => answers.forEach(({ duplicate }) => (counts.twice += duplicate ? 1 : 0));
  const watch = async (call) => {
    try {
      return await call();
    } catch (error) {
      counts.failed += 1;
      throw error;
    }
  };
  return {
    ...inner,
    commit: (...args) =>
      watch(async () => {
        const answer = await inner.commit(...args);
        note([answer]);
        return answer;
      }),
    commitMany: (...args) =>
      watch(async () => {
        const answers = await inner.commitMany(...args);
        note(answers);
        return answers;
      }),
  };
}

for (const [index, [name, { skip, port, open }]] of Object.entries(clients).entries()) {
  test(`${name}: the wire is cut again and again while 50 events are appended`, { skip }, async (t) => {
    const seed = 20240801 + index;
    t.diagnostic(`seed ${seed}`);
    const random = randomFrom(seed);
    const proxy = await startProxy(port());
    const { store, end } = open(proxy.port);
    const appName = `cut ${index}`;
    const counts = { failed: 0, twice: 0, cuts: 0 };
    try {
      const service = new SessionService({ store: counting(store, counts), retry: { attempts: 20, pause: 5 } });
      const keys = ['a', 'b', 'c'].map((sessionId) => ({ appName, userId: 'u', sessionId }));
      const sessions = await Promise.all(keys.map((key) => service.createSession({ ...key, state: { 'app:n': 0 } })));
      const append = (number, session) =>
        service.appendEvent({
          session,
          event: {
            id: `e${number}`,
            invocationId: 'i',
            author: 'agent',
            actions: { stateDelta: { [`app:${session.id}`]: number, 'user:last': number, last: number } },
          },
        });
      for (let number = 0; number < 50;) {
        const isCut = random() < 0.5;
        // Before it is sent, or in the middle of it.
        const cut = isCut ? sleep(random() < 0.5 ? 0 : random() * 4).then(() => proxy.cutNextAnswer()) : undefined;
        if (isCut && random() < 0.7) {
          await cut;
        }
        counts.cuts += isCut ? 1 : 0;
        const together = number % 5 === 0 && number <= 45 ? sessions : [sessions[number % 3]];
        await Promise.all(together.map((session, place) => append(number + place, session)));
        number += together.length;
        await cut;
      }
      await service.updateState(keys[0], (state) => ({ 'app:n': state['app:n'] + 1 }));
      await service.close();

      const fresh = new SessionService({ store });
      const ids = [];
      for (const [place, key] of keys.entries()) {
        const { events, state, revision } = await fresh.getSession(key);
        const mine = events.filter(({ author }) => author === 'agent').map(({ id }) => id);
        assert.equal(revision, events.length);
        assert.equal(`e${state.last}`, mine.at(-1));
        assert.equal(state[`app:${key.sessionId}`], state.last);
        assert.equal(revision, sessions[place].revision + (place === 0 ? 1 : 0));
        assert.deepEqual(
          mine,
          [...mine].sort((a, b) => Number(a.slice(1)) - Number(b.slice(1))),
          'in the order of asking',
        );
        ids.push(...mine);
      }
      assert.equal(new Set(ids).size, ids.length, 'none is there twice');
      assert.ok(ids.length >= 50);
      assert.deepEqual(
        [...ids].sort(),
        Array.from({ length: ids.length }, (_, number) => `e${number}`).sort(),
        'all are there',
      );
      assert.equal((await fresh.getAppState({ appName })).n, 1);
      const { pos } = await store.loadScope({ app: appName }, { signal: new AbortController().signal });
      assert.equal(pos, keys.length + ids.length + 1);
      await fresh.close();
    } finally {
      await end();
      await proxy.stop();
    }
    t.diagnostic(
      `${counts.cuts} cuts: ${counts.failed} calls failed, ${counts.twice} changes were there already when they were sent again`,
    );
    assert.ok(counts.twice > 3, 'answers were lost');
  });
}
