/**
 * One counter of an app in Postgres that many services update all the time: `npm run bench:stores` measures it, too,
 * or, once it is built, `node bench/stores/hot.mjs`. The services are spread over four processes. Each row is measured
 * with and without the turns of the store, in turns.
 */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { SessionService } from 'statepad';
import { postgresStore } from 'statepad/stores/postgres';
import { postgresServer } from '../../tests/sharing/databases.mjs';

const SERVICES = [1, 8, 64];
const PROCESSES = 4;
const APP = { appName: 'hot' };
const script = fileURLToPath(import.meta.url);

/**
 * What one process does: so many services, each with one update in flight. Says how long each update took, in
 * milliseconds.
 */
async function work({ place, services, seconds, turns }) {
  const pool = new pg.Pool({ connectionString: place.url, max: 4 });
  const all = Array.from({ length: services }, () => {
    const store = postgresStore(pool, { schema: place.name });
    return new SessionService({ store: turns ? store : { ...store, reserve: undefined } });
  });
  const times = [];
  let failed = 0;
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    all.map(async (service) => {
      while (performance.now() < end) {
        const begun = performance.now();
        try {
          await service.updateState(APP, (state) => ({ 'app:n': (state['app:n'] ?? 0) + 1 }));
          times.push(performance.now() - begun);
        } catch {
          failed += 1;
        }
      }
    }),
  );
  await Promise.all(all.map((service) => service.close()));
  await pool.end();
  return { times, failed };
}

/** All processes at once over a new schema. */
async function measure(place, services, turns, seconds) {
  const count = Math.min(PROCESSES, services);
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const own = Math.floor(services / count) + (index < services % count ? 1 : 0);
      const child = fork(script, ['child']);
      child.send({ place, services: own, seconds, turns });
      return new Promise((resolve) => child.once('message', resolve));
    }),
  );
  const times = answers.flatMap((answer) => answer.times).sort((a, b) => a - b);
  const client = new pg.Client({ connectionString: place.url });
  await client.connect();
  const store = postgresStore(client, { schema: place.name });
  const n = (await new SessionService({ store }).getAppState(APP)).n;
  await client.end();
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
export async function measureHot({ seconds = 6, rounds = 2 } = {}) {
  const { skip, newPlace, stop } = await postgresServer();
  if (skip) throw new Error(skip);
  const lines = [];
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const services of SERVICES) {
        for (const turns of [false, true]) {
          const { rate, p50, slowest, failed, lost } = await measure(newPlace(), services, turns, seconds);
          lines.push(
            `a hot counter of an app, ${services} services, ${turns ? 'with' : 'without'} turns: ${rate.toFixed(0)}/s, ` +
              `median ${p50.toFixed(0)} ms, slowest ${slowest.toFixed(0)} ms, ${failed} failed, ${lost} lost`,
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
  console.log((await measureHot()).join('\n'));
}
