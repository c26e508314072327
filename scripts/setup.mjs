// Installs what is missing on this machine, and only that: `node scripts/setup.mjs build` what a build needs,
// `node scripts/setup.mjs test` what the tests need besides, `node scripts/setup.mjs redis` what the tests of one
// store need. Says what it does; prints nothing when all is there.

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { needCargoTool } from './cargo-tool.mjs';
import { hasWasmTarget, npmMark, npmFingerprint } from './installed.mjs';
import { run } from './run.mjs';
import { env, root, versionOf, wasmTarget } from './tools.mjs';
import { choice as betterSqlite } from '../tests/support/better-sqlite3/choice.cjs';

/** @param {string} text */
function say(text) {
  console.log(`setup: ${text}`);
}

/** @param {string} text @returns {never} */
function giveUp(text) {
  console.error(`setup: ${text}`);
  process.exit(1);
}

function needNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    giveUp(`Node ${process.versions.node} is too old: 20.19 or newer is needed`);
}

function needRust() {
  if (!versionOf('cargo')) giveUp('cargo was not found: install Rust from https://rustup.rs');
  if (hasWasmTarget()) return;
  if (!versionOf('rustup'))
    giveUp(
      `this Rust lacks the target ${wasmTarget}, and there is no rustup to add it: install Rust from https://rustup.rs`,
    );
  say(`adding the Rust target ${wasmTarget}, which takes a few seconds`);
  run('rustup', ['target', 'add', wasmTarget]);
}

function needRustComponents() {
  for (const [program, component] of [
    ['cargo-fmt', 'rustfmt'],
    ['cargo-clippy', 'clippy'],
  ]) {
    if (versionOf(program)) continue;
    say(`adding the Rust component ${component}, which takes a few seconds`);
    run('rustup', ['component', 'add', component]);
  }
}

/** Installs when there is nothing yet, or when what there is was installed from another lock file. */
function needNpmPackages() {
  const fingerprint = npmFingerprint();
  if (existsSync(npmMark) && readFileSync(npmMark, 'utf8') === fingerprint) return;
  say('installing the npm packages of package-lock.json, which takes about half a minute');
  run('npm', ['ci', '--no-progress'], { shell: process.platform === 'win32' });
  // The package that carries another Node for the tests calls it `node`: scripts of npm would be run by that one.
  rmSync(join(root, 'node_modules', '.bin', 'node'), { force: true });
  writeFileSync(npmMark, fingerprint);
}

/**
 * Installs Debian's packages when one of the programs is missing.
 *
 * @param {string[]} programs @param {string[]} packages
 */
function needPrograms(programs, packages) {
  const missing = programs.filter((/** @type {string} */ program) => !versionOf(program));
  if (missing.length > 0) installPackages(packages, `${missing.join(' and ')} in the PATH`);
}

/**
 * Installs Debian's packages, as `what` is missing.
 *
 * @param {string[]} packages @param {string} what
 */
function installPackages(packages, what) {
  if (process.getuid?.() !== 0 || !versionOf('apt-get')) {
    giveUp(`the tests need ${what}; on Debian: sudo apt-get install ${packages.join(' ')}`);
  }
  say(`installing ${packages.join(' and ')} with apt-get, which takes about half a minute`);
  const quiet = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  run('apt-get', ['update', '-qq'], quiet);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet);
}

function needChromium() {
  needPrograms(['chromium', 'chromedriver'], ['chromium', 'chromium-driver']);
}

/** Debian calls it by the line of releases that it is of. */
function needFirefox() {
  if (!versionOf('firefox')) needPrograms(['firefox-esr'], ['firefox-esr']);
}

function needMariadb() {
  needPrograms(['mariadbd'], ['mariadb-server']);
}

/** It has no `--version`. */
function needNginx() {
  if (spawnSync('nginx', ['-v'], { stdio: 'ignore' }).status !== 0) installPackages(['nginx'], 'nginx in the PATH');
}

function needRedis() {
  needPrograms(['redis-server'], ['redis-server']);
}

/**
 * Returns true if this Node can load its better-sqlite3. A process of its own tries it, as a failure may end the
 * process.
 */
function hasBetterSqlite() {
  const tried = spawnSync(process.execPath, ['-e', `new (require('${betterSqlite}'))(':memory:')`], {
    cwd: root,
    stdio: 'ignore',
  });
  return tried.status === 0;
}

/**
 * Compiles the better-sqlite3 that the tests take in this Node, as its own install script would, unless it came with
 * a binary: that of Node 20 does not, and no other Node uses it.
 */
function needBetterSqlite() {
  if (hasBetterSqlite()) return;
  needPrograms(['python3', 'make', 'g++'], ['python3', 'make', 'g++']);
  const { version } = process;
  const home = dirname(dirname(process.execPath));
  const hasHeaders = existsSync(join(home, 'include', 'node', 'node.h'));
  say(`compiling ${betterSqlite} for Node ${version}, once, which takes a minute or two`);
  run('npm', ['rebuild', betterSqlite, '--ignore-scripts=false', '--loglevel=error'], {
    shell: process.platform === 'win32',
    env: {
      ...env,
      npm_config_build_from_source: 'true',
      npm_config_target: version.slice(1),
      // Otherwise they are downloaded.
      ...(hasHeaders && { npm_config_nodedir: home }),
    },
  });
  if (!hasBetterSqlite()) giveUp(`${betterSqlite} was compiled, and Node ${version} cannot load it`);
}

/** Python, and what makes folders for packages of Python, which Debian has in a package of its own. */
function needPython() {
  needPrograms(['python3'], ['python3', 'python3-venv']);
  if (spawnSync('python3', ['-c', 'import venv, ensurepip'], { stdio: 'ignore' }).status !== 0) {
    installPackages(['python3-venv'], 'the module venv of Python');
  }
}

/** The tools of python/, which `npm run check` runs. */
async function needPythonTools() {
  // It imports npm packages, which have just been installed.
  const { installedPythonOf, pythonOf } = await import('./python.mjs');
  if ((await installedPythonOf('newest')) !== undefined) return;
  say('installing the Python packages of python/requirements/newest.txt, which takes about half a minute');
  await pythonOf('newest');
}

const needs = {
  build: [needNode, needRust, () => needCargoTool('wasm-bindgen'), needNpmPackages],
  test: [
    needRustComponents,
    () => needCargoTool('wasm-pack'),
    needChromium,
    needFirefox,
    needRedis,
    needMariadb,
    needNginx,
    needBetterSqlite,
    needPython,
    needPythonTools,
  ],
};

/**
 * The needs of each store's tests besides the npm packages, which have Postgres and the hosts of Cloudflare in them.
 *
 * @type {Record<string, (() => void | Promise<void>)[]>}
 */
const stores = {
  'adk-database': [],
  cloudflare: [],
  encrypted: [needBetterSqlite, needChromium],
  indexeddb: [needChromium],
  journal: [needChromium],
  memory: [],
  postgres: [],
  redis: [needRedis],
  sqlite: [needBetterSqlite],
};

const purpose = process.argv[2] ?? '';
if (purpose in stores) {
  for (const need of [needNode, needNpmPackages, ...stores[purpose]]) await need();
} else if (purpose in needs) {
  for (const need of purpose === 'test' ? [...needs.build, ...needs.test] : needs.build) await need();
} else {
  giveUp(`say what for: ${[...Object.keys(needs), ...Object.keys(stores)].join(', ')}`);
}
