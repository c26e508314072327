/**
 * Measures commits through a server beside those in process, and beside google-adk's own server: `npm run bench:door`,
 * or, once it is built, `node bench/server/run.mjs [--quick] [--json] [--only sqlite,postgres] [--no-adk]`. Clients
 * have a process of their own, as the server has. They and the database share the machine with it, and in process
 * there are no clients: beside the rates are the times of the processor that the process with the service takes for a
 * commit.
 */

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { print } from '../print.mjs';
import { startContestants } from './contestants.mjs';
import { measureWatching, POLL } from './watchers.mjs';

const STORES = ['sqlite', 'postgres', 'redis'];
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    'no-adk': { type: 'boolean', default: false },
  },
});
const chosen = options.only === undefined ? STORES : STORES.filter((name) => options.only.split(',').includes(name));
const [time, rounds, changes] = options.quick ? [300, 1, 15] : [1_500, 3, 60];
/** The number of turns of a round: disturbances from outside meet all alike. */
const TURNS = 3;
/**
 * The commits of each contestant before anything is measured: until the engine has compiled the code, after some
 * thousands of them, a commit takes three times as much of the processor. A slow contestant ends with the turns, which
 * are of so many milliseconds.
 */
const WARM_UP = { commits: 6_000, turns: 30, time: 500 };

const LOADS = [
  ['1 client', { clients: 1, isShared: false }],
  ['8, a session each', { clients: 8, isShared: false }],
  ['64, a session each', { clients: 64, isShared: false }],
  ['8, one session', { clients: 8, isShared: true }],
  ['64, one session', { clients: 64, isShared: true }],
];
/** The least part of the rate in process, and the most that a server may add to the median, in milliseconds. */
const AIMS = { rate: { '64, a session each': { postgres: 0.6, redis: 0.6 } }, added: { '1 client': 1.5 } };
/** The places of watches: their stores, kinds, and the longest time until a change is heard of, in milliseconds. */
const WATCHES = [
  ['postgres', 'postgres, listening', 50],
  ['redis', 'redis, listening', 50],
  ['postgres', 'postgres', POLL + 50],
  ['redis', 'redis', POLL + 50],
  ['sqlite', 'sqlite', POLL + 50],
];

const { all, newPlace, stop } = await startContestants(chosen, { apiServer: !options['no-adk'] });
/**
 * By store, way and load: all times of commits, the milliseconds that were measured, how many commits failed, and the
 * microseconds of the processor that the process with the service took.
 */
const figures = new Map();
const figure = ({ store, way }, load) => figures.get(`${store}/${way}/${load}`);
const watched = new Map();
try {
  for (const contestant of all) {
    await warmUp(contestant);
  }
  for (let round = 1; round <= rounds; round += 1) {
    for (const [load, { clients, isShared }] of LOADS) {
      // One after the other, several times, so that what is compared meets the machine in the same state.
      for (let turn = 0; turn < TURNS; turn += 1) {
        for (const contestant of all) {
          note(contestant, load, await measured(contestant, { clients, isShared }, time / TURNS));
        }
      }
      console.error(`round ${round} of ${rounds}: ${load}`);
    }
  }
  for (const [store, kind] of WATCHES.filter(([store]) => chosen.includes(store))) {
    watched.set(kind, sorted(await measureWatching(newPlace(store, kind), changes)));
    console.error(`watches: ${kind}`);
  }
} finally {
  await stop();
}

async function warmUp(contestant) {
  for (let turn = 0, made = 0; turn < WARM_UP.turns && made < WARM_UP.commits; turn += 1) {
    const { times } = await measured(contestant, { clients: 64, isShared: false }, WARM_UP.time);
    made += times.length;
  }
}

async function measured({ begin, commit, cpuTime }, load, time) {
  await begin(load);
  const before = await cpuTime?.();
  const answer = await commit(time);
  return { ...answer, cpu: before === undefined ? undefined : (await cpuTime()) - before };
}

function note({ store, way }, load, { times, failed, took, cpu }) {
  const name = `${store}/${way}/${load}`;
  const known = figures.get(name) ?? { times: [], failed: 0, took: 0, cpu: 0 };
  figures.set(name, {
    times: known.times.concat(times),
    failed: known.failed + failed,
    took: known.took + took,
    cpu: known.cpu + cpu,
  });
}

function sorted(times) {
  return times.toSorted((one, other) => one - other);
}

/** The value below which a part of sorted times is. */
function quantile(times, part) {
  return times[Math.min(times.length - 1, Math.floor(times.length * part))];
}

