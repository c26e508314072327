// Runs a tool of Python in python/: `node scripts/python.mjs newest mypy`, `node scripts/python.mjs oldest pytest
// tests/adk`. Each environment is a lock file of python/requirements, installed once into a folder under target/.

import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { folderOfPython, pythonWith } from '../tests/support/python.mjs';
import { env, root } from './tools.mjs';

/** The folder of the Python package. */
export const pythonPackage = join(root, 'python');

const locks = join(pythonPackage, 'requirements');

/** @param {string} environment */
const lockOf = (environment) => join(locks, `${environment}.txt`);

/** @param {string} environment */
const nameOf = (environment) => `python-${environment}`;

/** The names of the environments. */
export function environments() {
  return readdirSync(locks)
    .filter((name) => name.endsWith('.txt'))
    .map((name) => name.slice(0, -'.txt'.length));
}

/**
 * Answers the path of the Python of an environment, and installs it first where it is not there.
 *
 * @param {string} environment
 */
export async function pythonOf(environment) {
  return join(await pythonWith(nameOf(environment), lockOf(environment)), 'bin', 'python');
}

/**
 * Answers the path of the Python of an environment, or undefined where it has not been installed yet.
 *
 * @param {string} environment
 */
export async function installedPythonOf(environment) {
  const { folder, isInstalled } = await folderOfPython(nameOf(environment), lockOf(environment));
  return isInstalled ? join(folder, 'bin', 'python') : undefined;
}

/** The variables of a program that imports the package from its sources. */
export const pythonEnv = {
  ...env,
  PYTHONPATH: [join(pythonPackage, 'src'), process.env.PYTHONPATH].filter(Boolean).join(delimiter),
  // The folders of the sources stay as they are.
  PYTHONDONTWRITEBYTECODE: '1',
};

/**
 * The command that runs a tool in an environment, with this script.
 *
 * @param {string} environment @param {...string} tool
 */
export function pythonCommand(environment, ...tool) {
  return [process.execPath, join(root, 'scripts', 'python.mjs'), environment, ...tool];
}

/** @param {string[]} args */
async function main([environment = '', tool = '', ...args]) {
  if (!environments().includes(environment) || tool === '') {
    console.error(`usage: node scripts/python.mjs ${environments().join('|')} TOOL [ARGUMENTS]`);
    return 2;
  }
  const python = await pythonOf(environment);
  const child = spawn(python, ['-m', tool, ...args], { cwd: pythonPackage, env: pythonEnv, stdio: 'inherit' });
  return await new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  process.exitCode = await main(process.argv.slice(2));
}
