// Makes the package that is published, packs it, and installs it into fresh projects, as a user would.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makePackage } from '../../scripts/pack.mjs';

const execute = promisify(execFile);
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** @type {string[]} */
const made = [];
process.on('exit', () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is gone when the tests are done. */
export function temporaryFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-packaging-'));
  made.push(folder);
  return folder;
}

/** @typedef {import('node:child_process').ExecFileOptionsWithStringEncoding} Options */

/**
 * Runs a program; answers what it printed, fails with all of that when the program does.
 *
 * @param {string} program @param {string[]} args @param {Partial<Options>} [options]
 */
export async function run(program, args, options) {
  try {
    return (await execute(program, args, { encoding: 'utf8', ...options })).stdout;
  } catch (error) {
    const { stdout, stderr } = /** @type {{ stdout: string, stderr: string }} */ (error);
    throw new Error(`${program} ${args.join(' ')}\n${stdout}\n${stderr}`, { cause: error });
  }
}

let packing;

/** The tarball that would be published, and what npm says of it: `{ path, files, size, unpackedSize }`. */
export function pack() {
  packing ??= (async () => {
    const folder = temporaryFolder();
    makePackage(join(folder, 'npm'));
    const printed = await run('npm', ['pack', './npm', '--json'], { cwd: folder });
    const answer = JSON.parse(printed);
    const packed = Array.isArray(answer) ? answer[0] : answer.statepad;
    return { ...packed, path: join(folder, packed.filename) };
  })();
  return packing;
}

/**
 * Puts a package of this repository among those of a project, under its own name or another one.
 *
 * @param {string} name @param {string} folder
 */
export function link(name, folder, as = name) {
  const at = join(folder, 'node_modules', as);
  mkdirSync(dirname(at), { recursive: true });
  rmSync(at, { recursive: true, force: true });
  symlinkSync(join(root, 'node_modules', name), at, 'junction');
}

/**
 * A fresh project with the package installed and `files` (name to text) in it. The packages in `link` are those of
 * this repository.
 *
 * @param {Record<string, string>} files @param {{ link?: string[] }} [options]
 */
export async function project(files, { link: linked = [] } = {}) {
  const folder = temporaryFolder();
  const { path } = await pack();
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'fresh', private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', path], { cwd: folder });
  for (const name of linked) link(name, folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/**
 * Runs a script in a project with Node; answers what it printed, read as JSON.
 *
 * @param {string} folder @param {string} script @param {...string} flags
 */
export async function runNode(folder, script, ...flags) {
  return JSON.parse(await run(process.execPath, [...flags, script], { cwd: folder }));
}

/** The text of a module whose `converse()` uses the package, for every host to run. */
export const conversation = readFileSync(new URL('./conversation.js', import.meta.url), 'utf8');

/** The answer of `converse()` of the conversation. */
export const expected = { text: 'tides for Ana, level 2', revision: 1, events: 1, keptTemporary: false };
