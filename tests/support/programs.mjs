// Programs of this machine.

import { accessSync, constants } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/**
 * The path of a program: in the PATH, unless its name is a path; nothing where there is none.
 *
 * @param {string} name
 */
export function pathOfProgram(name) {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => resolve(folder, name))
    .find(isExecutable);
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
