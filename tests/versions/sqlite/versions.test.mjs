// The versions of SQLite that docs/stores.md names are those that the tests run.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../../packaging/project.mjs';
import { assertSays } from '../suites.mjs';
import { expressions, folder, programOf, skip } from './installed.mjs';

/** The version of SQLite that a library has, as `3.43`, in a Node and as it is installed in a folder. */
function sqliteOf(library, node, from) {
  const program = `
    const statement = ${expressions[library]}.prepare('SELECT sqlite_version() AS version');
    console.log(statement.all()[0].version);
  `;
  const printed = execFileSync(node, ['--no-warnings', '-e', program], { cwd: from, encoding: 'utf8' });
  return /^\d+\.\d+/.exec(printed)[0];
}

const versionIn = (from, name) =>
  JSON.parse(readFileSync(join(from, 'node_modules', name, 'package.json'), 'utf8')).version;

for (const library of ['node-sqlite3-wasm', 'libsql']) {
  test(`the docs name the oldest ${library} that is tested, and its SQLite`, () => {
    const sqlite = sqliteOf(library, process.execPath, folder);
    assertSays('docs/stores.md', `${library} ${versionIn(folder, library)} (SQLite ${sqlite})`);
  });
}

for (const [name, begins] of [
  ['node-oldest', 'from Node'],
  ['node-newest', 'to Node'],
]) {
  test(`the docs name the versions of Node whose node:sqlite is tested, and their SQLite: ${name}`, { skip }, () => {
    const node = programOf(name);
    const [major, minor] = execFileSync(node, ['--version'], { encoding: 'utf8' }).slice(1).split('.');
    assertSays('docs/stores.md', `${begins} ${major}.${minor} (SQLite ${sqliteOf('node:sqlite', node, root)})`);
  });
}
