// `npm start`: builds everything, replays conversations, then serves the page. `--no-serve` leaves the page out; all
// other arguments are for the replay. `--help` and unknown options are answered before anything is built.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { HELP, readOptions, UsageError } from '../examples/replay/options.mjs';
import { run } from './run.mjs';
import { root } from './tools.mjs';

const args = process.argv.slice(2);
const forReplay = args.filter((arg) => arg !== '--no-serve');

if (asksForHelp()) {
  console.log(HELP);
} else {
  run(process.execPath, [join(root, 'scripts', 'setup.mjs'), 'build']);
  run(process.execPath, [join(root, 'scripts', 'build.mjs')]);
  const replay = join(root, 'examples', 'replay.mjs');
  const { status } = spawnSync(process.execPath, [replay, ...forReplay], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
  if (status === 0 && !args.includes('--no-serve')) await import('./www.mjs');
}

/** Returns true if the arguments ask for help alone. Ends the process when they cannot be understood. */
function asksForHelp() {
  try {
    return readOptions(forReplay).help;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`npm start: ${error.message}\nnpm start -- --help shows how`);
    process.exit(2);
  }
}
