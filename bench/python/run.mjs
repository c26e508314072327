/**
 * Measures google-adk over `StatepadSessionService` beside its own `DatabaseSessionService`, on one Postgres: `npm run
 * bench:python`, or, once it is built, `node bench/python/run.mjs [--quick] [--json] [--only commits|turns]`. Each has
 * a process of Python; ours a server besides.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { print } from '../print.mjs';
import { pythonEnv, pythonOf } from '../../scripts/python.mjs';
import { postgresServer } from '../../tests/sharing/databases.mjs';
import { startServer } from '../../tests/support/servers.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const [TIME, ROUNDS, TURNS] = options.quick ? [500, 1, 5] : [2_000, 5, 10];
/** The time that each runs before anything is measured, in milliseconds. */
const WARM_UP = 1_000;
const WRITERS = 8;
const LENGTHS = [10, 1_000, 5_000];
const LOADS = [
  ['8 writers, a session each', { writers: WRITERS, shared: false }],
  ['8 writers, one session', { writers: WRITERS, shared: true }],
];
const loads = options.only === 'turns' ? [] : LOADS;
const lengths = options.only === 'commits' ? [] : LENGTHS;
/** Ours, ours that keeps events between reads, which counts for turns, and google-adk's. */
const KINDS = ['statepad', 'cached', 'database'];
/** The least ratio of the rates, and the most that the service may take in a turn at 5,000 events, of one at 10. */
const AIMS = { rate: 5, growth: 1.5 };

const script = fileURLToPath(new URL('load.py', import.meta.url));

