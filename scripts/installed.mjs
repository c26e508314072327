// The tools on this machine, found without installing anything.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, root, wasmTarget } from './tools.mjs';

/** Returns true if this Rust can compile for WebAssembly. */
export function hasWasmTarget() {
  const sysroot = execFileSync('rustc', ['--print', 'sysroot'], { cwd: root, env, encoding: 'utf8' }).trim();
  return existsSync(join(sysroot, 'lib', 'rustlib', wasmTarget, 'lib'));
}

/** The file that says from which lock file the npm packages were installed, by setup.mjs. */
export const npmMark = join(root, 'node_modules', '.installed-from');

/** The fingerprint of the npm packages that package-lock.json names. */
export function npmFingerprint() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

/**
 * Ends this program with what to run when the npm packages are missing, and says so when they are others than are
 * asked for.
 */
export function needNpmPackages() {
  if (!existsSync(join(root, 'node_modules', 'typescript'))) {
    console.error('the npm packages are missing: npm ci installs them, npm run setup all that the tests need');
    process.exit(1);
  }
  if (existsSync(npmMark) && readFileSync(npmMark, 'utf8') !== npmFingerprint()) {
    console.log(
      'package-lock.json has changed since the npm packages were installed: npm run build installs them anew\n',
    );
  }
}
