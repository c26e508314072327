// Makes a folder anew when what it is made from has changed, and only then.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Every file under a folder. */
export function filesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/**
 * Empties `folder` and has `make` fill it, unless it was filled from the very same `inputs` (files) before. The mark that
 * says so is written last, into the folder: a step that failed is done again.
 */
export async function step(name, folder, inputs, make) {
  const hash = createHash('sha256');
  for (const file of inputs) hash.update(file).update('\0').update(readFileSync(file)).update('\0');
  const madeFrom = hash.digest('hex');
  const mark = join(folder, '.made-from');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === madeFrom) return;
  console.log(`build: ${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await make();
  writeFileSync(mark, madeFrom);
}
