/**
 * Measures statepad beside ADK's own service and prints one table: `npm run bench`, or, once it is built,
 * `node bench/run.mjs [--quick] [--json] [--only ROW,...] [--list]`. A row is named by its id, or by how that begins:
 * `--only keys,create`; `cold`, `bundle` and `entries` are rows, too.
 */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, totalmem } from 'node:os';
import { isDeepStrictEqual, parseArgs, promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { coldStart, entryStarts, median } from './cold.mjs';
import { BUNDLE, COLD, ENTRIES, ROWS } from './rows.mjs';
import { bundleSizes, entrySizes } from './size.mjs';
import { notes, table } from './table.mjs';
import { versionsIn } from '../scripts/release.mjs';

const run = promisify(execFile);
const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const child = fileURLToPath(new URL('./child.mjs', import.meta.url));

/** One figure of one side, from a process of its own. */
async function figure(id, side) {
  const flags = ['--expose-gc', child, id, side, ...(options.quick ? ['quick'] : [])];
  const { stdout } = await run(process.execPath, flags, { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

/** All sides must have done the same: the same texts, the same final state. */
function checkProofs(id, figures) {
  const [[first, { proof }], ...others] = Object.entries(figures);
  for (const [side, other] of others) {
    if (!isDeepStrictEqual(proof, other.proof)) {
      throw new Error(
        `${id}: ${side} has not done what ${first} has done:\n${JSON.stringify(other.proof)}\n${JSON.stringify(proof)}`,
      );
    }
  }
}

/** The figures of one row: in each round one process for each side, in turns; of the rounds the median. */
async function measureRow({ id, sides }, rounds) {
  const taken = [];
  for (let round = 0; round < rounds; round += 1) {
    const figures = {};
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      figures[side] = await figure(id, side);
    }
    checkProofs(id, figures);
    taken.push(figures);
  }
  return Object.fromEntries(
    sides.map((side) => {
      const figures = taken.map((round) => round[side]);
      return [
        side,
        {
          value: median(figures.map(({ value }) => value)),
          ...(figures[0].service === undefined ? {} : { service: median(figures.map(({ service }) => service)) }),
          rounds: figures.map(({ proof, ...rest }) => (void proof, rest)),
        },
      ];
    }),
  );
}

function about() {
  const require = createRequire(import.meta.url);
  const [{ model }] = cpus();
  const machine = `${cpus().length} x ${model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GB, ${process.platform} ${process.arch}`;
  const { version: theirs } = JSON.parse(readFileSync(require.resolve('@google/adk/package.json'), 'utf8'));
  const { 'Cargo.toml': ours } = versionsIn(fileURLToPath(new URL('..', import.meta.url)));
  return `${machine}, Node ${process.versions.node}, statepad ${ours}, @google/adk ${theirs}`;
}

const progress = process.stderr.isTTY ? (text) => process.stderr.write(`\r\x1b[K${text}`) : () => undefined;

const words = options.only?.split(',');
const unknown = (words ?? []).filter(
  (word) => ![...ROWS, COLD, BUNDLE, ENTRIES].some(({ id }) => id.startsWith(word)),
);
if (options.list || unknown.length > 0) {
  const list = [...ROWS, COLD, BUNDLE, ENTRIES].map(({ id, what }) => `${id.padEnd(20)} ${what}`).join('\n');
  console.error(unknown.length > 0 ? `bench: there is no row ${unknown.join(', ')}; there are\n${list}` : list);
  process.exit(unknown.length > 0 ? 1 : 0);
}
const isChosen = ({ id }) => words === undefined || words.some((word) => id.startsWith(word));

const results = { rows: {}, cold: undefined, sizes: undefined, entries: undefined, about: about() };
for (const row of ROWS.filter(isChosen)) {
  progress(row.what);
  results.rows[row.id] = await measureRow(row, row.rounds ?? (options.quick ? 1 : 3));
}
if (isChosen(COLD)) {
  progress(COLD.what);
  results.cold = await coldStart(options.quick ? 3 : 15);
}
if (isChosen(BUNDLE)) {
  progress(BUNDLE.what);
  results.sizes = await bundleSizes();
}
if (isChosen(ENTRIES)) {
  progress(ENTRIES.what);
  results.entries = { sizes: await entrySizes(), starts: await entryStarts(options.quick ? 3 : 15) };
}
progress('');

if (options.json) {
  process.stdout.write(`${JSON.stringify(results, undefined, 2)}\n`);
} else {
  process.stdout.write(`\n${table(results)}\n\n${notes(results).join('\n')}\n`);
}
