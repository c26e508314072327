// `npm run check`: everything that is known without running a test: format, lint, types, clippy, and who imports whom.
// On a built tree it takes seconds; it needs no browser, no server, no C++ compiler, and builds no WebAssembly. `npm
// test` checks the same again without what is remembered here, in target/cache.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { stateOfCore } from './core.mjs';
import { hasWasmTarget, needNpmPackages } from './installed.mjs';
import { runSteps } from './steps.mjs';
import { installedPythonOf } from './python.mjs';
import { imports, pythonChecks, rustImports } from './suites.mjs';
import { root, wasmTarget } from './tools.mjs';

needNpmPackages();
const cache = join(root, 'target', 'cache');
mkdirSync(cache, { recursive: true });

/** @param {string} path @param {...string} args */
const module = (path, ...args) => [process.execPath, join(root, 'node_modules', ...path.split('/')), ...args];
/** @param {string} project @param {string} name */
const tsc = (project, name) =>
  module(
    'typescript/bin/tsc',
    '-p',
    join(root, project),
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    join(cache, `${name}.tsbuildinfo`),
  );
/** @param {...string} args */
const clippy = (...args) => ['cargo', 'clippy', '--locked', '--all-targets', ...args, '--', '-D', 'warnings'];
const declarations = 'tsc, package';
/** @type {Partial<Record<ReturnType<typeof stateOfCore>, string>>} */
const cores = { missing: 'pkg/wasm is missing: npm run build makes it, once' };

const hasPython = (await installedPythonOf('newest').catch(() => undefined)) !== undefined;

await runSteps([
  { name: 'cargo fmt', command: ['cargo', 'fmt', '--check'] },
  { name: 'cargo clippy', command: clippy(), shares: ['cargo'], seconds: 3 },
  {
    name: 'cargo clippy, wasm32',
    command: clippy('--all-features', '--target', wasmTarget),
    ...(!hasWasmTarget() && { omission: `this Rust has no ${wasmTarget}; npm run setup adds it` }),
    shares: ['cargo'],
    seconds: 3,
  },
  {
    name: 'prettier',
    command: module(
      'prettier/bin/prettier.cjs',
      '--check',
      '--log-level=warn',
      '--cache',
      '--cache-location',
      join(cache, 'prettier'),
      '.',
    ),
    seconds: 3,
  },
  { name: 'imports', command: imports, seconds: 4 },
  { name: 'imports, Rust', command: rustImports, seconds: 1 },
  ...pythonChecks.map((check) => ({
    ...check,
    ...(!hasPython && { omission: 'its environment is not there yet: npm run setup installs it, once' }),
  })),
  // Writes the declarations that the others are checked with.
  {
    name: declarations,
    command: [process.execPath, join(root, 'scripts', 'build.mjs'), 'declarations'],
    refusal: cores[stateOfCore()],
    seconds: 5,
  },
  { name: 'tsc, tests and examples', command: tsc('.', 'around'), after: [declarations], seconds: 4 },
  { name: 'tsc, scripts', command: tsc('scripts', 'scripts'), after: [declarations], seconds: 4 },
  { name: 'tsc, page', command: tsc('www', 'page'), after: [declarations], seconds: 3 },
  {
    name: 'eslint',
    command: module(
      'eslint/bin/eslint.js',
      ...['--max-warnings', '0', '--cache', '--cache-strategy', 'content', '--cache-location', join(cache, 'eslint')],
    ),
    after: [declarations],
    seconds: 6,
  },
]);
