// All suites of `npm test`: what each runs, what it must not run beside, and about how long it takes.

import { join, relative, sep } from 'node:path';
import { pythonCommand } from './python.mjs';
import { filesUnder } from './step.mjs';
import { root, wasmTarget } from './tools.mjs';

/** @param {string} path @param {...string} args */
const script = (path, ...args) => [process.execPath, join(root, ...path.split('/')), ...args];
const denyWarnings = ['--', '-D', 'warnings'];

/** They wait for each other at the lock of target/debug. */
const cargo = ['cargo'];
/** Browsers, processes that are killed, servers that are cut off: two of these at once starve each other. */
const heavy = ['heavy'];

/**
 * About how long the tests of a folder take beside another suite on two cores, in seconds, and what they share.
 *
 * @type {Record<string, { seconds: number, shares?: string[], alone?: boolean }>}
 */
const FOLDERS = {
  'tests/adk': { seconds: 37 },
  'tests/browser': { seconds: 9, shares: heavy },
  'tests/cli': { seconds: 70 },
  'tests/contract': { seconds: 2 },
  'tests/core': { seconds: 25 },
  'tests/docs': { seconds: 45 },
  'tests/faults': { seconds: 140, shares: heavy },
  // Each installs a kit of its own before, when it has not been installed yet.
  'tests/hosts/adk-devtools': { seconds: 25, shares: heavy },
  'tests/hosts/adk-python': { seconds: 95, shares: heavy },
  'tests/hosts/adk-python-oldest': { seconds: 75, shares: heavy },
  'tests/hosts/browsers': { seconds: 20, shares: heavy },
  'tests/hosts/bun': { seconds: 17 },
  'tests/hosts/cloudflare': { seconds: 38, shares: heavy },
  'tests/hosts/deno': { seconds: 10 },
  'tests/hosts/express': { seconds: 5 },
  'tests/hosts/hono': { seconds: 5 },
  'tests/hosts/jest': { seconds: 45 },
  'tests/hosts/matrix.test.mjs': { seconds: 1 },
  'tests/hosts/mysql': { seconds: 15, shares: heavy },
  'tests/hosts/next': { seconds: 90, shares: heavy },
  'tests/hosts/nginx': { seconds: 2 },
  'tests/hosts/node': { seconds: 15 },
  'tests/hosts/react': { seconds: 110, shares: heavy },
  'tests/hosts/vitest': { seconds: 10 },
  'tests/import-adk': { seconds: 35 },
  'tests/inspector': { seconds: 100, shares: heavy },
  // It measures.
  'tests/inspector/speed.test.mjs': { seconds: 60, alone: true },
  'tests/inspector/model': { seconds: 15 },
  'tests/inspector/served': { seconds: 75, shares: heavy },
  'tests/packaging': { seconds: 130, shares: heavy },
  // These two run wasm-pack build.
  'tests/packaging/raw.test.mjs': { seconds: 60, shares: [...cargo, ...heavy] },
  'tests/raw': { seconds: 45, shares: cargo },
  'tests/page': { seconds: 219, shares: heavy },
  'tests/scripts': { seconds: 15 },
  'tests/servers': { seconds: 120, shares: heavy },
  'tests/sharing': { seconds: 105, shares: heavy },
  'tests/stores/adk-database': { seconds: 30 },
  'tests/stores/cloudflare': { seconds: 49 },
  'tests/stores/encrypted': { seconds: 130 },
  'tests/stores/indexeddb': { seconds: 86, shares: heavy },
  'tests/stores/journal': { seconds: 76, shares: heavy },
  'tests/stores/memory': { seconds: 75 },
  'tests/stores/postgres': { seconds: 115 },
  'tests/stores/redis': { seconds: 171 },
  'tests/stores/sqlite': { seconds: 63 },
  'tests/stores/vertex-ai': { seconds: 12 },
  'tests/unit': { seconds: 102 },
  'tests/vertex': { seconds: 6 },
  // Each installs the versions of a database before, when they have not been installed yet. A file runs all tests of
  // a store on one of them: on a busy machine that takes longer than any other file may.
  'tests/versions/postgres': { seconds: 200, shares: heavy },
  'tests/versions/redis': { seconds: 200 },
  'tests/versions/sqlite': { seconds: 80 },
};

/** Folders of tests with a suite for each folder in them. */
const MANY = ['stores', 'hosts', 'versions'];

/**
 * The suite that a file of tests belongs to: itself or the nearest of its folders that has a line above, or else the
 * folder below `tests`.
 *
 * @param {string} file
 */
function suiteOf(file) {
  const path = relative(root, file).split(sep);
  const named = path.map((_, index) => path.slice(0, index + 1).join('/')).findLast((name) => name in FOLDERS);
  if (named !== undefined) return named;
  return path.slice(0, MANY.includes(path[1]) ? 3 : 2).join('/');
}

/**
 * The command that runs files of tests. Suites run side by side, so that the files of one run one after the other.
 *
 * @param {string[]} files
 * @param {number} [atOnce]
 * @param {number} [minutes]
 * @param {string[]} [flags] of Node itself
 */
export function nodeTests(files, atOnce = 1, minutes = 5, flags = []) {
  return [
    process.execPath,
    ...flags,
    '--test',
    '--test-reporter=spec',
    `--test-timeout=${minutes * 60_000}`,
    `--test-concurrency=${atOnce}`,
    ...files,
  ];
}

/**
 * The files of tests under a folder of them.
 *
 * @param {string} folder
 */
const testsUnder = (folder) => filesUnder(join(root, 'tests', folder)).filter((path) => path.endsWith('.test.mjs'));

