// What `npm start` does once everything is built: replays conversations, then serves the page. `--no-serve` leaves
// that out; all other arguments are for the replay.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './tools.mjs';

const args = process.argv.slice(2);
const forReplay = args.filter((arg) => arg !== '--no-serve');
const { status } = spawnSync(process.execPath, [join(root, 'examples', 'replay.mjs'), ...forReplay], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;

const onlyAsks = ['-h', '--help'].some((help) => args.includes(help));
if (status === 0 && !onlyAsks && !args.includes('--no-serve')) await import('./www.mjs');
