// Runs every suite of tests and checks, and says at the end what ran and what came of it. Exits with 1 when anything failed.
// `npm test -- browser packaging` runs only the suites whose name has one of these words in it.

import { join } from 'node:path';
import { filesUnder } from './step.mjs';
import { runSuite } from './suite.mjs';
import { root, wasmTarget } from './tools.mjs';

const script = (path, ...args) => [process.execPath, join(root, ...path.split('/')), ...args];
const denyWarnings = ['--', '-D', 'warnings'];

/** A suite for every folder under tests/ that has files of tests in it, and one for those that lie beside the folders. */
function nodeSuites() {
  const tests = join(root, 'tests');
  const folders = new Map();
  for (const file of filesUnder(tests).filter((path) => path.endsWith('.test.mjs'))) {
    const [first, ...rest] = file.slice(tests.length + 1).split(/[\\/]/);
    const folder = rest.length > 0 ? `tests/${first}` : 'tests';
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders].map(([folder, files]) => ({
    name: `node --test ${folder}`,
    command: [process.execPath, '--test', '--test-reporter=spec', '--test-timeout=300000', ...files],
    runner: 'node',
  }));
}

const suites = [
  { name: 'cargo fmt', command: ['cargo', 'fmt', '--check'] },
  { name: 'cargo clippy', command: ['cargo', 'clippy', '--locked', '--all-targets', ...denyWarnings] },
  {
    name: 'cargo clippy, wasm32',
    command: ['cargo', 'clippy', '--locked', '--all-targets', '--target', wasmTarget, ...denyWarnings],
  },
  { name: 'cargo test', command: ['cargo', 'test', '--locked'], runner: 'cargo' },
  {
    name: 'cargo clippy, wasm32 without JavaScript',
    command: ['cargo', 'clippy', '--locked', '--lib', '--no-default-features', '--target', wasmTarget, ...denyWarnings],
  },
  {
    name: 'cargo doc',
    command: ['cargo', 'doc', '--locked', '--no-deps', '--document-private-items'],
    extraEnv: { RUSTDOCFLAGS: '-D warnings' },
  },
  // The plain commands, as everybody would type them.
  { name: 'wasm-pack test, node', command: ['wasm-pack', 'test', '--node'], runner: 'cargo' },
  { name: 'wasm-pack test, chrome', command: ['wasm-pack', 'test', '--headless', '--chrome'], runner: 'cargo' },
  { name: 'build', command: script('scripts/build.mjs') },
  { name: 'tsc', command: script('node_modules/typescript/bin/tsc', '-p', root) },
  { name: 'tsc, page', command: script('node_modules/typescript/bin/tsc', '-p', join(root, 'www'), '--noEmit') },
  { name: 'eslint', command: script('node_modules/eslint/bin/eslint.js', '--max-warnings', '0') },
  ...nodeSuites(),
];

const words = process.argv.slice(2);
const chosen = words.length === 0 ? suites : suites.filter(({ name }) => words.some((word) => name.includes(word)));
if (chosen.length === 0) {
  console.error(`no suite has ${words.join(' or ')} in its name; there are:\n${suites.map(({ name }) => `  ${name}`).join('\n')}`);
  process.exit(1);
}

const results = [];
for (const suite of chosen) results.push(await runSuite(suite));

for (const { name, failure } of results.filter(({ ok }) => !ok)) console.log(`\n=== failed: ${name}\n\n${failure.join('\n')}`);

const width = Math.max(...results.map(({ name }) => name.length));
const row = (name, result, passed, failed, skipped, time) =>
  [name.padEnd(width), result.padEnd(6), ...[passed, failed, skipped, time].map((cell) => String(cell).padStart(8))].join('  ').trimEnd();
console.log(`\n=== what ran\n\n${row('suite', 'result', 'passed', 'failed', 'skipped', 'time')}`);
for (const { name, ok, passed, failed, skipped, seconds } of results) {
  console.log(row(name, ok ? 'ok' : 'FAILED', passed, failed, skipped, `${seconds.toFixed(1)} s`));
}

console.log();
for (const { name, lines } of results) for (const line of lines) console.log(`${name}: ${line}`);
const sum = (count) => results.reduce((total, result) => total + result[count], 0);
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`);
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
