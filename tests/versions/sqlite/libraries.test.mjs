// The store in SQLite over the oldest versions of the libraries that the docs name. The first one has the oldest
// SQLite: all tests run over it, but for those of other libraries and of paths, which are opened without it.

import { testsOf } from '../suites.mjs';
import { passOver } from './installed.mjs';

const others = ['sqlite/better-sqlite3.test.mjs', 'sqlite/sqlite-path.test.mjs'];
passOver(
  'node-sqlite3-wasm',
  testsOf('sqlite').filter((file) => !others.includes(file)),
);
passOver('libsql', ['sqlite/sqlite.test.mjs', 'sqlite/random.test.mjs', 'sqlite/faults.test.mjs']);
