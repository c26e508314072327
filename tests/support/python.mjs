// Packages of Python, as the project that they belong to has them: installed from a lock file into a folder of their
// own, once.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root, run } from '../packaging/project.mjs';

const target = join(root, 'target', 'hosts');

/**
 * Answers the folder of a Python that has what a lock file of pip names, and whether it is installed there.
 *
 * @param {string} name @param {string} lock
 */
export async function folderOfPython(name, lock) {
  const version = await run('python3', ['-c', 'import sys; print(*sys.version_info[:2])']);
  const [major, minor] = version.trim().split(' ').map(Number);
  if (major < 3 || (major === 3 && minor < 11)) throw new Error(`python3 is ${version.trim()}: 3.11 is needed`);
  const hash = createHash('sha256').update(readFileSync(lock)).update(version).digest('hex').slice(0, 12);
  const folder = join(target, `${name}-${hash}`);
  return { folder, isInstalled: existsSync(folder) };
}

/**
 * Answers a folder with a Python, `bin/python`, that has what a lock file of pip names, and installs it first where it
 * is not there. `options` answers further options of `pip install`, for the folder in which it is installed.
 *
 * @param {string} name @param {string} lock
 */
export async function pythonWith(name, lock, options = () => []) {
  const { folder, isInstalled } = await folderOfPython(name, lock);
  if (!isInstalled) await install(name, folder, lock, options);
  return folder;
}

/** @param {string} name @param {string} folder @param {string} lock @param {(folder: string) => string[]} options */
async function install(name, folder, lock, options) {
  mkdirSync(target, { recursive: true });
  // Those of other lock files are of no use any more.
  const hashed = new RegExp(`^${name}-[0-9a-f]{12}$`);
  for (const other of readdirSync(target)) {
    if (hashed.test(other) && join(target, other) !== folder)
      rmSync(join(target, other), { recursive: true, force: true });
  }
  const begun = join(target, `.${name}-${process.pid}`);
  rmSync(begun, { recursive: true, force: true });
  await run('python3', ['-m', 'venv', begun]);
  await run(join(begun, 'bin', 'python'), [
    ...['-m', 'pip', 'install', '--quiet', '--no-input', '--disable-pip-version-check'],
    // The lock file is complete. Of a dependency with an extra pip would take the newest one, not the one named.
    ...['--require-hashes', '--no-deps', '--only-binary', ':all:', '--requirement', lock],
    ...options(begun),
  ]);
  try {
    renameSync(begun, folder);
  } catch (error) {
    // Another process has installed the same meanwhile.
    if (!existsSync(folder)) throw error;
    rmSync(begun, { recursive: true, force: true });
  }
}
