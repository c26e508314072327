// The tools that the project needs, their versions and their paths.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

/**
 * A path in the repository.
 *
 * @param {...string} path
 */
export const inRoot = (...path) => join(root, ...path);

/** The target that the core is compiled to. */
export const wasmTarget = 'wasm32-unknown-unknown';

export const cargoHome = process.env.CARGO_HOME ?? join(homedir(), '.cargo');

/**
 * The version of a crate that Cargo.lock names: the command-line tool must be exactly that of the crate.
 *
 * @param {string} crate
 */
function locked(crate) {
  const match = new RegExp(`^name = "${crate}"\\r?\\nversion = "(.+)"`, 'm').exec(
    readFileSync(join(root, 'Cargo.lock'), 'utf8'),
  );
  if (!match) throw new Error(`Cargo.lock has no ${crate}`);
  return match[1];
}

/** @typedef {{ crate: string, version: string, flags: string[], ask?: string[] }} CargoTool */

/**
 * Tools that come from crates.io. An own folder for each version: what else a user has installed stays as it is, and
 * every checkout of the project finds them again.
 *
 * @satisfies {Record<string, CargoTool>}
 */
export const cargoTools = {
  'wasm-bindgen': {
    crate: 'wasm-bindgen-cli',
    version: locked('wasm-bindgen'),
    // Its output is the same without optimisation, and it is built in half the time.
    flags: ['--debug'],
  },
  'wasm-pack': { crate: 'wasm-pack', version: '0.15.1', flags: ['--locked'] },
  // For scripts/mutate-rust.mjs alone, which installs it when it is asked for.
  'cargo-mutants': {
    crate: 'cargo-mutants',
    version: '27.1.0',
    flags: ['--locked', '--debug'],
    ask: ['mutants', '--version'],
  },
};

/**
 * The folder that `cargo install --root` gets for a tool.
 *
 * @param {CargoTool} tool
 */
export function cargoRoot({ crate, version }) {
  return join(cargoHome, 'statepad-tools', `${crate}-${version}`);
}

/** The environment for every program that the scripts start: the project's tools are found first. */
export const env = {
  ...process.env,
  PATH: [
    ...Object.values(cargoTools).map((tool) => join(cargoRoot(tool), 'bin')),
    process.env.PATH,
    join(cargoHome, 'bin'),
  ].join(delimiter),
};

/**
 * The first line that `program --version` prints, or undefined when there is no such program. A subcommand of cargo
 * wants its name.
 *
 * @param {string} program
 */
export function versionOf(program, ask = ['--version']) {
  try {
    return execFileSync(program, ask, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\n')[0];
  } catch {
    return undefined;
  }
}
