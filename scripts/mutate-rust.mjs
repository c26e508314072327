// Puts faults into a file of the crate, one at a time, and runs its tests against each: no test notices the survivors.
// `node scripts/mutate-rust.mjs src/delta.rs src/scan.rs`. cargo-mutants is built when it is not there, which takes
// minutes; a file takes minutes, too. Its lists lie under target/mutants.out. Exits with 2 when a fault survived.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { needCargoTool } from './cargo-tool.mjs';
import { env, root } from './tools.mjs';

const files = process.argv.slice(2);
const wrong = files.filter((file) => !file.startsWith('src/') || !existsSync(join(root, file)));
if (files.length === 0 || wrong.length > 0) {
  console.error(
    `${wrong.map((file) => `there is no ${file}\n`).join('')}usage: node scripts/mutate-rust.mjs src/FILE.rs …`,
  );
  process.exit(1);
}
const binding = files.filter((file) => /^src\/wasm\b/.test(file));
if (binding.length > 0) {
  console.error(
    `${binding.join(', ')}: compiled for wasm32 alone, where no fault can be put in; the tests of the package hold it`,
  );
  process.exit(1);
}

needCargoTool('cargo-mutants');

/**
 * The faults in functions and modules that are compiled for wasm32 alone: here they change nothing. A pattern over the
 * names that cargo-mutants gives to faults.
 *
 * @param {string} file
 */
function elsewhere(file) {
  const attribute = /#\[cfg\(all\([^\n]*target_arch = "wasm32"[^\n]*\)\)\]\n\s*(?:pub(?:\(\w+\))? )?(?:fn|mod) (\w+)/g;
  const names = [...readFileSync(join(root, file), 'utf8').matchAll(attribute)].map(([, name]) => name);
  return names.map((name) => `^${file.replace('.', '\\.')}:.*[ :]${name}(::| |$)`);
}

const common = [
  'mutants',
  '--no-shuffle',
  '--baseline',
  'skip',
  '--timeout',
  '180',
  '--output',
  join(root, 'target'),
  '--colors',
  'never',
  ...files.flatMap((file) => ['--file', file]),
  ...files.flatMap(elsewhere).flatMap((pattern) => ['--exclude-re', pattern]),
];

/**
 * One run over the remaining faults. `targets` go to every call of cargo: targets that a run does not need are not
 * built either. Crates that depend on nothing are built once, and stay from one start of this script to the next.
 *
 * @param {string[]} targets @param {string[]} [more]
 */
function run(targets, more = []) {
  const { status } = spawnSync(
    'cargo',
    [...common, ...targets.map((/** @type {string} */ target) => `--cargo-arg=${target}`), ...more],
    {
      cwd: root,
      env: {
        ...env,
        CARGO_TARGET_DIR: join(root, 'target', 'mutants'),
        CARGO_PROFILE_DEV_DEBUG: '0',
        CARGO_PROFILE_TEST_DEBUG: '0',
        PROPTEST_CASES: '64',
        PROPTEST_MAX_SHRINK_ITERS: '0',
        RUST_BACKTRACE: '0',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  );
  return status ?? 1;
}

/**
 * The lines of a list that cargo-mutants wrote in the last run.
 *
 * @param {string} name
 */
function linesOf(name) {
  const file = join(root, 'target', 'mutants.out', `${name}.txt`);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

/** The faults of an outcome in all runs. */
const counted = { noticed: 0, unviable: 0 };
function count() {
  counted.noticed += linesOf('caught').length + linesOf('timeout').length;
  counted.unviable += linesOf('unviable').length;
}

// The tests beside the code notice most faults, and are built in a fraction of the time. The survivors go to the
// others, but for those that take long on purpose: they hold how much time something takes, and not what it answers.
let status = run(['--lib']);
count();
if (status === 2) {
  const others = ['cases', 'native', 'updates', 'drop_in', 'laws'].map((name) => `--test=${name}`);
  status = run(others, ['--iterate', '--', '--', '--skip', 'linear::']);
  count();
}

const missed = linesOf('missed');
console.log(
  `\n${counted.noticed} faults were noticed, ${missed.length} were not, ${counted.unviable} did not compile`,
);
missed.forEach((fault) => console.log(`  ${fault}`));
process.exitCode = missed.length > 0 ? 2 : status;
