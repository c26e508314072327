/** Cold start: from spawning a process to its end, with one session created in between. */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const SIDES = ['bare', 'statepad', 'adk'];

async function spawned(side) {
  const script = fileURLToPath(new URL(`./cold/${side}.mjs`, import.meta.url));
  const started = performance.now();
  const [code] = await once(spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit');
  if (code !== 0) throw new Error(`bench/cold/${side}.mjs ended with ${code}`);
  return (performance.now() - started) * 1e6;
}

/** Median nanoseconds for each side and for Node alone, in turns. The first round only warms the file cache. */
export async function coldStart(rounds) {
  const times = new Map(SIDES.map((side) => [side, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const side of SIDES) {
      const elapsed = await spawned(side);
      if (round > 0) times.get(side).push(elapsed);
    }
  }
  return Object.fromEntries(SIDES.map((side) => [side, { value: median(times.get(side)), samples: rounds }]));
}

/** The middle one of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
