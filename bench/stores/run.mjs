/**
 * Measures every store, what its engine can do by itself, and ADK's database service beside them: `npm run
 * bench:stores`, or, once it is built, `node bench/stores/run.mjs [--quick] [--json] [--only sqlite,postgres]`.
 */

import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { median } from '../cold.mjs';
import { print } from '../print.mjs';
import { startContestants } from './contestants.mjs';
import { Bench } from './measure.mjs';
import { measureHot } from './hot.mjs';
import { measureSharing } from './sharing.mjs';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const time = options.quick ? 150 : 1000;
const rounds = options.quick ? 1 : 3;
/** The time that each contestant runs before anything is measured, in milliseconds: cold code takes longer. */
const WARM_UP = 1000;
/**
 * The number of turns of a round: disturbances from outside, such as another program that uses the disk, meet all
 * alike.
 */
const TURNS = 5;

/** The columns: what differs from one commit at a time over a history of ten events. */
const COLUMNS = [
  ['1 in flight', {}],
  ['8 in flight', { inFlight: 8 }],
  ['64 in flight', { inFlight: 64 }],
  ['1, after 1,000', { history: 1000 }],
  ['1, stale', { stale: true }],
  ['1, stale, after 1,000', { stale: true, history: 1000 }],
];
/** Of one that stands alone there is no second service, and an engine by itself does not notice a second writer. */
const applies = ({ alone, isRaw }, { stale }) => !((alone || isRaw) && stale);

/** The columns in which stores are compared with ADK's service, and how many times as much each has to do. */
const AIMS_BESIDE_ADK = [
  ['1 in flight', { sqlite: { required: 20 }, postgres: { required: 10, goal: 12 } }],
  ['64 in flight', {}],
  ['1, stale, after 1,000', { sqlite: { required: 100 }, postgres: { required: 100 } }],
];
/** The columns in which stores are compared with their engines, and what part of their rate each has to reach. */
const RAW_COLUMNS = ['1 in flight', '8 in flight', '64 in flight'];
const AIMS_OF_RAW = {
  journal: { '1 in flight': { required: 0.6 } },
  sqlite: { '1 in flight': { required: 0.6 } },
  postgres: { '64 in flight': { required: 0.5 } },
};

const { all, stop } = await startContestants();
const chosen =
  options.only === undefined
    ? all
    : all.filter(({ name }) => options.only.split(',').some((word) => name.includes(word)));
const benches = new Map(chosen.map((contestant) => [contestant, new Bench(contestant)]));
const figures = Object.fromEntries(chosen.map(({ name }) => [name, {}]));
try {
  for (const contestant of chosen) await benches.get(contestant).commits({ time: WARM_UP });
  // The system still has to write what that and the making of the databases has left to it, where it can be told to.
  spawnSync('sync');
  for (let round = 0; round < rounds; round += 1) {
    for (const [column, workload] of COLUMNS) {
      const taking = chosen.filter((each) => applies(each, workload));
      const sums = new Map(taking.map((contestant) => [contestant, { count: 0, took: 0 }]));
      // One after the other, several times, so that what is compared meets the machine in the same state.
      for (let turn = 0; turn < TURNS; turn += 1) {
        for (const [contestant, sum] of sums) {
          const { count, took } = await benches.get(contestant).commits({ ...workload, time: time / TURNS });
          sum.count += count;
          sum.took += took;
        }
      }
      for (const [{ name }, { count, took }] of sums) (figures[name][column] ??= []).push((count * 1000) / took);
      console.error(`round ${round + 1} of ${rounds}: ${column}`);
    }
  }
} finally {
  for (const bench of benches.values()) await bench.close().catch((error) => console.error(error));
  await stop();
}

const value = (name, column) => {
  const taken = figures[name]?.[column];
  return taken && median(taken);
};

if (options.json) {
  console.log(JSON.stringify(figures));
} else {
  report();
  console.log(['', ...(await measureSharing())].join('\n'));
  if (figures.postgres !== undefined) {
    const [seconds, rounds] = options.quick ? [1, 1] : [6, 2];
    console.log(['', ...(await measureHot({ seconds, rounds }))].join('\n'));
  }
}

function report() {
  const number = (figure) =>
    figure === undefined ? '' : figure >= 100 ? Math.round(figure).toLocaleString('en') : figure.toPrecision(2);
  const columns = COLUMNS.map(([column]) => column);
  print([
    ['commits/s', 'durable how', ...columns],
    ...chosen.map(({ name, durability }) => [
      name,
      durability,
      ...columns.map((column) => number(value(name, column))),
    ]),
  ]);
  const aims = chosen.flatMap(({ name, peer, raw, durability, isRaw, isAdk }) => [
    ...(figures[peer]
      ? AIMS_BESIDE_ADK.map(([column, aims]) =>
          ratio(`${name}: ${column}, against ${peer}`, column, name, peer, aims[name]),
        )
      : []),
    ...(figures[raw]
      ? RAW_COLUMNS.map((column) =>
          ratio(`${name}: ${column}, of ${raw}`, column, name, raw, AIMS_OF_RAW[name]?.[column]),
        )
      : []),
    ...(isRaw || isAdk || durability === 'none'
      ? []
      : [
          within(`${name}: 8 in flight, against one`, name, '8 in flight', '1 in flight', { required: 3 }),
          within(`${name}: after 1,000, against after 10 (flat is 1)`, name, '1, after 1,000', '1 in flight', {
            required: 0.8,
          }),
        ]),
  ]);
  print([['ratio', 'seen', 'required', 'goal', 'met?'], ...aims]);
  console.log(
    `${rounds} rounds of ${time} ms each, in ${TURNS} turns, the median; ${cpus().length} x ${cpus()[0].model}, Node ${process.versions.node}`,
  );
}

/** The ratio of two contestants in a column. */
function ratio(what, column, ours, theirs, aim) {
  return judged(what, value(ours, column) / value(theirs, column), aim);
}

/** The ratio of two columns of one contestant. */
function within(what, name, column, other, aim) {
  return judged(what, value(name, column) / value(name, other), aim);
}

function judged(what, seen, { required, goal } = {}) {
  const times = (number) => (number === undefined ? '' : `>= ${number}x`);
  const met = seen < required ? 'NO' : seen < goal ? 'yes, not goal' : 'yes';
  return [what, `${seen.toPrecision(3)}x`, times(required), times(goal), required === undefined ? '' : met];
}
