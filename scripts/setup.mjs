// Installs what is missing on this machine, and only that: `node scripts/setup.mjs build` what a build needs,
// `node scripts/setup.mjs test` what the tests need besides. Says what it does; prints nothing when all is there.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { run } from './run.mjs';
import { cargoRoot, cargoTools, env, root, versionOf, wasmTarget } from './tools.mjs';

function say(text) {
  console.log(`setup: ${text}`);
}

function giveUp(text) {
  console.error(`setup: ${text}`);
  process.exit(1);
}

function needNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) giveUp(`Node ${process.versions.node} is too old: 20.19 or newer is needed`);
}

function needRust() {
  if (!versionOf('cargo')) giveUp('cargo was not found: install Rust from https://rustup.rs');
  const sysroot = execFileSync('rustc', ['--print', 'sysroot'], { cwd: root, env, encoding: 'utf8' }).trim();
  if (existsSync(join(sysroot, 'lib', 'rustlib', wasmTarget, 'lib'))) return;
  if (!versionOf('rustup')) giveUp(`this Rust lacks the target ${wasmTarget}, and there is no rustup to add it: install Rust from https://rustup.rs`);
  say(`adding the Rust target ${wasmTarget}`);
  run('rustup', ['target', 'add', wasmTarget]);
}

function needRustComponents() {
  for (const [program, component] of [['cargo-fmt', 'rustfmt'], ['cargo-clippy', 'clippy']]) {
    if (versionOf(program)) continue;
    say(`adding the Rust component ${component}`);
    run('rustup', ['component', 'add', component]);
  }
}

function needCargoTool(name) {
  const tool = cargoTools[name];
  if (versionOf(name) === `${name} ${tool.version}`) return;
  say(`building ${tool.crate} ${tool.version}, once, which takes a few minutes`);
  run('cargo', ['install', tool.crate, '--version', tool.version, ...tool.flags, '--root', cargoRoot(tool), '--quiet']);
}

/** Installs when there is nothing yet, or when what there is was installed from another lock file. */
function needNpmPackages() {
  const lock = createHash('sha256').update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
  const mark = join(root, 'node_modules', '.installed-from');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return;
  say('installing the npm packages of package-lock.json');
  run('npm', ['ci', '--no-progress'], { shell: process.platform === 'win32' });
  writeFileSync(mark, lock);
}

function needChromium() {
  const missing = ['chromium', 'chromedriver'].filter((program) => !versionOf(program));
  if (missing.length === 0) return;
  const packages = ['chromium', 'chromium-driver'];
  if (process.getuid?.() !== 0 || !versionOf('apt-get')) {
    giveUp(`the tests need ${missing.join(' and ')} in the PATH; on Debian: sudo apt-get install ${packages.join(' ')}`);
  }
  say(`installing ${packages.join(' and ')} with apt-get`);
  const quiet = { env: { ...env, DEBIAN_FRONTEND: 'noninteractive' } };
  run('apt-get', ['update', '-qq'], quiet);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet);
}

const needs = {
  build: [needNode, needRust, () => needCargoTool('wasm-bindgen'), needNpmPackages],
  test: [needRustComponents, () => needCargoTool('wasm-pack'), needChromium],
};

const purpose = process.argv[2];
if (!(purpose in needs)) giveUp(`say what for: ${Object.keys(needs).join(' or ')}`);
for (const need of purpose === 'test' ? [...needs.build, ...needs.test] : needs.build) need();
