// The command line as a process of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The built program. */
export const PROGRAM = fileURLToPath(new URL('../../pkg/dist/cli.js', import.meta.url));

/** The processes that are not over: a test that fails leaves some. */
const running = new Set();
after(() => running.forEach((child) => child.kill('SIGKILL')));

/**
 * Starts the program with `args`, in the folder `cwd`; as `program`, where another one runs it. Answers the process,
 * what it has printed, and a promise of its end. Its standard input is empty, or a pipe.
 *
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, program?: string[], stdin?: 'ignore' | 'pipe' }} [options]
 */
export function start(
  args,
  { cwd, env = {}, stdin = 'ignore', program: [file, ...first] = [process.execPath, PROGRAM] } = {},
) {
  const child = spawn(file, [...first, ...args], {
    cwd,
    env: { ...process.env, NODE_NO_WARNINGS: '', ...env },
    stdio: [stdin, 'pipe', 'pipe'],
  });
  running.add(child);
  const printed = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (printed.out += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (printed.err += text));
  const ended = once(child, 'close').then(([code, signal]) => {
    running.delete(child);
    return { code, signal, ...printed };
  });
  return { child, printed, ended };
}

/**
 * Runs the program to its end: its code, and what it has printed.
 *
 * @param {string[]} args
 * @param {Parameters<typeof start>[1]} [options]
 */
export async function runs(args, options) {
  return await start(args, options).ended;
}

/**
 * Starts a server, and resolves when it listens: with what `start` answers, its address, and its token, if it has made
 * one. `stop` ends it by a signal, and answers as `ended`.
 *
 * @param {string[]} args
 * @param {Parameters<typeof start>[1]} [options]
 */
export async function started(args, options) {
  const begun = start(args, options);
  const { child, printed, ended } = begun;
  const isListening = new Promise((resolve) => {
    child.stdout.on('data', () => printed.out.includes('\n') && resolve(true));
  });
  if ((await Promise.race([isListening, ended.then(() => false)])) === false) {
    throw new Error(`the server has ended:\n${printed.out}${printed.err}`);
  }
  const { listening, store, token } = JSON.parse(printed.out);
  /** @param {NodeJS.Signals} signal */
  const stop = async (signal = 'SIGTERM') => {
    child.kill(signal);
    return await ended;
  };
  return { ...begun, url: listening, store, token, stop };
}
