/** Cold start: from spawning a process to its end, with one session created in between. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { importedNames } from './entries.mjs';

/** It cannot start here: React is installed only beside its tests. */
const NEEDS_REACT = 'statepad/react';
const SIDES = ['bare', 'statepad', 'adk'];

async function spawned(side, ...args) {
  const script = fileURLToPath(new URL(`./cold/${side}.mjs`, import.meta.url));
  const started = performance.now();
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`bench/cold/${side}.mjs ended with ${code}`);
  return (performance.now() - started) * 1e6;
}

/** Median nanoseconds for each side and for Node alone. */
export async function coldStart(rounds) {
  const values = await inTurns(SIDES, rounds, spawned);
  return Object.fromEntries(SIDES.map((side, index) => [side, { value: values[index], samples: rounds }]));
}

/**
 * Median nanoseconds of a process that imports an entry of the package, above those of Node alone.
 *
 * @returns {Promise<{ name: string, value: number }[]>}
 */
export async function entryStarts(rounds) {
  const names = importedNames().filter((name) => name !== NEEDS_REACT);
  const [bare, ...values] = await inTurns(['bare', ...names], rounds, (name) =>
    name === 'bare' ? spawned(name) : spawned('entry', name),
  );
  return names.map((name, index) => ({ name, value: values[index] - bare }));
}

/** The median of each by several rounds, in turns. The first round only warms the file cache. */
async function inTurns(names, rounds, take) {
  const times = names.map(() => []);
  for (let round = 0; round <= rounds; round += 1) {
    for (const [index, name] of names.entries()) {
      const elapsed = await take(name);
      if (round > 0) times[index].push(elapsed);
    }
  }
  return times.map(median);
}

/** The middle one of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
