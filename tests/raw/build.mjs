// The files that `wasm-pack build` makes of the crate, without the package, in folders of their own.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
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

async function build(target) {
  const folder = join(root, 'target', 'wasm-pack', `${target}-${process.pid}`);
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  // Without a folder it would overwrite pkg/package.json.
  await run('wasm-pack', ['build', '--dev', '--target', target, '--out-dir', folder, '--', '--locked'], {
    cwd: root,
    env,
    maxBuffer: 2 ** 26,
  });
  return folder;
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
