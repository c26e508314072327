/**
 * Measures every store, and ADK's database service beside them: `npm run bench:stores`, or, once it is built,
 * `node bench/stores/run.mjs [--quick] [--json] [--only sqlite,postgres]`.
 */

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { median } from '../cold.mjs';
import { startContestants } from './contestants.mjs';
import { Bench } from './measure.mjs';
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

/** The columns: what differs from one commit at a time over a history of ten events. */
const COLUMNS = [
  ['1 in flight', {}],
  ['8 in flight', { inFlight: 8 }],
  ['64 in flight', { inFlight: 64 }],
  ['1, after 1,000', { history: 1000 }],
  ['1, stale', { stale: true }],
  ['1, stale, after 1,000', { stale: true, history: 1000 }],
];
/** ADK's service takes a second for a dozen commits: it is not asked for what takes minutes and compares nothing. */
const applies = ({ alone, isAdk }, { inFlight = 1, stale }) => !(alone && stale) && !(isAdk && inFlight > 8);

const { all, stop } = await startContestants();
const chosen =
  options.only === undefined
    ? all
    : all.filter(({ name }) => options.only.split(',').some((word) => name.includes(word)));
const benches = new Map(chosen.map((contestant) => [contestant, new Bench(contestant)]));
const figures = Object.fromEntries(chosen.map(({ name }) => [name, {}]));
try {
  for (let round = 0; round < rounds; round += 1) {
    for (const contestant of chosen) {
      // One after the other, so that what is compared meets the machine in the same state.
      for (const [column, workload] of COLUMNS.filter(([, each]) => applies(contestant, each))) {
        (figures[contestant.name][column] ??= []).push(
          await benches.get(contestant).commitsPerSecond({ ...workload, time }),
        );
      }
      console.error(`round ${round + 1} of ${rounds}: ${contestant.name}`);
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
}

function report() {
  const number = (given) =>
    given === undefined ? '' : given >= 100 ? Math.round(given).toLocaleString('en') : given.toPrecision(2);
  const columns = COLUMNS.map(([column]) => column);
  print([
    ['commits/s', 'durable how', ...columns],
    ...chosen.map(({ name, durability }) => [
      name,
      durability,
      ...columns.map((column) => number(value(name, column))),
    ]),
  ]);
  const aims = chosen.flatMap(({ name, peer, durability }) => [
    ...(figures[peer]
      ? [
          ratio(`${name}: one in flight, against ${peer}`, value(name, '1 in flight'), value(peer, '1 in flight'), 20),
          ratio(
            `${name}: stale after 1,000, against ${peer}`,
            value(name, '1, stale, after 1,000'),
            value(peer, '1, stale, after 1,000'),
            100,
          ),
        ]
      : []),
    ...(name.startsWith('adk') || durability === 'none'
      ? []
      : [
          ratio(`${name}: 8 in flight, against one`, value(name, '8 in flight'), value(name, '1 in flight'), 3),
          ratio(
            `${name}: after 1,000, against after 10 (flat is 1)`,
            value(name, '1, after 1,000'),
            value(name, '1 in flight'),
            0.8,
          ),
        ]),
  ]);
  print([['ratio', 'seen', 'aim', 'met?'], ...aims]);
  console.log(
    `${rounds} rounds of ${time} ms each, the median; ${cpus().length} x ${cpus()[0].model}, Node ${process.versions.node}`,
  );
}

function ratio(what, ours, theirs, aim) {
  const seen = ours / theirs;
  return [what, `${seen.toPrecision(3)}x`, `>= ${aim}x`, seen >= aim ? 'yes' : 'NO'];
}

function print(rows) {
  const widths = rows[0].map((_, index) => Math.max(...rows.map((row) => row[index].length)));
  const line = (row) => `| ${row.map((cell, index) => cell.padEnd(widths[index])).join(' | ')} |`;
  const [head, ...body] = rows;
  console.log(
    [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line), ''].join('\n'),
  );
}
