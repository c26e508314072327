// Runs every suite of tests and checks, side by side where they do not disturb each other, and says at the end what
// ran and what came of it. Exits with 1 when anything failed.
// `npm test -- browser packaging` runs only the suites whose name has one of these words in it; `--lanes=1` one after
// the other.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { inLanes, secondsInLanes } from './lanes.mjs';
import { runSuite } from './suite.mjs';
import { allSuites } from './suites.mjs';
import { root } from './tools.mjs';

const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const laneCounts = options.map((option) => /^--lanes=([1-9])$/.exec(option)?.[1]);
if (laneCounts.includes(undefined)) fail(`${options.join(' ')}: the only option is --lanes=NUMBER`);
// More than two are not tried: browsers and servers take what is left.
const lanes = Number(laneCounts[0] ?? Math.min(2, availableParallelism()));

/** The seconds that each suite took the last time. */
const timesFile = join(root, 'target', 'test-times.json');
const times = readTimes();

const suites = allSuites().map((suite) => ({ ...suite, seconds: times[suite.name] ?? suite.seconds }));
const chosen = words.length === 0 ? suites : suites.filter(({ name }) => words.some((word) => name.includes(word)));
if (chosen.length === 0) {
  fail(
    `no suite has ${words.join(' or ')} in its name; there are:\n${suites.map(({ name }) => `  ${name}`).join('\n')}`,
  );
}

const atOnce = Math.min(lanes, chosen.length);
console.log(
  `npm test: ${chosen.length} suites, ${atOnce === 1 ? 'one after the other' : `${atOnce} at a time`}: ${about(secondsInLanes(chosen, atOnce))}.`,
);
if (words.length === 0) {
  console.log(`While you work: npm run check and npm run test:unit, together less than a minute; npm run test:store -- sqlite;
npm test -- WORDS for the suites whose names have one of the words.`);
}

const results = await inLanes(chosen, atOnce, async (suite) => {
  if (atOnce > 1) console.log(`\n... ${suite.name} begins`);
  return await runSuite(suite, { show: atOnce > 1 ? 'whole' : 'at once' });
});
writeTimes();

for (const { name, failure } of results.filter(({ ok }) => !ok))
  console.log(`\n=== failed: ${name}\n\n${failure.join('\n')}`);

const width = Math.max(...results.map(({ name }) => name.length));
/** @param {string} name @param {string} result @param {...(string | number)} cells */
const row = (name, result, ...cells) =>
  [name.padEnd(width), result.padEnd(6), ...cells.map((cell) => String(cell).padStart(8))].join('  ').trimEnd();
console.log(`\n=== what ran\n\n${row('suite', 'result', 'passed', 'failed', 'skipped', 'time')}`);
for (const { name, ok, passed, failed, skipped, seconds } of results) {
  console.log(row(name, ok ? 'ok' : 'FAILED', passed, failed, skipped, `${seconds.toFixed(1)} s`));
}

console.log();
for (const { name, lines } of results) for (const line of lines) console.log(`${name}: ${line}`);
/** @param {'passed' | 'failed' | 'skipped'} count */
const sum = (count) => results.reduce((total, result) => total + result[count], 0);
console.log(
  `\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped, in ${about(performance.now() / 1000)}`,
);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;

/** @param {string} text */
function fail(text) {
  console.error(text);
  process.exit(1);
}

/** @param {number} seconds */
function about(seconds) {
  return seconds < 90 ? `about ${Math.round(seconds)} s` : `about ${Math.round(seconds / 60)} minutes`;
}

function readTimes() {
  try {
    return JSON.parse(readFileSync(timesFile, 'utf8'));
  } catch {
    return {};
  }
}

function writeTimes() {
  for (const { name, ok, seconds } of results) if (ok) times[name] = Math.round(seconds);
  mkdirSync(dirname(timesFile), { recursive: true });
  writeFileSync(timesFile, `${JSON.stringify(times, undefined, 2)}\n`);
}
