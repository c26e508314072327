// A copy of the built package whose inspector is a few small files: what serves them knows nothing of what they say.

import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const built = fileURLToPath(new URL('../../pkg/', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/**
 * The files by their paths, with the types that they are answered with; `undefined` for those that are not served.
 *
 * @type {Record<string, [content: string, type: string | undefined]>}
 */
export const FILES = {
  'index.html': ['<!doctype html><title>inspector</title>', 'text/html; charset=utf-8'],
  'assets/page.js': ['export {};', 'text/javascript; charset=utf-8'],
  'assets/page.js.map': ['{"version":3}', 'application/json'],
  'assets/page.css': [':root {}', 'text/css; charset=utf-8'],
  'assets/core.wasm': ['\0asm', 'application/wasm'],
  'icons/mark.svg': ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
  'facts.json': ['{}', 'application/json'],
  'notes.txt': ['not for the page', undefined],
  '.made-from': ['not for the page', undefined],
};

/**
 * Makes the copy. `program` is its command line, `load` imports an entry of it, `stop` removes it.
 *
 * @param {typeof FILES} [files] of its inspector; without any it has no folder of them
 */
export function inspectorPackage(files = FILES) {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-inspector-'));
  for (const name of ['dist', 'wasm', 'package.json']) {
    const isCopied = (/** @type {string} */ path) => !/\.map$|[\\/]dist[\\/]page$/.test(path);
    cpSync(join(built, name), join(folder, name), { recursive: true, filter: isCopied });
  }
  symlinkSync(modules, join(folder, 'node_modules'), 'junction');
  for (const [name, [content]] of Object.entries(files)) {
    const path = join(folder, 'dist', 'page', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
  const entry = (/** @type {string} */ name) => join(folder, 'dist', `${name}.js`);
  return {
    folder,
    program: [process.execPath, entry('cli')],
    load: async (/** @type {string} */ name) => await import(pathToFileURL(entry(name)).href),
    stop: () => rmSync(folder, { recursive: true }),
  };
}