/** A suite for every folder of tests. */
function nodeSuites() {
  /** @type {Map<string, string[]>} */
  const suites = new Map();
  for (const file of testsUnder('.')) {
    const name = suiteOf(file);
    suites.set(name, [...(suites.get(name) ?? []), file]);
  }
  return [...suites].map(([name, files]) => {
    const { seconds, shares = [], alone = false } = FOLDERS[name] ?? { seconds: 30 };
    return {
      name: `node --test ${name}`,
      command: nodeTests(files, 1, name.startsWith('tests/versions/') ? 15 : undefined),
      runner: /** @type {const} */ ('node'),
      after: ['build'],
      seconds,
      shares,
      alone,
    };
  });
}

/**
 * Lints the crate, as it is built with some options of cargo.
 *
 * @param {string} name
 * @param {number} seconds
 * @param {...string} options
 */
function clippy(name, seconds, ...options) {
  return { name, command: ['cargo', 'clippy', '--locked', ...options, ...denyWarnings], shares: cargo, seconds };
}

/**
 * Checks the types of a project.
 *
 * @param {string} name
 * @param {number} seconds
 * @param {string} project
 * @param {...string} options
 */
function types(name, seconds, project, ...options) {
  const command = script('node_modules/typescript/bin/tsc', '-p', project, ...options);
  return { name, command, after: ['build'], seconds };
}

/**
 * @returns {(import('./lanes.mjs').Task & import('./suite.mjs').Suite)[]}
 */
export function allSuites() {
  const wasm = ['--target', wasmTarget];
  return [
    { name: 'cargo fmt', command: ['cargo', 'fmt', '--check'], seconds: 1 },
    clippy('cargo clippy', 33, '--all-targets'),
    clippy('cargo clippy, wasm32', 27, '--all-targets', '--all-features', ...wasm),
    { name: 'cargo test', command: ['cargo', 'test', '--locked'], runner: 'cargo', shares: cargo, seconds: 122 },
    clippy('cargo clippy, wasm32 without JavaScript', 22, '--lib', '--no-default-features', ...wasm),
    {
      name: 'cargo doc',
      command: ['cargo', 'doc', '--locked', '--no-deps', '--document-private-items'],
      extraEnv: { RUSTDOCFLAGS: '-D warnings' },
      shares: cargo,
      seconds: 10,
    },
    // Plain `wasm-pack test --node` leaves out the tests of the binding that the package drives.
    {
      name: 'wasm-pack test, node',
      command: ['wasm-pack', 'test', '--node', '--', '--all-features'],
      runner: 'cargo',
      shares: cargo,
      seconds: 21,
    },
    {
      name: 'wasm-pack test, chrome',
      command: ['wasm-pack', 'test', '--headless', '--chrome', '--', '--all-features'],
      runner: 'cargo',
      shares: [...cargo, ...heavy],
      seconds: 130,
    },
    { name: 'build', command: script('scripts/build.mjs'), seconds: 115 },
    { name: 'docs', command: script('scripts/docs.mjs'), after: ['build'], seconds: 36 },
    types('tsc', 10, root),
    types('tsc, scripts', 6, join(root, 'scripts')),
    types('tsc, page', 4, join(root, 'www'), '--noEmit'),
    {
      name: 'eslint',
      command: script('node_modules/eslint/bin/eslint.js', '--max-warnings', '0'),
      after: ['build'],
      seconds: 60,
    },
    { name: 'prettier', command: script('node_modules/prettier/bin/prettier.cjs', '--check', '.'), seconds: 16 },
    { name: 'imports', command: imports, seconds: 5 },
    { name: 'imports, Rust', command: rustImports, seconds: 1 },
    ...pythonChecks,
    ...pythonSuites(),
    ...nodeSuites(),
    {
      // Browsers load two modules in the place of one.
      name: 'node --test tests/contract, as in browsers',
      command: nodeTests(
        ['contract', 'stores/memory'].flatMap((name) => testsUnder(name)),
        1,
        undefined,
        ['--import', new URL('../tests/support/as-browser.mjs', import.meta.url).href],
      ),
      runner: /** @type {const} */ ('node'),
      after: ['build'],
      seconds: 75,
    },
  ];
}

/** The checks of the Python package, by its tools. */
export const pythonChecks = [
  { name: 'ruff check', command: pythonCommand('newest', 'ruff', 'check'), seconds: 1 },
  { name: 'ruff format', command: pythonCommand('newest', 'ruff', 'format', '--check'), seconds: 1 },
  { name: 'mypy', command: pythonCommand('newest', 'mypy'), seconds: 30 },
];

/**
 * The tests of the Python package, in each environment that it promises to work in. All start servers of pkg/dist.
 */
function pythonSuites() {
  const all = [
    { name: 'pytest, newest google-adk', environment: 'newest', folders: [], seconds: 240 },
    {
      name: 'pytest, oldest google-adk 2',
      environment: 'oldest',
      folders: ['tests/client', 'tests/adk', 'tests/testing/test_contract.py'],
      seconds: 90,
    },
    { name: 'pytest, without google-adk', environment: 'bare', folders: ['tests/client'], seconds: 45 },
  ];
  return all.map(({ name, environment, folders, seconds }) => ({
    name,
    command: pythonCommand(environment, 'pytest', '-q', ...folders),
    runner: /** @type {const} */ ('pytest'),
    after: ['build'],
    seconds,
    shares: heavy,
  }));
}

/** Checks who imports whom. */
export const imports = script(
  'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
  ...['--config', '.dependency-cruiser.cjs', 'pkg/src', 'www/inspector', 'www/page'],
);

/** Looks for circles of modules of the crate. */
export const rustImports = script('scripts/rust-imports.mjs');
