// `npm run test:long`: the tests that have sizes (tests/support/long.mjs), with those that take too long for
// `npm test`. `npm run test:long -- servers` runs those in whose paths one of the words is.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { filesUnder } from './step.mjs';
import { nodeTests } from './suites.mjs';
import { root } from './tools.mjs';

/** The longest time that a file of tests may take, in minutes. */
const MINUTES = 120;

const words = process.argv.slice(2);
const sized = filesUnder(join(root, 'tests')).filter(
  (path) => path.endsWith('.test.mjs') && readFileSync(path, 'utf8').includes('support/long.mjs'),
);
const chosen = words.length === 0 ? sized : sized.filter((path) => words.some((word) => path.includes(word)));
if (chosen.length === 0) {
  const names = sized.map((path) => `  ${relative(root, path)}`).join('\n');
  console.error(`no file has ${words.join(' or ')} in its path; there are:\n${names}`);
  process.exit(1);
}
const [program = '', ...args] = nodeTests(chosen, 1, MINUTES);
const { status } = spawnSync(program, args, {
  stdio: 'inherit',
  cwd: root,
  env: { ...process.env, STATEPAD_TEST_LONG: '1' },
});
process.exitCode = status ?? 1;
