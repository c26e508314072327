/**
 * One counter of an app in Postgres that many services write to all the time: `npm run bench:stores` measures it, too,
 * or, once it is built, `node bench/stores/hot.mjs [--quick] [--services 64]`. The services are spread over four
 * processes. The ways to count take turns:
 *
 * - `updateState`, which reads and writes: with and without the turns of the store
 * - `increment` as the answer of `updateState`, and in events, each service with a session of its own: the store adds
 * - `@google/adk`, which reads the session and appends its value plus one. It has nothing that would keep others from
 *   writing in between: what is lost is told
 */

import { fork } from 'node:child_process';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { createEvent, createEventActions, DatabaseSessionService } from '@google/adk';
import { PostgreSqlDriver } from '@mikro-orm/postgresql';
import pg from 'pg';
import { increment, SessionService } from 'statepad';
import { postgresStore } from 'statepad/stores/postgres';
import { postgresServer } from '../../tests/sharing/databases.mjs';

const SERVICES = [1, 8, 64];
const PROCESSES = 4;
const APP = { appName: 'hot' };
const script = fileURLToPath(import.meta.url);

/** A service of ours over a pool. */
function serviceOver(pool, place, turns = true) {
  const store = postgresStore(pool, { schema: place.name });
  return new SessionService({ store: turns ? store : { ...store, reserve: undefined } });
}

/** One counter over the services of a process: `count` counts once by the service at an index, `value` reads. */
const update = (turns) => (pool, place, services) => {
  const all = Array.from({ length: services }, () => serviceOver(pool, place, turns));
  return {
    count: (index) => all[index].updateState(APP, (state) => ({ 'app:n': (state['app:n'] ?? 0) + 1 })),
    close: () => Promise.all(all.map((service) => service.close())),
  };
};
const WAYS = {
  'updateState without turns': update(false),
  'updateState with turns': update(true),
  'updateState answers increment': (pool, place, services) => {
    const all = Array.from({ length: services }, () => serviceOver(pool, place));
    return {
      count: (index) => all[index].updateState(APP, () => ({ 'app:n': increment() })),
      close: () => Promise.all(all.map((service) => service.close())),
    };
  },
  'events increment': async (pool, place, services) => {
    const all = Array.from({ length: services }, () => serviceOver(pool, place));
    const sessions = await Promise.all(all.map((service) => service.createSession({ ...APP, userId: 'u' })));
    return {
      count: (index) =>
        all[index].appendEvent({
          session: sessions[index],
          event: { author: 'agent', actions: { stateDelta: { 'app:n': increment() } } },
        }),
      close: () => Promise.all(all.map((service) => service.close())),
    };
  },
  'adk: events with the value read': async (pool, place, services, first) => {
    // One for all: each would have a pool of ten connections.
    const service = adkService(place);
    const keys = Array.from({ length: services }, (_, index) => ({
      ...APP,
      userId: 'u',
      sessionId: `${first + index}`,
    }));
    return {
      count: async (index) => {
        const session = await service.getSession(keys[index]);
        const actions = createEventActions({ stateDelta: { 'app:n': (session.state['app:n'] ?? 0) + 1 } });
        await service.appendEvent({ session, event: createEvent({ author: 'agent', invocationId: 'i', actions }) });
      },
      close: () => service.orm?.close(true),
    };
  },
};
const adkService = ({ url, name }) =>
  new DatabaseSessionService({ driver: PostgreSqlDriver, clientUrl: url, dbName: `adk_${name}` });

/**
 * The work of one process: so many services, each with one call in flight. Says how long each took, in milliseconds.
 */
async function work({ place, services, first, seconds, way }) {
  const pool = new pg.Pool({ connectionString: place.url, max: 4 });
  const { count, close } = await WAYS[way](pool, place, services, first);
  const times = [];
  let failed = 0;
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    Array.from({ length: services }, async (_, index) => {
      while (performance.now() < end) {
        const begun = performance.now();
        try {
          await count(index);
          times.push(performance.now() - begun);
        } catch {
          failed += 1;
        }
      }
    }),
  );
  await close();
  await pool.end();
  return { times, failed };
}

/** The final value of the counter. */
async function valueOf(place, way) {
  if (way.startsWith('adk')) {
    const service = adkService(place);
    const { state } = await service.getSession({ ...APP, userId: 'u', sessionId: '0' });
    await service.orm?.close(true);
    return state['app:n'];
  }
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  const service = serviceOver(client, place);
  const { n } = await service.getAppState(APP);
  await service.close();
  await client.end();
  return n;
}

/** All processes at once over a new schema. */
async function measure(place, services, way, seconds) {
  const count = Math.min(PROCESSES, services);
  if (way.startsWith('adk')) {
    // It makes its tables and the rows of app and user at the first call, and not in several processes at once.
    const service = adkService(place);
    for (let index = 0; index < services; index += 1) {
      await service.createSession({ ...APP, userId: 'u', sessionId: String(index) });
    }
    await service.orm?.close(true);
  }
  const children = [];
  let first = 0;
  for (let index = 0; index < count; index += 1) {
    const own = Math.floor(services / count) + (index < services % count ? 1 : 0);
    const child = fork(script, ['child']);
    child.send({ place, services: own, first, seconds, way });
    children.push(
      new Promise((resolve, reject) => {
        child.once('message', resolve);
        child.once('exit', (code) => reject(new Error(`a process of "${way}" has ended with ${code}`)));
      }),
    );
    first += own;
  }
  const answers = await Promise.all(children);
  const times = answers.flatMap((answer) => answer.times).sort((a, b) => a - b);
  const n = await valueOf(place, way);
  const failed = answers.reduce((sum, answer) => sum + answer.failed, 0);
  return {
    rate: times.length / seconds,
    p50: times[times.length >> 1],
    slowest: times.at(-1),
    failed,
    lost: times.length - n,
  };
}

/** The lines of the report. */
export async function measureHot({ seconds = 6, rounds = 2, numbers = SERVICES } = {}) {
  const { skip, newPlace, stop } = await postgresServer();
  if (skip) throw new Error(skip);
  const lines = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const services of numbers) {
        for (const way of Object.keys(WAYS)) {
          const { rate, p50, slowest, failed, lost } = await measure(newPlace(), services, way, seconds);
          console.error(`hot counter, round ${round + 1} of ${rounds}: ${services} services, ${way}`);
          lines.push(
            `a hot counter of an app, ${services} services, ${way}: ${rate.toFixed(0)}/s, ` +
              `median ${p50?.toFixed(0)} ms, slowest ${slowest?.toFixed(0)} ms, ${failed} failed, ${lost} lost`,
          );
        }
      }
    }
  } finally {
    await stop();
  }
  return lines;
}

if (process.argv[2] === 'child') {
  process.once('message', async (task) => {
    process.send(await work(task));
    process.disconnect();
  });
} else if (process.argv[1] === script) {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, services: { type: 'string' } },
  });
  const numbers = values.services === undefined ? SERVICES : values.services.split(',').map(Number);
  const length = values.quick ? { seconds: 2, rounds: 1 } : {};
  console.log((await measureHot({ ...length, numbers })).join('\n'));
}