/** Starts a process of Python over a kind of service. `ask` has it carry out a task, and answers what came of it. */
async function startLoad(kind, address) {
  const child = spawn(await pythonOf('newest'), ['-W', 'ignore', script, kind, address], {
    env: pythonEnv,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the process with ${kind} has ended with ${await closed}`);
    return value;
  };
  await next();
  const ask = async (task, told) => {
    child.stdin.write(`${JSON.stringify([task, told])}\n`);
    return JSON.parse(await next());
  };
  const stop = async () => {
    child.stdin.end();
    await closed;
  };
  return { kind, ask, stop };
}

/** A new database for google-adk's own tables; its address as SQLAlchemy has it. */
async function newDatabase({ url, name }) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  return url.replace(/^postgres:\/\/(.*)\/\w+$/, `postgresql+asyncpg://$1/${name}`);
}

const ends = [];
/** By kind and name: all times, and the milliseconds that they took together. */
const figures = new Map();

/** @param {string} kind @param {string} name */
function note(kind, name, { times, inService = [], took = 0, busy = 0, readAgain = 0 }) {
  const key = `${kind}/${name}`;
  const known = figures.get(key) ?? { times: [], inService: [], took: 0, busy: 0, readAgain: 0 };
  figures.set(key, {
    times: known.times.concat(times),
    inService: known.inService.concat(inService),
    took: known.took + took,
    busy: known.busy + busy,
    readAgain: known.readAgain + readAgain,
  });
}

try {
  const postgres = await postgresServer();
  if (postgres.skip) throw new Error(postgres.skip);
  ends.push(postgres.stop);
  const server = await startServer(postgres.newPlace());
  ends.push(server.stop);
  const address = server.url.replace('http:', 'statepad:');
  const database = await newDatabase(postgres.newPlace());
  const all = [];
  for (const [kind, at] of [
    ['statepad', address],
    ['cached', address],
    ['database', database],
  ]) {
    const load = await startLoad(kind, at);
    ends.push(load.stop);
    all.push(load);
  }
  const writing = all.filter(({ kind }) => kind !== 'cached');

  const sessions = new Map();
  for (const { kind, ask } of all) {
    for (const [, load] of loads) await ask('commits', { ...load, milliseconds: WARM_UP });
    for (const events of lengths) {
      const { session } = await ask('prepare', { events });
      sessions.set(`${kind}/${events}`, session);
    }
  }
  for (let round = 1; round <= ROUNDS; round += 1) {
    // One after the other, so that what is compared meets the machine in the same state.
    for (const [name, load] of loads) {
      for (const { kind, ask } of writing) note(kind, name, await ask('commits', { ...load, milliseconds: TIME }));
    }
    for (const events of lengths) {
      for (const window of [false, true]) {
        for (const { kind, ask } of all) {
          const session = sessions.get(`${kind}/${events}`);
          note(kind, turnOf(events, window), await ask('turns', { session, count: TURNS, window }));
        }
      }
    }
    console.error(`round ${round} of ${ROUNDS}`);
  }
} finally {
  for (const end of ends.reverse()) await end();
}

function turnOf(events, window) {
  return `a turn at ${events.toLocaleString('en')} events${window ? ', reading the last 20' : ''}`;
}

function quantile(times, part) {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

const figure = (kind, name) => figures.get(`${kind}/${name}`);
const rateOf = (kind, name) => (figure(kind, name).times.length * 1_000) / figure(kind, name).took;
const medianOf = (kind, name) => quantile(figure(kind, name).times, 0.5);

if (options.json) {
  const plain = [...figures].map(([name, { times, took, readAgain }]) => {
    const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)];
    return [name, { p50, p99, ...(took > 0 && { rate: (times.length * 1_000) / took, readAgain }) }];
  });
  console.log(JSON.stringify(Object.fromEntries(plain)));
} else {
  report();
}

function report() {
  const ms = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(2));
  const commits = (kind, name) => {
    const { times, busy } = figure(kind, name);
    const rate = Math.round(rateOf(kind, name)).toLocaleString('en');
    return `${rate}/s (${ms(quantile(times, 0.5))}, ${ms(quantile(times, 0.99))}; ${ms(busy / times.length)})`;
  };
  const serviceOf = (kind, name) => quantile(figure(kind, name).inService, 0.5);
  const turn = (kind, name) => `${ms(medianOf(kind, name))} ms (${ms(serviceOf(kind, name))})`;
  const judged = (isMet, aim) => [aim, isMet ? 'yes' : 'NO'];
  const rates = loads.map(([name]) => {
    const ratio = rateOf('statepad', name) / rateOf('database', name);
    const cells = [commits('statepad', name), '', commits('database', name), `${ratio.toPrecision(2)}x`];
    return [name, ...cells, ...judged(ratio >= AIMS.rate, `>= ${AIMS.rate}x`)];
  });
  const turns = lengths.flatMap((events) =>
    [false, true].map((window) => {
      const name = turnOf(events, window);
      const ratio = medianOf('database', name) / medianOf('cached', name);
      const cells = KINDS.map((kind) => turn(kind, name));
      return [name, ...cells, `${ratio.toPrecision(2)}x`, '', ''];
    }),
  );
  const growth = (lengths.length > 0 ? [false, true] : []).map((window) => {
    const [least, most] = [LENGTHS[0], LENGTHS.at(-1)].map((events) => turnOf(events, window));
    const grown = (kind) => serviceOf(kind, most) / serviceOf(kind, least);
    const cells = KINDS.map((kind) => `${grown(kind).toPrecision(2)}x`);
    const name = `${most}, of one at ${LENGTHS[0]}: in the service`;
    return [name, ...cells, '', ...judged(grown('cached') <= AIMS.growth, `<= ${AIMS.growth}x`)];
  });
  print([
    [
      'commits/s (median, 99th; busy Python for each, ms); median of turns (of it in the service)',
      'statepad',
      'statepad, cached_events',
      'DatabaseSessionService',
      'ratio',
      'aim',
      'met?',
    ],
    ...rates,
    ...turns,
    ...growth,
  ]);
  for (const [name] of loads) {
    const { readAgain, times } = figure('database', name);
    console.log(`DatabaseSessionService read sessions again, as stale, ${readAgain} times for ${times.length} commits: ${name}`);
  }
  console.log(
    `${ROUNDS} rounds of ${TIME} ms and ${TURNS} turns each; ${cpus().length} x ${cpus()[0].model}, Node ${process.versions.node}`,
  );
}