const rateOf = ({ times, took }) => (times.length * 1_000) / took;
/** The microseconds of the processor for a commit; not a number for a server that does not tell it. */
const cpuOf = ({ times, cpu }) => cpu / times.length;
const medianOf = ({ times }) => quantile(sorted(times), 0.5);

if (options.json) {
  const plain = [...figures].map(([name, figure]) => {
    const ordered = sorted(figure.times);
    const [p50, p99] = [quantile(ordered, 0.5), quantile(ordered, 0.99)];
    return [name, { rate: rateOf(figure), p50, p99, failed: figure.failed, cpu: cpuOf(figure) }];
  });
  const heard = [...watched].map(([kind, times]) => [kind, { p50: quantile(times, 0.5), worst: times.at(-1) }]);
  console.log(JSON.stringify({ commits: Object.fromEntries(plain), watches: Object.fromEntries(heard) }));
} else {
  report();
}

function report() {
  const ms = (value) => (value === undefined ? '' : value >= 100 ? value.toFixed(0) : value.toPrecision(2));
  const cell = (contestant, load) => {
    const seen = figure(contestant, load);
    const ordered = sorted(seen.times);
    const rate = Math.round(rateOf(seen)).toLocaleString('en');
    const lost = seen.failed > 0 ? `, ${seen.failed} failed` : '';
    const cpu = contestant.cpuTime === undefined ? '' : `; ${Math.round(cpuOf(seen))}`;
    return `${rate} (${ms(quantile(ordered, 0.5))}, ${ms(quantile(ordered, 0.99))}${lost}${cpu})`;
  };
  const loads = LOADS.map(([load]) => load);
  print([
    ['commits/s (median, 99th in ms; processor of the service for one in µs)', ...loads],
    ...all.map((contestant) => [
      `${contestant.store}, ${contestant.way}`,
      ...loads.map((load) => cell(contestant, load)),
    ]),
  ]);
  print([['ratio', 'seen', 'aim', 'met?'], ...all.flatMap((contestant) => ratios(contestant, loads))]);
  print([
    ['a change is heard of at another server, ms', 'median', '99th', 'slowest', 'aim', 'met?'],
    ...WATCHES.filter(([, kind]) => watched.has(kind)).map(([, kind, aim]) => {
      const times = watched.get(kind);
      const worst = times.at(-1);
      return [
        kind,
        ms(quantile(times, 0.5)),
        ms(quantile(times, 0.99)),
        ms(worst),
        `<= ${aim}`,
        worst <= aim ? 'yes' : 'NO',
      ];
    }),
  ]);
  console.log(
    `${rounds} rounds of ${time} ms each, in ${TURNS} turns; ${cpus().length} x ${cpus()[0].model}, Node ${process.versions.node}`,
  );
}

/** The rates of a way over HTTP beside those in process, and what it adds to the median of one client. */
function ratios({ store, way }, loads) {
  if (way === 'in process') return [];
  const base = { store, way: 'in process' };
  const rates = loads.map((load) => {
    const seen = rateOf(figure({ store, way }, load)) / rateOf(figure(base, load));
    const aim = way === 'adk api_server' ? undefined : AIMS.rate[load]?.[store];
    return [
      `${store}, ${way}: ${load}, of in process`,
      `${seen.toPrecision(2)}x`,
      ...judged(seen, aim, (a) => `>= ${a}x`),
    ];
  });
  const added = medianOf(figure({ store, way }, '1 client')) - medianOf(figure(base, '1 client'));
  const aim = way === 'adk api_server' ? undefined : AIMS.added['1 client'];
  const beside = [
    `${store}, ${way}: added to the median of one client`,
    `${added.toPrecision(2)} ms`,
    ...judged(-added, aim && -aim, (a) => `<= ${-a} ms`),
  ];
  return [...rates, beside, ...againstAdk({ store, way }, loads)];
}

/** The rates beside those of google-adk's own server over the same kind of database. */
function againstAdk({ store, way }, loads) {
  const theirs = { store, way: 'adk api_server' };
  if (way === 'adk api_server' || figure(theirs, loads[0]) === undefined) return [];
  return loads.map((load) => {
    const seen = rateOf(figure({ store, way }, load)) / rateOf(figure(theirs, load));
    return [`${store}, ${way}: ${load}, against adk api_server`, `${seen.toPrecision(3)}x`, '', ''];
  });
}

function judged(seen, aim, text) {
  return aim === undefined ? ['', ''] : [text(aim), seen >= aim ? 'yes' : 'NO'];
}
