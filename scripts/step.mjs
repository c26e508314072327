// Does a step of the build again when what it is made from has changed, and only then.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { root } from './tools.mjs';

/**
 * Every file under a folder.
 *
 * @param {string} folder
 */
export function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * A hash of the names and contents of files, the same wherever the tree lies.
 *
 * @param {string[]} files
 */
export function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

/**
 * Has `make` do its work unless it was done with the very same `inputs` (files) before. The file `mark` says so: it is
 * removed first and written last, so that a step that failed is done again. `seconds` says about how long it takes on
 * two cores.
 *
 * @param {{ name: string, seconds: number }} what @param {string} mark @param {string[]} inputs
 * @param {() => unknown} make
 */
export async function remade({ name, seconds }, mark, inputs, make) {
  const madeFrom = hashOf(inputs);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === madeFrom) return;
  console.log(`build: ${name}, which takes about ${seconds} s`);
  rmSync(mark, { force: true });
  await make();
  mkdirSync(dirname(mark), { recursive: true });
  writeFileSync(mark, madeFrom);
}

/**
 * Such a step that fills a whole `folder`, which is emptied first.
 *
 * @param {{ name: string, seconds: number }} what @param {string} folder @param {string[]} inputs
 * @param {() => unknown} make
 */
export async function step(what, folder, inputs, make) {
  await remade(what, join(folder, '.made-from'), inputs, () => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    return make();
  });
}
