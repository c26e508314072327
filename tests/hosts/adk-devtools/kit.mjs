// A project of a kit, which is installed from a lock file of its own, once, and gets the package as it would be
// published.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pack, root, run } from '../../packaging/project.mjs';

/** Where kits are installed: outside of what is tracked, and found again by the next run. */
const installed = join(root, 'target', 'hosts');

/** Installs what the lock file of a kit names, unless it is there; answers the folder. */
async function install(kit) {
  const manifests = ['package.json', 'package-lock.json'].map((name) => join(root, 'tests', 'hosts', kit, name));
  const hash = createHash('sha256');
  for (const file of manifests) hash.update(readFileSync(file));
  const folder = join(installed, `${kit}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(installed, { recursive: true });
  for (const name of readdirSync(installed).filter((name) => name.startsWith(`${kit}-`)))
    rmSync(join(installed, name), { recursive: true, force: true });
  const begun = join(installed, `.${kit}`);
  rmSync(begun, { recursive: true, force: true });
  mkdirSync(begun);
  for (const file of [...manifests, join(root, '.npmrc')]) copyFileSync(file, join(begun, file.split(/[\\/]/).at(-1)));
  await run('npm', ['ci', '--no-progress'], { cwd: begun });
  renameSync(begun, folder);
  return folder;
}

/**
 * A project of a kit with the package installed, and `files` (name to text) in it: its folder, and `start`, which runs
 * a program there until it prints what `ready` matches and answers `{ found, output(), stop() }`.
 */
export async function hostOf(kit, files) {
  const folder = await install(kit);
  const kept = ['node_modules', 'package.json', 'package-lock.json', '.npmrc'];
  for (const name of readdirSync(folder).filter((name) => !kept.includes(name)))
    rmSync(join(folder, name), { recursive: true, force: true });
  const place = join(folder, 'node_modules', 'statepad');
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  await run('tar', ['-xzf', (await pack()).path, '-C', place, '--strip-components=1']);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return { folder, start: (...command) => start(folder, ...command) };
}

async function start(folder, program, args, { ready, env, timeout = 60_000 }) {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const ended = new Promise((resolve) => child.on('close', resolve).on('error', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  const found = await new Promise((resolve, reject) => {
    const watch = setTimeout(() => reject(new Error(`it is not ready after ${timeout} ms:\n${output}`)), timeout);
    const look = (text) => {
      output += text;
      const match = ready.exec(output);
      if (!match) return;
      clearTimeout(watch);
      resolve(match);
    };
    for (const from of [child.stdout, child.stderr]) from.setEncoding('utf8').on('data', look);
    void ended.then(() => reject(new Error(`it ended before it was ready:\n${output}`)));
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  return { found, output: () => output, stop };
}
