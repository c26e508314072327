// Starts other programs.

import { spawnSync } from 'node:child_process';
import { env, root } from './tools.mjs';

/**
 * Runs a program that may print, and ends this one when it fails.
 *
 * @param {string} program @param {string[]} args
 */
export function run(program, args, options = {}) {
  const { status, signal, error } = spawnSync(program, args, {
    cwd: root,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
    ...options,
  });
  if (status === 0) return;
  console.error(`\n${[program, ...args].join(' ')}\nfailed: ${error?.message ?? signal ?? `exit code ${status}`}`);
  process.exit(1);
}
