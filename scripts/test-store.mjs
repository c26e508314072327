// `npm run test:store -- sqlite` runs the tests of one store, tests/stores/sqlite, and sets up only what these need.
// Several stores are allowed; any other word chooses the files that have it in their names.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateOfCore } from './core.mjs';
import { run } from './run.mjs';
import { filesUnder } from './step.mjs';
import { runSuite } from './suite.mjs';
import { nodeTests } from './suites.mjs';
import { root } from './tools.mjs';

const folder = join(root, 'tests', 'stores');
/** @param {string} name */
const hasTests = (name) => filesUnder(join(folder, name)).some((file) => file.endsWith('.test.mjs'));
const stores = readdirSync(folder, { withFileTypes: true }).filter(
  (entry) => entry.isDirectory() && hasTests(entry.name),
);
const names = stores.map(({ name }) => name);
const words = process.argv.slice(2);
const chosen = words.filter((word) => names.includes(word));
const parts = words.filter((word) => !names.includes(word));
if (chosen.length === 0) {
  console.error(`which store? npm run test:store -- ${names.join(' | ')}`);
  process.exit(1);
}

const files = chosen
  .flatMap((name) => filesUnder(join(folder, name)))
  .filter(
    (file) =>
      file.endsWith('.test.mjs') &&
      (parts.length === 0 || parts.some((part) => file.slice(folder.length).includes(part))),
  );
if (files.length === 0) {
  console.error(`no file of tests of ${chosen.join(' and ')} has ${parts.join(' or ')} in its name`);
  process.exit(1);
}

/** @param {string} name @param {...string} args */
const script = (name, ...args) => run(process.execPath, [join(root, 'scripts', name), ...args]);
for (const name of chosen) script('setup.mjs', name);
if (stateOfCore() !== 'current') {
  script('setup.mjs', 'build');
  script('build.mjs', 'core');
}
script('build.mjs', 'bundle');

const { ok } = await runSuite({ name: `tests of ${chosen.join(' and ')}`, command: nodeTests(files), runner: 'node' });
process.exitCode = ok ? 0 : 1;
