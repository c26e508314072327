// Other versions of the libraries that run SQLite than those that the root installs, and other versions of Node.

import { join } from 'node:path';
import { install } from '../../hosts/host.mjs';
import { pass } from '../suites.mjs';

/** The folder of the installed libraries. */
export const folder = await install('versions-of-sqlite', import.meta.dirname);

/** The reason to skip tests with another Node, if there is one: for `test(name, { skip })`. */
export const skip =
  process.platform === 'linux' && process.arch === 'x64'
    ? false
    : 'these versions of Node are installed for Linux on x64 only';

/** The program of a Node that is installed here under this name. */
export const programOf = (name) => join(folder, 'node_modules', name, 'bin', 'node');

/** A test for each of these files of tests/stores, over a library that is installed here. */
export function passOver(library, files) {
  const env = { STATEPAD_TEST_SQLITE: library, STATEPAD_TEST_SQLITE_MODULES: folder };
  pass(`an older ${library}`, files, { env });
}

/** A test for each of these files of tests/stores, over `node:sqlite` of a Node that is installed here. */
export function passIn(name, files) {
  pass(name, files, { skip, node: programOf(name), env: { STATEPAD_TEST_SQLITE: 'node:sqlite' } });
}

/** The expression that opens a database in memory, by library. */
export const expressions = {
  libsql: "new (require('libsql'))(':memory:')",
  'node-sqlite3-wasm': "new (require('node-sqlite3-wasm').Database)(':memory:')",
  'node:sqlite': "new (require('node:sqlite').DatabaseSync)(':memory:')",
};
