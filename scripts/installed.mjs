// What is there on this machine, without installing anything.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { env, root, wasmTarget } from './tools.mjs';

/** Whether this Rust can compile for WebAssembly. */
export function hasWasmTarget() {
  const sysroot = execFileSync('rustc', ['--print', 'sysroot'], { cwd: root, env, encoding: 'utf8' }).trim();
  return existsSync(join(sysroot, 'lib', 'rustlib', wasmTarget, 'lib'));
}

/** Ends this program with what to run when the npm packages are missing. */
export function needNpmPackages() {
  if (existsSync(join(root, 'node_modules', 'typescript'))) return;
  console.error('the npm packages are missing: npm ci installs them, npm run setup all that the tests need');
  process.exit(1);
}
