// `npm run test:later`: the suites of Node at other times, so that none depends on the day on which it was written: a
// day, forty days and four hundred days from now, far from here. `npm run test:later -- unit sqlite` runs the suites
// that have one of the words in their names; `--days=40` runs them at one of the times only.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './tools.mjs';

const DAYS = [1, 40, 400];
/** The time zone that is furthest ahead: most of its days are no days of UTC. */
const ZONE = 'Pacific/Kiritimati';
const preload = new URL('../tests/support/later.mjs', import.meta.url).href;

const options = process.argv.slice(2).filter((word) => word.startsWith('--'));
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const chosen = options.map((option) => Number(/^--days=(-?\d+)$/.exec(option)?.[1]));
if (chosen.some(Number.isNaN)) {
  console.error(`${options.join(' ')}: the only option is --days=NUMBER`);
  process.exit(1);
}

const failed = [];
for (const days of chosen.length > 0 ? chosen : DAYS) {
  console.log(`\n=== ${days} days later, in ${ZONE}\n`);
  const names = words.length > 0 ? words : ['node --test'];
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'test.mjs'), ...names], {
    stdio: 'inherit',
    env: {
      ...process.env,
      TZ: ZONE,
      STATEPAD_LATER_DAYS: String(days),
      NODE_OPTIONS: [process.env.NODE_OPTIONS, `--import=${preload}`].filter(Boolean).join(' '),
    },
  });
  if (status !== 0) failed.push(days);
}
if (failed.length > 0) console.error(`\nfailed ${failed.join(' and ')} days later`);
process.exitCode = failed.length > 0 ? 1 : 0;
