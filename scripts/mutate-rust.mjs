// Puts faults into a file of the crate, one at a time, and runs its tests against each: what survives is what no test holds.
// `node scripts/mutate-rust.mjs src/delta.rs src/scan.rs`. cargo-mutants is built when it is not there, which takes minutes;
// a file takes minutes, too. What it found lies under target/mutants.out. Exits with 2 when a fault survived.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { needCargoTool } from './cargo-tool.mjs';
import { env, root } from './tools.mjs';

const files = process.argv.slice(2);
const wrong = files.filter((file) => !file.startsWith('src/') || !existsSync(join(root, file)));
if (files.length === 0 || wrong.length > 0) {
  console.error(`${wrong.map((file) => `there is no ${file}\n`).join('')}usage: node scripts/mutate-rust.mjs src/FILE.rs …`);
  process.exit(1);
}

needCargoTool('cargo-mutants');

/** The tests that hold the core, without those that take long or need more than the crate. */
const tests = ['--lib', '--test', 'cases', '--test', 'laws', '--test', 'native', '--test', 'updates', '--test', 'drop_in'];
const { status } = spawnSync(
  'cargo',
  [
    'mutants', '--no-shuffle', '--baseline', 'skip', '--timeout', '180', '--output', join(root, 'target'), '--colors', 'never',
    ...files.flatMap((file) => ['--file', file]),
    '--', ...tests,
  ],
  { cwd: root, env: { ...env, PROPTEST_CASES: '64', RUST_BACKTRACE: '0' }, stdio: ['ignore', 'inherit', 'inherit'] },
);

const found = (name) => {
  const file = join(root, 'target', 'mutants.out', `${name}.txt`);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
};
const [missed, caught, timeout, unviable] = ['missed', 'caught', 'timeout', 'unviable'].map(found);
console.log(`\n${caught.length + timeout.length} faults were noticed, ${missed.length} were not, ${unviable.length} did not compile`);
missed.forEach((fault) => console.log(`  ${fault}`));
process.exitCode = missed.length > 0 ? 2 : (status ?? 1);
