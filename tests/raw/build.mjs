// The files that `wasm-pack build` makes of the crate, without the package, in folders of their own.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { env } from '../../scripts/tools.mjs';
import { root, run } from '../packaging/project.mjs';

const made = new Map();

/**
 * The folder of what wasm-pack builds for a target. Without optimisation, which takes minutes and changes no answer;
 * and for each process its own, as several may run at once.
 */
export function rawBuild(target) {
  const promise = made.get(target) ?? build(target);
  made.set(target, promise);
  return promise;
}

const builds = join(root, 'target', 'wasm-pack');

async function build(target) {
  const folder = join(builds, `${target}-${process.pid}`);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  // Without a folder it would overwrite pkg/package.json.
  const options = ['build', '--dev', '--target', target, '--out-dir', folder, '--', '--locked'];
  await alone(() => run('wasm-pack', options, { cwd: root, env, maxBuffer: 2 ** 26 }));
  return folder;
}

/**
 * Runs `work` while no other process does. wasm-pack reads what cargo has made after cargo has given up its lock: the
 * cargo of another process may replace that file just then, as it does where the file system has no hard links.
 */
async function alone(work) {
  const lock = join(builds, 'lock');
  mkdirSync(builds, { recursive: true });
  while (!take(lock)) await sleep(100);
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Takes a lock, a file with the id of its process, unless a living process has it. */
function take(lock) {
  try {
    writeFileSync(lock, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (!isHeld(lock)) rmSync(lock, { force: true });
  return false;
}

function isHeld(lock) {
  try {
    const pid = readFileSync(lock, 'utf8');
    // Between its making and its writing it is empty.
    return pid === '' || process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/**
 * The outcome of a call: its answer, or the members of its error. Only the package says in which other service a
 * missing session is: the services of other tests have sessions of the same key.
 */
export async function outcome(call) {
  try {
    return { value: await call() };
  } catch (error) {
    const { name, code, path, id, key, missing, expected, actual } = error;
    const message = error.message.replace(/ in this service: it is one of another service of this process\..*$/, '');
    return { error: { name, message, code, path, id, key, missing, expected, actual } };
  }
}
